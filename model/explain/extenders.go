package explain

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// RejectedByExtender tells whether nothing but an extender keeps the preemptor
// from a node.
func RejectedByExtender(s *answers.Set, node string) bool { return s.Cycle.OnlyExtender[node] }

// FailedExtender is the name of the extender whose error has to end the cycle
// observed, or "".
func FailedExtender(s *answers.Set, o *model.Observation) string {
	if s.FilterFails != "" {
		return s.FilterFails
	}
	candidates := map[string]*model.Outcome{}
	for _, name := range o.Candidates {
		if run := o.DryRuns[name]; s.Cycle.Node(name) != nil && len(run.Victims) > 0 {
			candidates[name] = &model.Outcome{Victims: run.Victims, Violations: run.Violations, Pods: s.Cycle.PodsNamed(name, run.Victims)}
		}
	}
	_, failed := s.Cycle.CallExtenders(candidates)
	return failed
}

// Extended says what an extender does to a candidate.
type Extended struct {
	Extender string `json:"extender"`
	// Dropped: the node is no longer a candidate. Otherwise Victims and
	// Violations are what they have become.
	Dropped    bool     `json:"dropped,omitempty"`
	Victims    []string `json:"victims,omitempty"`
	Violations int      `json:"violations"`
}

// ExtendersOn are the extenders that change the candidate a node is, with the
// budgets and the equally important pods in the cluster's order, in the order in
// which they are asked; fails names the one whose error ends the preemption.
func ExtendersOn(s *answers.Set, node string) (changes []Extended, fails string) {
	listed, failed := s.Listed(node)
	if listed == nil || failed != nil {
		return nil, ""
	}
	was := map[string]*model.Outcome{node: listed}
	for _, e := range s.Cycle.Extenders {
		one := *s.Cycle
		one.Extenders = []*model.Extender{e}
		is, fails := one.CallExtenders(was)
		if fails != "" {
			return changes, fails
		}
		before, after := was[node], is[node]
		switch {
		case after == nil:
			return append(changes, Extended{Extender: e.Name, Dropped: true}), ""
		case !slices.Equal(before.Victims, after.Victims) || before.Violations != after.Violations:
			changes = append(changes, Extended{Extender: e.Name, Victims: after.Victims, Violations: after.Violations})
		}
		was = is
	}
	return changes, ""
}

// Uninterested tells whether there are extenders that are not asked about the
// preemptor.
func Uninterested(s *answers.Set) bool {
	return len(s.Cycle.Extenders) < len(s.Cycle.Settings.Extenders)
}
