package known

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// ofRoom are the promises that depend on what room there is by what the scheduler knows: one pod
// too many in its memory, or one too few, and they may be broken to any pod.
var ofRoom = []string{"fits-as-told", "nominated-room-is-kept", "eligible-as-told", "preempts-as-allowed", "gets-through", "no-wait-for-the-flush", "freed-room-is-told", "event-makes-tryable", "group-goes-as-told"}

// tookForAnother tells whether, before a finding, the scheduler that is alive then was told in one
// update that a pod has become another one of its name: the pod that the finding is about, or one of
// the group, or, if it is a matter of room, any. From then on the scheduler may keep room for the one
// that is gone, or nominate it, or not know of the new one, or take both for pods of the group.
func (l *Life) tookForAnother(f *Broken) (took bool) {
	if c := l.Trace.Crash; f.Property == "gets-through" && c != nil && c.Kind != model.Exit {
		return false // it ends itself where the two are on different nodes, and breaks in no other way
	}
	room := slices.Contains(ofRoom, f.Property)
	for i := range l.Trace.Entries[:min(f.Entry, len(l.Trace.Entries))] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			took = false
		case e.What == timeline.Handled && e.Replaced && e.Pod() != "" && (room || e.Pod() == f.Pod || l.inGroup(e, f.Pod)):
			took = true
		}
	}
	return took
}

// inGroup tells whether a pod that the scheduler was told of is of a group, or tried with it.
func (l *Life) inGroup(e *timeline.Entry, group string) bool {
	return group != "" && (together.GroupOf(pod(e.Is)) == group || together.GroupOf(pod(e.Was)) == group || together.TriedAs(l.Trace, e.Pod()) == group)
}
