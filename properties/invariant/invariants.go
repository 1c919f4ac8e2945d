// Package invariant holds the promises that one answer to one cluster can be held
// to. Each is a value with the promise in its own words, and reads the cluster and
// the answer by itself: it does not ask the model how victims are chosen.
package invariant

import (
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// All are the invariants. The cheap ones look at each dry run. Those that ask the
// system again look only at what was preempted.
func All() []properties.Property {
	return []properties.Property{
		LowerPriorityOnly,
		VictimsOnTheirNode,
		VictimsWereRunning,
		StaticPodsStay,
		GroupsGoWhole,
		VictimsByImportance,
		PreemptorFits,
		JudgesAgree,
		NoFreeNode,
		NeverPreempts,
		WaitsForItsVictims,
		MinimalVictims,
		NoSwap,
		ViolationsRecounted,
		NoFewerViolations,
		BestCandidate,
		VictimsDeletedAndMarked,
		LowerNominationsCleared,
		NothingElseWritten,
		NoInternalError,
		NominatedKeepDevices,
		DeallocationSparesPods,
		OrderDoesNotMatter,
	}
}

// proposal is what preempting on one node would take, as a system shows it.
type proposal struct {
	stage      model.Stage
	node       string
	victims    []string
	violations int
}

// proposals are the dry runs that found victims, by node, and the pick where the
// dry runs do not show it.
func proposals(s *properties.Subject) []proposal {
	var all []proposal
	o := s.Observation
	for _, node := range slices.Sorted(maps.Keys(o.DryRuns)) {
		if d := o.DryRuns[node]; len(d.Victims) > 0 {
			all = append(all, proposal{model.StageDryRun, node, d.Victims, d.Violations})
		}
	}
	// What extenders have changed is not the scheduler's own choice.
	if p := o.Pick; p != nil && !s.Extended() {
		d, shown := o.DryRuns[p.Node]
		if !shown || d.Violations != p.Violations || !slices.Equal(d.Victims, p.Victims) {
			all = append(all, picked(s))
		}
	}
	return all
}

// picked is the pick as a proposal. There must be one.
func picked(s *properties.Subject) proposal {
	p := s.Observation.Pick
	return proposal{model.StagePick, p.Node, p.Victims, p.Violations}
}

// decided is the pick with the victims that the scheduler itself found for it:
// extenders may have changed them since.
func decided(s *properties.Subject) proposal {
	p := picked(s)
	if s.Extended() {
		p.victims, p.violations = s.Observation.DryRuns[p.node].Victims, s.Observation.DryRuns[p.node].Violations
	}
	return p
}

// decisionShown: preempted, and what the scheduler itself chose is known.
func decisionShown(s *properties.Subject) bool {
	return preempted(s) && (!s.Extended() || s.Observation.DryRuns != nil)
}

func proposed(s *properties.Subject) bool  { return len(proposals(s)) > 0 }
func preempted(s *properties.Subject) bool { return s.Observation.Pick != nil }

// set is the set of some names.
func set(keys ...string) map[string]bool {
	m := make(map[string]bool, len(keys))
	for _, k := range keys {
		m[k] = true
	}
	return m
}
