package properties

import (
	"cmp"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// Invariants are the promises that one answer to one cluster can be held to. The
// cheap ones look at every dry run; those that ask the system again look only at
// what was preempted.
func Invariants() []Property {
	return []Property{
		lowerPriorityOnly(),
		victimsOnTheirNode(),
		victimsWereRunning(),
		victimsByImportance(),
		preemptorFits(),
		judgesAgree(),
		noFreeNode(),
		neverPreempts(),
		waitsForItsVictims(),
		minimalVictims(),
		noSwap(),
		violationsRecounted(),
		noFewerViolations(),
		bestCandidate(),
		victimsDeletedAndMarked(),
		lowerNominationsCleared(),
		nothingElseWritten(),
		noInternalError(),
		orderDoesNotMatter(),
	}
}

const (
	docsPreemption = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\""
	docsNominated  = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"User exposed information\""
	docsBudgets    = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"PodDisruptionBudget is supported, but not guaranteed\""
	docsNever      = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Non-preempting PriorityClass\""
)

// proposal is what preempting on one node would take, as a system shows it.
type proposal struct {
	stage      model.Stage
	node       string
	victims    []string
	violations int
}

// proposals are the dry runs that found victims, by node, and the pick where the
// dry runs do not show it.
func (s *Subject) proposals() []proposal {
	var all []proposal
	o := s.Observation
	for _, node := range slices.Sorted(maps.Keys(o.DryRuns)) {
		if d := o.DryRuns[node]; len(d.Victims) > 0 {
			all = append(all, proposal{model.StageDryRun, node, d.Victims, d.Violations})
		}
	}
	// What extenders have changed is not the scheduler's own choice.
	if p := o.Pick; p != nil && !s.extended() {
		d, shown := o.DryRuns[p.Node]
		if !shown || d.Violations != p.Violations || !slices.Equal(d.Victims, p.Victims) {
			all = append(all, s.picked())
		}
	}
	return all
}

// picked is the pick as a proposal. There must be one.
func (s *Subject) picked() proposal {
	p := s.Observation.Pick
	return proposal{model.StagePick, p.Node, p.Victims, p.Violations}
}

// decided is the pick with the victims that the scheduler itself found for it:
// extenders may have changed them since.
func (s *Subject) decided() proposal {
	p := s.picked()
	if s.extended() {
		p.victims, p.violations = s.Observation.DryRuns[p.node].Victims, s.Observation.DryRuns[p.node].Violations
	}
	return p
}

// extended: the scheduler has extenders.
func (s *Subject) extended() bool { return len(s.Cluster.Settings.Extenders) > 0 }

// decisionShown: preempted, and what the scheduler itself chose is known.
func decisionShown(s *Subject) bool {
	return preempted(s) && (!s.extended() || s.Observation.DryRuns != nil)
}

func proposed(s *Subject) bool  { return len(s.proposals()) > 0 }
func preempted(s *Subject) bool { return s.Observation.Pick != nil }

// pods are the pods of those names; those that are not in the cluster are left
// out.
func (s *Subject) pods(keys []string) []*v1.Pod {
	var pods []*v1.Pod
	for _, key := range keys {
		if p := s.pod(key); p != nil {
			pods = append(pods, p)
		}
	}
	return pods
}

// preemptable are the pods on a node that the preemptor's priority allows it to
// preempt, most important first.
func (s *Subject) preemptable(node string) []*v1.Pod {
	var pods []*v1.Pod
	for _, p := range s.index().onNode[node] {
		if model.Priority(p) < model.Priority(s.Cluster.Preemptor) {
			pods = append(pods, p)
		}
	}
	slices.SortStableFunc(pods, s.compareImportance)
	return pods
}

// compareImportance is negative if a is more important than b: the higher priority,
// then the earlier start (preemption/util.go:67@v1.37.1, MoreImportantVictim).
func (s *Subject) compareImportance(a, b *v1.Pod) int {
	return cmp.Or(cmp.Compare(model.Priority(b), model.Priority(a)), s.started(a).Compare(s.started(b)))
}

// farFuture is when pods without a start time start: they count as starting now,
// whenever that is (util/utils.go:53@v1.37.1, GetPodStartTime).
var farFuture = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// started is when a pod started, or farFuture for all pods alike if the release
// does not look at start times yet.
func (s *Subject) started(p *v1.Pod) time.Time {
	if p.Status.StartTime == nil || !s.makes(startTimesCount) {
		return farFuture
	}
	return p.Status.StartTime.Time
}

// set is the set of some names.
func set(keys ...string) map[string]bool {
	m := make(map[string]bool, len(keys))
	for _, k := range keys {
		m[k] = true
	}
	return m
}
