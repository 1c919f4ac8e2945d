package known

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/hints"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// nobodyWaitsForVictims are the known findings by which a group whose last preemption is over does not wait for the end of its victims, which
// are gone: the pods of it that were rejected, as it could not be placed beside these, wait for something else, since others of the group were
// placed before them and stood in their way, or were not tried any more (gangscheduling/gangscheduling.go:494@v1.37.1, PlacementFeasible), of
// which nothing is recorded; or they were left behind when the group came back. It is asked of groups that are gated: others are tried again
// after their backoff.
func (l *Life) nobodyWaitsForVictims(group string) []string {
	p := l.Trace.LastPreemption(group, l.end())
	if !l.endedWell(p) || len(p.Gone) < len(p.Victims) || l.triedBetween(group, p.Decided, l.end()) {
		return nil
	}
	members, rejected, behind := map[string]*v1.Pod{}, map[string]bool{}, false
	for i := l.Trace.Began(p.Decided); i < p.Decided; i++ {
		switch e := &l.Trace.Entries[i]; {
		case e.Group != group:
		case e.What == timeline.Popped:
			members[e.Pod()] = pod(e.Is)
		case e.What == timeline.Tried && !e.Second && e.Node == "":
			rejected[e.Pod()] = true
			waits := slices.ContainsFunc(p.Victims, func(v string) bool {
				victim := l.Trace.LastTold(v, p.Decided)
				return victim == nil || members[e.Pod()] == nil || hints.MayGoneHelp(e.Text, hints.WithDefaultSpread(l.Timeline.Cluster.Settings, members[e.Pod()]), victim)
			})
			if waits && !together.LeftBehind(l.Trace, e.Pod()) || !hints.PodsInTheWay(e.Text) {
				return nil
			}
			behind = behind || waits
		}
	}
	switch {
	case behind:
		return []string{CycleCutShort}
	case len(rejected) > 0 && len(rejected) < len(members):
		return []string{FirstRejection}
	}
	return nil
}

// endedWell tells whether there is a preemption, it had a goroutine, and that has ended without an error.
func (l *Life) endedWell(p *timeline.Preemption) bool {
	return p != nil && p.Began >= 0 && p.Ended >= 0 && l.Trace.Entries[p.Ended].Text == "success"
}

// triedBetween tells whether a cycle of a group, or a pod, begins after one entry and before another.
func (l *Life) triedBetween(preemptor string, after, before int) bool {
	return slices.ContainsFunc(l.Trace.Entries[after+1:before], func(e timeline.Entry) bool {
		return e.What == timeline.Popped && e.Preemptor() == preemptor
	})
}
