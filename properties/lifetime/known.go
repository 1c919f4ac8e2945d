package lifetime

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// The known findings that show in timelines, by their ids in the ledger.
const (
	// VainPreemption: the victims are gone before the preemption that keeps its pod gated
	// comes to them, and nothing wakes the pod up.
	VainPreemption = "gated-by-vain-preemption"
	// SecondPreemption: a pod preempts again before the scheduler has seen its own
	// nomination of it.
	SecondPreemption = "preempts-before-nomination-is-seen"
	// SynchronousFailure: a synchronous preemption fails, and nothing tries it again.
	SynchronousFailure = "failed-synchronous-preemption-waits"
	// StaleNomination: the write that clears a nomination fails, and is not repeated.
	StaleNomination = "failed-write-leaves-nomination"
)

// known are the ids of the known findings that explain a finding.
func (l *Life) known(f *Finding) (ids []string) {
	switch f.Property {
	case "gate-opens":
		if f.Kind == "gated" && l.gatedByVainPreemption(f.Pod) {
			ids = append(ids, VainPreemption)
		}
	case "no-wait-for-the-flush":
		// A pod that is stuck keeps room for itself, so others are stuck behind it.
		for _, p := range l.Trace.Quiet.Pods {
			if (p.Name == f.Pod || len(p.NominatedTo) > 0) && l.gatedByVainPreemption(p.Name) {
				ids = append(ids, VainPreemption)
				break
			}
		}
		for _, p := range l.Trace.Quiet.Pods {
			if p.Exists && p.Node == "" && l.failedSynchronously(p.Name) {
				ids = append(ids, SynchronousFailure)
				break
			}
		}
	case "waits-for-its-victims":
		if l.nominationUnseen(f.Pod, f.Entry) {
			ids = append(ids, SecondPreemption)
		}
	case "nominations-agree":
		if l.lastWriteFailed(f.Pod) {
			ids = append(ids, StaleNomination)
		}
	}
	return ids
}

// gatedByVainPreemption tells whether a pod is kept gated in the end, and the scheduler had
// been told that all victims of the last preemption for it are gone before that was over: no
// event comes after it that would wake the pod up.
func (l *Life) gatedByVainPreemption(pod string) bool {
	if !l.Trace.Quiet.Pod(pod).Gated {
		return false
	}
	var victims []string
	gone := map[string]bool{}
	inVain := false
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Decided && e.Pod() == pod:
			victims, inVain = e.Victims, false
		case e.What == timeline.Created:
			delete(gone, e.Pod())
		case e.What == timeline.Handled && e.Text == "deleted":
			gone[e.Pod()] = true
		case e.What == timeline.Ends && e.Pod() == pod:
			inVain = len(victims) > 0 && !slices.ContainsFunc(victims, func(v string) bool { return !gone[v] })
		}
	}
	return inVain
}

// failedSynchronously tells whether the last preemption for a pod was synchronous, and one of
// its calls failed.
func (l *Life) failedSynchronously(pod string) (failed bool) {
	if l.Timeline.Cluster.Settings.AsyncPreemption() {
		return false
	}
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Popped && e.Pod() == pod:
			failed = false
		case e.What == timeline.Called && e.By == pod:
			failed = e.Error != "" && !strings.Contains(e.Error, "not found")
		}
	}
	return failed
}

// nominationUnseen tells whether the cycle of a pod that decided at an entry began before the
// scheduler had been told of the nomination that its last preemption wrote.
func (l *Life) nominationUnseen(pod string, at int) bool {
	seen := true
	for i := range l.Trace.Entries[:l.began(at)] {
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
// before the last write of its nomination.
func (l *Life) nominationWritten(pod string, i int) bool {
	for i--; i >= 0; i-- {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominated to"):
			return true
		case e.What == timeline.Decided && e.Pod() == pod:
			return false
		}
	}
	return false
}

// lastWriteFailed tells whether the last write of a pod's nomination failed.
func (l *Life) lastWriteFailed(pod string) (failed bool) {
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		if e := &l.Trace.Entries[i]; e.What == timeline.Called && e.Call == timeline.Patch && e.Pod() == pod && strings.Contains(e.Text, "nominat") {
			failed = !tookEffect(e)
		}
	}
	return failed
}
