package variation

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// TestReorder: steps change places only where that is no matter to anybody.
func TestReorder(t *testing.T) {
	pop, handle := timeline.Place{Name: timeline.Pop}, timeline.Place{Name: timeline.Handle, Kind: "Pod"}
	nodes, stop := timeline.Place{Name: timeline.Handle, Kind: "Node"}, timeline.Place{Name: timeline.Stop}
	hold, release := func(p timeline.Place) timeline.Step { return timeline.Step{Hold: &p} }, func(p timeline.Place) timeline.Step { return timeline.Step{Release: &p} }
	create := func(name string, priority int32) timeline.Step {
		return timeline.Step{Create: &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1.PodSpec{Priority: ptr.To(priority)}}}
	}
	deleted := func(name string) timeline.Step { return timeline.Step{Delete: name} }
	created := func(step int, pod string) timeline.Entry {
		return timeline.Entry{Step: step, What: timeline.Created, Object: "Pod default/" + pod}
	}
	// preempts is that a preemption of victims begins, and then a step tells what becomes of each of two pods.
	preempts := func(more []timeline.Entry, victims ...string) []timeline.Entry {
		all := append([]timeline.Entry{{What: timeline.Popped, Object: "Pod default/p"}, {What: timeline.Decided, Object: "Pod default/p", Victims: victims},
			{What: timeline.Begins, Object: "Pod default/p"}}, more...)
		return append(all, timeline.Entry{Step: 1, What: timeline.Stored, Object: "Pod default/a"}, timeline.Entry{Step: 2, What: timeline.Stored, Object: "Pod default/b"})
	}
	twoGo := []timeline.Step{hold(pop), deleted("Pod default/a"), deleted("Pod default/b"), release(pop)}
	for _, c := range []struct {
		name    string
		steps   []timeline.Step
		entries []timeline.Entry
		want    []int
	}{
		{name: "two objects", steps: []timeline.Step{hold(pop), deleted("Pod default/a"), deleted("Node n"), release(pop)}, want: []int{0, 2, 1, 3}},
		{name: "the queue is not held", steps: []timeline.Step{deleted("Pod default/a"), deleted("Node n")}, want: []int{0, 1}},
		{name: "the queue is held later", steps: []timeline.Step{deleted("Pod default/a"), hold(pop), deleted("Node n")}, want: []int{0, 1, 2}},
		{name: "the queue is let go between", steps: []timeline.Step{hold(pop), deleted("Pod default/a"), {Next: &pop}, deleted("Node n")}, want: []int{0, 1, 2, 3}},
		{name: "time passes between", steps: []timeline.Step{hold(pop), deleted("Pod default/a"), {Wait: 1}, deleted("Node n")}, want: []int{0, 1, 2, 3}},
		{name: "one object", steps: []timeline.Step{hold(pop), deleted("Pod default/a"), {End: "default/a"}, deleted("Node n")}, want: []int{0, 3, 1, 2}},
		{name: "the scheduler does something", steps: []timeline.Step{hold(pop), deleted("Pod default/a"), deleted("Node n")},
			entries: []timeline.Entry{{Step: 2, What: timeline.Called, Object: "Pod default/a"}}, want: []int{0, 1, 2}},
		{name: "an event of another object comes of it", steps: []timeline.Step{hold(pop), deleted("Pod default/a"), deleted("Pod default/a-1")},
			entries: []timeline.Entry{created(1, "a-1")}, want: []int{0, 1, 2}},
		{name: "two priorities", steps: []timeline.Step{hold(pop), create("a", 1), create("b", 2)},
			entries: []timeline.Entry{created(1, "a"), created(2, "b")}, want: []int{0, 2, 1}},
		{name: "one priority", steps: []timeline.Step{hold(pop), create("a", 1), create("b", 1), deleted("Node n")},
			entries: []timeline.Entry{created(1, "a"), created(2, "b")}, want: []int{0, 3, 1, 2}},
		{name: "one priority, as one is changed", steps: []timeline.Step{hold(pop), create("a", 1), {Change: "Pod default/b"}, create("b", 1)},
			entries: []timeline.Entry{created(1, "a"), {Step: 2, What: timeline.Updated, Object: "Pod default/b"}, created(3, "b")}, want: []int{0, 1, 2, 3}},
		{name: "the last victim goes", steps: twoGo, entries: preempts(nil, "default/v", "default/a"), want: []int{0, 1, 2, 3}},
		{name: "the last victim goes after another pod", steps: twoGo, entries: preempts(nil, "default/b"), want: []int{0, 1, 2, 3}},
		{name: "a victim goes, and not the last", steps: twoGo, entries: preempts(nil, "default/a", "default/v"), want: []int{0, 2, 1, 3}},
		{name: "the preemption is over", steps: twoGo, entries: preempts([]timeline.Entry{{What: timeline.Ends, Object: "Pod default/p"}}, "default/a"), want: []int{0, 2, 1, 3}},
		{name: "another scheduler has taken over", steps: twoGo, entries: preempts([]timeline.Entry{{What: timeline.TakenOver}}, "default/a"), want: []int{0, 2, 1, 3}},
		{name: "events are let go", steps: []timeline.Step{hold(pop), hold(handle), deleted("Pod default/a"), deleted("Node n"), release(handle)}, want: []int{0, 1, 3, 2, 4}},
		{name: "of two kinds", steps: []timeline.Step{hold(pop), hold(handle), hold(nodes), release(handle), release(nodes)}, want: []int{0, 1, 2, 4, 3}},
		{name: "of one kind", steps: []timeline.Step{hold(pop), hold(handle), {Next: &handle}, release(handle)}, want: []int{0, 1, 2, 3}},
		{name: "events are still held", steps: []timeline.Step{hold(pop), hold(handle), deleted("Pod default/a"), deleted("Node n"), release(pop)}, want: []int{0, 1, 2, 3, 4}},
		{name: "ends are still held", steps: []timeline.Step{hold(pop), hold(stop), deleted("Pod default/a"), deleted("Node n"), release(pop)}, want: []int{0, 1, 2, 3, 4}},
		{name: "two stretches", steps: []timeline.Step{hold(pop), deleted("Pod default/a"), deleted("Node n"), {Wait: 1}, deleted("Pod default/b"), deleted("Node m"), release(pop)},
			want: []int{0, 2, 1, 3, 5, 4, 6}},
	} {
		l := &lifetime.Life{Timeline: &timeline.Timeline{Cluster: &model.Cluster{}, Steps: c.steps}, Trace: &timeline.Trace{Entries: c.entries}}
		require.Equal(t, c.want, reorder(l), c.name)
	}
}
