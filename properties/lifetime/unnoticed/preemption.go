package unnoticed

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// ChanceToPreempt tells whether a pod waits, and its last preemption was kept from helping by
// other reasons than those for which the pod does not fit on the nodes as they are.
func (l *Life) ChanceToPreempt(pod string) bool {
	unfit, why := "", ""
	for i := range l.Trace.Entries[:l.End] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Unfit && e.Pod() == pod:
			unfit = e.Text
		case e.What == timeline.Decided && e.Pod() == pod:
			why = e.Text
			if len(e.Victims) > 0 {
				why = ""
			}
		}
	}
	_, why, _ = strings.Cut(strings.TrimSuffix(why, "."), "available: ")
	for reason := range strings.SplitSeq(why, ", ") {
		_, reason, ok := strings.Cut(reason, " ") // after how many nodes
		if reason == filter.NoPeers {             // as it is, this is a node where preemption is not helpful: so it is one without its victims
			return true
		}
		if ok && !strings.Contains(unfit, reason) && !strings.HasPrefix(reason, "Preemption is not helpful") && !strings.HasPrefix(reason, "No preemption victims") {
			return true
		}
	}
	return false
}

// EndOfVictims tells whether the last cycle of a pod left it waiting for terminating
// pods on its nominated node, and one that was evicted, or marked as a victim and is terminating for another reason, has gone since that
// cycle began.
func (l *Life) EndOfVictims(pod string) bool {
	victims := map[string]bool{}
	waits, gone := false, false
	ends := func(e *timeline.Entry) bool {
		return e.What == timeline.Handled && e.Text == "deleted" && victims[e.Pod()]
	}
	for i := range l.Trace.Entries[:l.End] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Called && (e.Call == timeline.Evict || e.MarksVictim()) && e.TookEffect(): // for whomever
			victims[e.Pod()] = true
		case e.What == timeline.Decided && e.Pod() == pod:
			waits = strings.Contains(e.Text, "not eligible due to a terminating pod")
			gone = slices.ContainsFunc(l.Trace.Entries[l.Trace.Began(i):i], func(e timeline.Entry) bool { return ends(&e) })
		case ends(e):
			gone = true
		}
	}
	return waits && gone
}
