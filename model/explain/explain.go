// Package explain answers questions of people about a decision: who holds a room,
// what an extender changed, what decided between two nodes. No rule depends on it.
package explain

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// CriterionNames are the names of the documented criteria, in turn.
func CriterionNames() []string {
	var names []string
	for _, c := range model.DefaultCriteria() {
		names = append(names, c.Name)
	}
	return names
}

// Values are what each criterion looks at, in turn: the number of violations, the
// highest priority, the sum of the priorities (of which each counts from the lowest
// possible one), the number of victims, and the earliest start of a victim of the
// highest priority.
func Values(o *model.Outcome) []string {
	start := "unknown" // a missing start time counts as now
	for _, p := range o.Pods {
		if p.Priority == o.HighestPriority() && p.Status.StartTime != nil && p.Start.UnixNano() == o.EarliestStart() {
			start = p.Start.UTC().Format(time.RFC3339)
		}
	}
	return []string{
		strconv.Itoa(o.Violations),
		fmt.Sprint(o.HighestPriority()),
		strconv.FormatInt(o.SumOfPriorities(), 10),
		strconv.Itoa(len(o.Pods)),
		start,
	}
}

// DecidedBy says what decided between the candidates observed: the name of a
// criterion, model.Tie, or model.OnlyCandidate. It is "" if o shows no candidates,
// or none that the decision knows.
func DecidedBy(s *answers.Set, o *model.Observation) string {
	candidates := map[string]*model.Outcome{}
	names, runs := o.Candidates, o.DryRuns
	if o.AfterExtenders != nil {
		names, runs = slices.Collect(maps.Keys(o.AfterExtenders)), o.AfterExtenders
	}
	for _, name := range names {
		if s.Cycle.Node(name) == nil {
			return ""
		}
		outcome := &model.Outcome{Violations: runs[name].Violations, Pods: s.Cycle.PodsNamed(name, runs[name].Victims)}
		if len(outcome.Pods) == 0 {
			return ""
		}
		candidates[name] = outcome
	}
	if len(candidates) == 0 {
		return ""
	}
	_, by := s.Cycle.Pick(candidates)
	return by
}

// PossibleVictim is a pod that preemption on a node may take.
type PossibleVictim struct {
	Pod *v1.Pod
	// Budgets protect it.
	Budgets []*policyv1.PodDisruptionBudget
	// Violates is the budget that evicting it violates, after everything more
	// important on the node has taken from the budgets; nil if there is none.
	Violates *policyv1.PodDisruptionBudget
}

// PossibleVictims are the pods of a potential node that victims are chosen from,
// most important first; equally important pods, and budgets, in the cluster's
// order. There are none if preemption does not help there.
func PossibleVictims(s *answers.Set, node string) []PossibleVictim {
	run := s.Run(node)
	if run == nil || run.Listed == nil {
		return nil
	}
	_, violated := s.Cycle.Violations(run.Possible, nil)
	var out []PossibleVictim
	for _, u := range run.Possible {
		for _, p := range u.Pods {
			victim := PossibleVictim{Pod: p.Pod}
			for _, b := range s.Cycle.ProtectedBy(p) {
				victim.Budgets = append(victim.Budgets, s.Cycle.Budgets[b].PodDisruptionBudget)
			}
			if b, violates := violated[p]; violates {
				victim.Violates = s.Cycle.Budgets[b].PodDisruptionBudget
			}
			out = append(out, victim)
		}
	}
	return out
}

// RetriesUnresolvable tells whether the preemptor would have to wait for its
// victims on its nominated node, had that not become unresolvable.
func RetriesUnresolvable(s *answers.Set) bool {
	return s.Eligible != nil && s.Eligible.OK && !s.Cycle.Eligible(s.Cycle, nil).OK
}

// PreFilterRejects tells whether a plugin rejects the preemptor before any node
// is looked at: every verdict is then that one.
func PreFilterRejects(s *answers.Set) bool { return s.Cycle.PreFiltered.Rejection != nil }

// PreFilterNarrows tells whether the node names that the preemptor requires leave
// some of the cluster's nodes, but not all.
func PreFilterNarrows(s *answers.Set) bool {
	left := 0
	for _, n := range s.Cycle.Nodes {
		if !s.Cycle.PreFiltered.Excludes(n) {
			left++
		}
	}
	return 0 < left && left < len(s.Cycle.Nodes)
}

// FirstOfGroup tells whether a node suits the preemptor's affinity to other pods
// only because the preemptor itself would be the first of them, and would still
// once all that may be preempted there is gone.
func FirstOfGroup(s *answers.Set, node string) bool {
	n := s.Cycle.Node(node)
	state, ok := filter.As[*filter.InterPodAffinityState](s.Cycle.State("InterPodAffinity"))
	if n == nil || !ok {
		return false
	}
	v := filter.View{Pods: s.Cycle.PodsOn(n, false)}
	return !state.AffinityMet(n, v) && state.FirstOfGroup(n, v)
}
