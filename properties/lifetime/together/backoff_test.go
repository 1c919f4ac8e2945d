package together_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

const group = "podgroup/default/g"

// at sets the time of entries.
func at(seconds float64, entries ...timeline.Entry) []timeline.Entry {
	for i := range entries {
		entries[i].At = time.Duration(seconds * float64(time.Second))
	}
	return entries
}

// tries are the entries with which the group is tried with some of its pods.
func tries(pods ...string) []timeline.Entry {
	all := []timeline.Entry{{What: timeline.Popped, Object: "PodGroup default/g"}}
	for _, p := range pods {
		all = append(all, timeline.Entry{What: timeline.Popped, Object: "Pod default/" + p, Group: group})
	}
	return all
}

func fits(pod string) timeline.Entry {
	return timeline.Entry{What: timeline.Fits, Object: "Pod default/" + pod, Group: group, Node: "node-1"}
}

// told is that the binding of a pod has failed, over that the attempt ends with that.
func told(pod string) timeline.Entry {
	return timeline.Entry{What: timeline.Told, Object: "Pod default/" + pod, Text: "FailedScheduling: timeout"}
}

func over(pod, why string) timeline.Entry {
	return timeline.Entry{What: timeline.Requeued, Object: "Pod default/" + pod, Text: why}
}

// back is that a pod comes back from the cycle of its group.
func back(pod, why string) timeline.Entry {
	return timeline.Entry{What: timeline.Requeued, Object: "Pod default/" + pod, Group: group, Text: why, Queue: model.QueueBackoff}
}

func handled(object, text string, is *v1.Pod) timeline.Entry {
	e := timeline.Entry{What: timeline.Handled, Object: object, Text: text}
	if is != nil {
		e.Is = is
	}
	return e
}

func podOf(name string) *v1.Pod {
	p := &v1.Pod{}
	p.Namespace, p.Name = "default", name
	if name != "other" {
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
	}
	return p
}

// TestTriedAfterError: a group is tried too early only if each of its pods in the queue has failed with an error, that is less than
// 1 s ago, and nothing else has happened to it.
func TestTriedAfterError(t *testing.T) {
	cycle := func(why string) []timeline.Entry { return slices.Concat(tries("a"), []timeline.Entry{back("a", why)}) }
	for _, tt := range []struct {
		name    string
		entries [][]timeline.Entry
		kinds   []string
	}{
		{"binding failed", [][]timeline.Entry{tries("a"), {fits("a"), told("a"), over("a", "error")}, tries("a")}, []string{"after bindings"}},
		{"its attempt ends after that", [][]timeline.Entry{tries("a"), {fits("a"), told("a")}, tries("a"), {over("a", "error")}}, []string{"after bindings"}},
		{"both bindings failed", [][]timeline.Entry{tries("a", "b"), {fits("a"), fits("b"), told("a"), over("a", "error"), told("b"), over("b", "error")}, tries("a", "b")}, []string{"after bindings"}},
		{"cycle failed", [][]timeline.Entry{cycle("error"), tries("a")}, []string{"after errors"}},
		{"a binding and a cycle failed", [][]timeline.Entry{tries("a"), {fits("a"), told("a"), over("a", "error")}, tries("b"), {back("b", "error")}, tries("a", "b")}, []string{"after errors"}},
		{"again in the same way", [][]timeline.Entry{cycle("error"), cycle("error"), cycle("error")}, []string{"after errors"}},
		{"again in another way", [][]timeline.Entry{cycle("error"), tries("a"), {fits("a"), told("a"), over("a", "error")}, tries("a")}, []string{"after errors", "after bindings"}},
		{"a pod of no group came", [][]timeline.Entry{cycle("error"), {handled("Pod default/other", "added", podOf("other"))}, tries("a")}, []string{"after errors"}},

		{"after its backoff", [][]timeline.Entry{cycle("error"), at(1, tries("a")...)}, nil},
		{"shortly before that", [][]timeline.Entry{cycle("error"), at(0.999, tries("a")...)}, []string{"after errors"}},
		{"rejected in its cycle", [][]timeline.Entry{cycle(""), tries("a")}, nil},
		{"rejected on its way", [][]timeline.Entry{tries("a"), {fits("a"), told("a"), over("a", "")}, tries("a")}, nil},
		{"rejected by Permit", [][]timeline.Entry{tries("a"), {fits("a"), {What: timeline.Unfit, Object: "Pod default/a", Group: group}, told("a"), back("a", "")}, tries("a")}, nil},
		{"the rest of a group that was placed", [][]timeline.Entry{tries("a", "b"), {fits("a"), back("b", "error")}, tries("b")}, nil},
		{"another pod waits", [][]timeline.Entry{tries("a", "b"), {fits("a"), told("a"), over("a", "error"), back("b", "")}, tries("a", "b")}, nil},
		{"another pod is new", [][]timeline.Entry{cycle("error"), tries("a", "c")}, nil},
		{"another pod of a group came and went", [][]timeline.Entry{cycle("error"), {handled("Pod default/c", "added", podOf("c"))}, tries("a")}, nil},
		{"changed before it failed", [][]timeline.Entry{tries("a"), {fits("a"), handled("Pod default/a", "updated", podOf("a")), told("a"), over("a", "error")}, tries("a")}, nil},
		{"its group came anew", [][]timeline.Entry{cycle("error"), {{What: timeline.Handled, Object: "PodGroup default/g", Text: "added", Is: &schedulingv1beta1.PodGroup{}}}, tries("a")}, nil},
		{"a preemption ended", [][]timeline.Entry{cycle("error"), {{What: timeline.Ends, Object: "PodGroup default/g"}}, tries("a")}, nil},
		{"tried and skipped meanwhile", [][]timeline.Entry{tries("a"), {fits("a")}, tries("a"), {told("a"), over("a", "error")}, tries("a")}, nil},
		{"its group was tried meanwhile", [][]timeline.Entry{tries("a"), {fits("a")}, tries("b"), {fits("b"), told("a"), over("a", "error")}, tries("a")}, nil},
		{"another scheduler", [][]timeline.Entry{cycle("error"), {{What: timeline.TakenOver}}, tries("a")}, nil},
		{"two attempts are open", [][]timeline.Entry{tries("a"), {fits("a"), told("a")}, at(1, tries("a")...), at(1, fits("a"), told("a"), over("a", "error")), at(2, tries("a")...)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var kinds []string
			for _, b := range together.TriedAfterError(nil, &timeline.Trace{Entries: slices.Concat(tt.entries...)}) {
				require.Equal(t, group, b.Pod)
				kinds = append(kinds, b.Kind)
			}
			require.Equal(t, tt.kinds, kinds)
		})
	}
}
