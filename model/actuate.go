package model

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// actuate is what preempting victims on n changes. Victims that are terminating
// already are not deleted again (kubernetes#131519, since 1.35); the others are
// marked DisruptionTarget (KEP-3329) and deleted. Pods of lower priority that
// were nominated to the node lose their nomination, as the room there is spoken
// for, and the preemptor gets it (docs: pod-priority-preemption, "User exposed
// information"; executor.go:192@v1.37.1).
func (q *question) actuate(n *node, victims []*pod) *Actuation {
	a := &Actuation{Nomination: NominationSet, NominatedNode: n.Name}
	for _, p := range victims {
		if p.DeletionTimestamp != nil && !q.rules.deletesTerminating {
			continue
		}
		a.Deleted = append(a.Deleted, p.key)
		status := p.Pod
		if q.rules.statusOverwritten {
			status = q.cluster.Preemptor
		}
		if q.rules.marksVictims && !q.markedAlready(status) {
			a.DisruptionTarget = append(a.DisruptionTarget, p.key)
		}
	}
	keep := q.rules.terminatingVictimsKeepNominees && q.cluster.Settings.AsyncPreemption() && len(a.Deleted) == 0
	for _, p := range n.nominated {
		if q.rules.clears(q.preemptor.priority, p.priority) && !keep {
			a.Cleared = append(a.Cleared, p.key)
		}
	}
	slices.Sort(a.Deleted)
	slices.Sort(a.DisruptionTarget)
	slices.Sort(a.Cleared)
	return a
}

// unhelped is what becomes of a pod that preemption does not help: it loses its
// nomination (preemption.go:175@v1.37.1, doc comment of Preempt). tried: there was
// a node to try, or the cycle ended in an error before.
func (q *question) unhelped(tried bool) *Actuation {
	if !q.rules.clearsWithoutCandidates && (tried || q.cluster.Preemptor.Status.NominatedNodeName == "") {
		return &Actuation{Nomination: NominationKept}
	}
	return &Actuation{Nomination: NominationCleared}
}

// markedAlready: the condition that would be patched in is there already.
func (q *question) markedAlready(p *v1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.DisruptionTarget {
			return c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler &&
				c.Message == q.preemptor.Spec.SchedulerName+": preempting to accommodate a higher priority pod" &&
				c.LastProbeTime.IsZero()
		}
	}
	return false
}

// withoutOverwrites is a without what else the patches that mark victims hold.
func withoutOverwrites(a *Actuation) *Actuation {
	out := *a
	out.Other = slices.DeleteFunc(slices.Clone(a.Other), func(write string) bool {
		return slices.ContainsFunc(a.DisruptionTarget, func(key string) bool { return strings.HasPrefix(write, "patch "+key+" [status]: ") })
	})
	if len(out.Other) == 0 {
		out.Other = nil
	}
	return &out
}
