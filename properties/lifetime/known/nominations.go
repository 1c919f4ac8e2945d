package known

import (
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// nominationCameBack tells whether the last cycle of a pod, or of its group, that decided about its nomination withdrew its nomination before the
// scheduler had been told of it, and the update that told it came after that.
func (l *Life) nominationCameBack(pod string) bool {
	written, withdrawn, back := false, false, false
	async := l.Timeline.Cluster.Settings.FeatureGates["SchedulerAsyncAPICalls"]
	for i := range l.Trace.Entries[:l.end()] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Fits && e.Pod() == pod:
			written = written || async // that it is expected there is to be
		case e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominated to"):
			written = e.TookEffect() || written && async // it is repeated
		case e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nomination cleared"):
			written = written && !e.TookEffect()
		case e.Pod() == pod && (e.What == timeline.Decided || e.What == timeline.Unfit && e.Group != "" && e.Nomination != model.NominationKept):
			withdrawn, back = written && e.Node == "", false
			written = written || e.Node != "" && async // it is to be
		case e.What == timeline.Handled && e.Pod() == pod && strings.HasPrefix(e.Text, "updated"):
			back = withdrawn
		}
	}
	return back
}

// nominationUnseen tells whether the cycle of a pod that decided at an entry began before the
// scheduler had been told of the nomination that its last preemption wrote.
func (l *Life) nominationUnseen(pod string, at int) bool {
	seen := true
	for i := range l.Trace.Entries[:l.Trace.Began(at)] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Decided && e.Pod() == pod && len(e.Victims) > 0:
			seen = false
		case e.What == timeline.Handled && e.Pod() == pod && strings.HasPrefix(e.Text, "updated") && l.nominationWritten(pod, i):
			seen = true
		}
	}
	return !seen
}

// nominationWritten tells whether, of the entries before i, the last decision for a pod comes
// before the last write of its nomination that took effect.
func (l *Life) nominationWritten(pod string, i int) bool {
	for i--; i >= 0; i-- {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominated to") && e.TookEffect():
			return true
		case e.What == timeline.Decided && e.Pod() == pod:
			return false
		}
	}
	return false
}

// lastWriteFailed tells whether the last write of a pod's nomination failed.
func (l *Life) lastWriteFailed(pod string) (failed bool) {
	for i := range l.Trace.Entries[:l.end()] {
		if e := &l.Trace.Entries[i]; e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominat") {
			failed = !e.TookEffect()
		}
	}
	return failed
}
