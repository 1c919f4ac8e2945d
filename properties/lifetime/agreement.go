package lifetime

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// agreement are the promises that the scheduler's memory and the API agree at rest.
func agreement() []Property {
	return []Property{{
		Name:    "nominations-agree",
		Promise: "the API object of a pending pod and the scheduler's nominator name the same nominated node",
		Source:  "the two may differ while an update is under way (nominator.go:32@v1.37.1), and at rest none is; core/v1 PodStatus.nominatedNodeName",
		Lies:    []string{"forgets a nomination", "forgets to write a nomination"},
		Check: func(l *Life) []Finding {
			return l.atRest(func(p timeline.PodState) (string, string) {
				if !p.Exists || p.Node != "" || p.Terminating || !l.schedules(p) || len(p.NominatedTo) > 1 {
					return "", ""
				}
				switch {
				case p.Nominated != "" && len(p.NominatedTo) == 0:
					return "only in the API", fmt.Sprintf("is nominated to %s in the API only", p.Nominated)
				case p.Nominated == "" && len(p.NominatedTo) == 1:
					return "only in memory", fmt.Sprintf("is nominated to %s in the scheduler's memory only", p.NominatedTo[0])
				case p.Nominated != "" && p.Nominated != p.NominatedTo[0]:
					return "different", fmt.Sprintf("is nominated to %s in the API, and to %s in the scheduler's memory", p.Nominated, p.NominatedTo[0])
				}
				return "", ""
			})
		},
	}, {
		Name:    "nominations-are-decided",
		Promise: "a pod that cannot be scheduled even with preemption loses its nomination; one that can is nominated to the node that was decided on",
		Source:  "doc comment of Preempt (preemption.go:176@v1.37.1)",
		Lies:    []string{"keeps a nomination that was withdrawn"},
		Check: func(l *Life) []Finding {
			return l.atRest(func(p timeline.PodState) (string, string) {
				if !p.Exists || p.Node != "" || p.Terminating || !l.schedules(p) || p.Nominated == "" {
					return "", ""
				}
				if node, decided := l.lastDecision(p.Name); decided && node == "" {
					return "withdrawn", fmt.Sprintf("is nominated to %s, though the last decision for it was to withdraw its nomination", p.Nominated)
				}
				return "", ""
			})
		},
	}, {
		Name:    "no-ghost-nominations",
		Promise: "room is kept for a nominated pod while it waits, on one node, and no longer",
		Source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"User exposed information\"",
		Lies:    []string{"keeps the nomination of a pod that is gone", "keeps the nomination of a pod that is bound", "nominates a pod to two nodes"},
		Check: func(l *Life) []Finding {
			return l.atRest(func(p timeline.PodState) (string, string) {
				switch {
				case len(p.NominatedTo) > 1:
					return "two nodes", fmt.Sprintf("has room kept on several nodes: %v", p.NominatedTo)
				case len(p.NominatedTo) == 1 && !p.Exists:
					return "gone", "is gone, and has room kept on " + p.NominatedTo[0]
				case len(p.NominatedTo) == 1 && p.Node != "":
					return "bound", fmt.Sprintf("is bound to %s, and has room kept on %s", p.Node, p.NominatedTo[0])
				}
				return "", ""
			})
		},
	}, {
		Name:    "cache-agrees",
		Promise: "the scheduler's cache has each bound pod on its node, and no other pod",
		Source:  "cache/interface.go:29@v1.37.1, \"Cache collects pods' information and provides node-level aggregated information\"",
		Lies:    []string{"keeps a pod in its cache", "loses a pod from its cache"},
		Check: func(l *Life) []Finding {
			return l.atRest(func(p timeline.PodState) (string, string) {
				bound := p.Exists && p.Node != ""
				switch {
				case p.Assumed:
					return "assumed", fmt.Sprintf("stays assumed on %v", p.CachedOn)
				case bound && !slices.Equal(p.CachedOn, []string{p.Node}):
					return "lost", fmt.Sprintf("is on %s, and in the scheduler's cache on %v", p.Node, p.CachedOn)
				case !bound && len(p.CachedOn) > 0:
					return "kept", fmt.Sprintf("is on no node, and in the scheduler's cache on %v", p.CachedOn)
				}
				return "", ""
			})
		},
	}}
}

// lastDecision is the node to which a pod was last decided to be nominated, "" for none; false
// if this scheduler has decided nothing for it, or if there were several pods of that name.
func (l *Life) lastDecision(pod string) (node string, decided bool) {
	if l.Timeline.Recreated(l.Trace, pod) {
		return "", false
	}
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Decided && e.Pod() == pod:
			node, decided = e.Node, true
		case e.What == timeline.Unfit && e.Group != "" && e.Pod() == pod && e.Nomination != model.NominationKept:
			node, decided = e.Node, true
		case e.What == timeline.TakenOver, e.Creates() && e.Pod() == pod:
			node, decided = "", false
		}
	}
	return node, decided
}
