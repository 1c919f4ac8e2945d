package lifetime_test

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// tried are the entries with which the cycle of a group of one pod begins.
func tried(name string) []timeline.Entry {
	return []timeline.Entry{
		{What: timeline.Popped, Object: "PodGroup default/" + name},
		{What: timeline.Popped, Object: "Pod default/" + name, Group: "podgroup/default/" + name},
	}
}

// lastOf is the last entry of a kind about an object.
func lastOf(t *timeline.Trace, what timeline.What, object string) int {
	i := len(t.Entries) - 1
	for t.Entries[i].What != what || t.Entries[i].Object != object {
		i--
	}
	return i
}

// comesBack is that a pod is replaced, that what replaces it is bound, and that it is evicted for
// another one, after the last step.
func comesBack(was, is, by string) []timeline.Entry {
	const afterAll = 99
	return []timeline.Entry{
		{Step: afterAll, What: timeline.Created, Object: "Pod default/" + is, By: "default/" + was},
		{Step: afterAll, What: timeline.Called, Call: timeline.Bind, Object: "Pod default/" + is, Text: "to node-1"},
		{Step: afterAll, What: timeline.Deleting, Object: "Pod default/" + is},
		{Step: afterAll, What: timeline.Called, Call: timeline.Evict, Object: "Pod default/" + is, By: "default/" + by},
	}
}

func first(t *timeline.Trace, what timeline.What) int {
	return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == what })
}

func last(t *timeline.Trace, what timeline.What) int {
	i := len(t.Entries) - 1
	for t.Entries[i].What != what {
		i--
	}
	return i
}

// evicts is where v is deleted.
func evicts(t *timeline.Trace) int {
	return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Called && e.Call == timeline.Evict })
}

// preemptsAgain puts after the beginning of a preemption what has come of it, and that its pod preempts a victim once more.
func preemptsAgain(t *timeline.Trace, victim string, before ...timeline.Entry) {
	begins := first(t, timeline.Begins)
	pod := t.Entries[begins].Object
	again := append(before, timeline.Entry{What: timeline.Popped, Object: pod}, timeline.Entry{What: timeline.Decided, Object: pod, Node: "node-1", Victims: []string{victim}})
	t.Entries = slices.Insert(t.Entries, begins+1, again...)
}

// victimGone is where the scheduler is told that v is gone.
func victimGone(t *timeline.Trace) int {
	return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
		return e.What == timeline.Handled && e.Object == "Pod default/v" && e.Text == "deleted"
	})
}

// leaves makes the end of v leave a pod unschedulable.
func leaves(t *timeline.Trace, left timeline.Left) {
	t.Entries[victimGone(t)].Left = []timeline.Left{left}
}

// goes puts at an index that a pod of low priority comes, and is scheduled to a node.
func goes(t *timeline.Trace, at int, node string) {
	p := t.Entries[first(t, timeline.Popped)].Is.(*v1.Pod).DeepCopy()
	p.Name, p.UID, p.Spec.Priority = "low", "low", ptr.To[int32](1)
	const low = "Pod default/low"
	t.Entries = slices.Insert(t.Entries, at, timeline.Entry{What: timeline.Stored, Object: low, Text: "added", Is: p},
		timeline.Entry{What: timeline.Handled, Object: low, Text: "added", Is: p},
		timeline.Entry{What: timeline.Popped, Object: low, Is: p}, timeline.Entry{What: timeline.Fits, Object: low, Node: node, Is: p})
}

// comesBefore puts before p is tried that another pod has come, that much earlier than p or later.
func comesBefore(t *timeline.Trace, priority int32, later time.Duration) {
	i := first(t, timeline.Popped)
	p := t.Entries[i].Is.(*v1.Pod).DeepCopy()
	p.Name, p.UID, p.Spec.Priority = "other", "other", &priority
	t.Entries = slices.Insert(t.Entries, i, timeline.Entry{At: t.Entries[i].At + later, What: timeline.Handled, Object: "Pod default/other", Text: "added", Is: p})
}

// failsToBind puts at the start that the binding of a pod fails, and what comes after that.
func failsToBind(t *timeline.Trace, after ...timeline.Entry) {
	t.Entries = slices.Concat([]timeline.Entry{
		{What: timeline.Popped, Object: "Pod default/w"},
		{What: timeline.Fits, Object: "Pod default/w", Node: "node-1"},
		{What: timeline.Called, Call: timeline.Bind, Object: "Pod default/w", Error: "timeout"},
		{What: timeline.Told, Object: "Pod default/w", Text: "FailedScheduling: timeout"},
		{What: timeline.Requeued, Object: "Pod default/w", Queue: model.QueueBackoff, Text: "error"},
	}, after, t.Entries)
}

// backsOff puts at the start that a pod fails at the first of the times, and is tried again,
// and fails again, at the others.
func backsOff(t *timeline.Trace, why string, at ...time.Duration) {
	var all []timeline.Entry
	for i, at := range at {
		if i > 0 {
			all = append(all, timeline.Entry{At: at, What: timeline.Popped, Object: "Pod default/other"})
		}
		all = append(all, timeline.Entry{At: at, What: timeline.Requeued, Object: "Pod default/other", Queue: model.QueueBackoff, Text: why})
	}
	t.Entries = append(all, t.Entries...)
}

func atRest(pod string, lie func(p *timeline.PodState)) func(t *timeline.Trace) {
	return func(t *timeline.Trace) {
		for i := range t.Quiet.Pods {
			if t.Quiet.Pods[i].Name == pod {
				lie(&t.Quiet.Pods[i])
			}
		}
	}
}

func each(what timeline.What, lie func(e *timeline.Entry)) func(t *timeline.Trace) {
	return func(t *timeline.Trace) {
		for i := range t.Entries {
			if t.Entries[i].What == what {
				lie(&t.Entries[i])
			}
		}
	}
}
