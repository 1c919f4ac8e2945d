package invariant

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
)

// NoInternalError: a valid cluster does not make the cycle end in an error.
var NoInternalError = properties.Property{
	Name:    "no-internal-error",
	Promise: "<nil, Error>. This denotes it's a transient/rare error that may be self-healed in future cycles.",
	Source:  "preemption.go:168@v1.37.1, doc comment of Preempt: a valid cluster as such is no reason for one",
	Lies:    []string{"PostFilter ends in an error", "the cycle ends in an error"},
	// A cluster without nodes cannot be scheduled to.
	Applies: func(s *properties.Subject) bool { return len(s.Cluster.Nodes) > 0 },
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		o := s.Observation
		d := s.Decision
		if s.AssumesAny() {
			if d, err = answers.Decide(s.Cluster, s.Rules()); err != nil {
				return nil, err
			}
		}
		// The error of an extender is no error of the scheduler.
		extender := explain.FailedExtender(d, o)
		rejected := s.Assumes("extender-rejection-is-error")
		if o.CycleError != "" && extender == "" && !failsToo(s, d) {
			findings = append(findings, properties.FoundOf(model.StageFilter, "", "", "the cycle ended in an error: "+o.CycleError))
		}
		for _, node := range slices.Sorted(maps.Keys(o.DryRuns)) {
			if text := o.DryRuns[node].Error; text != "" && !failsToo(s, d) && !(rejected && explain.RejectedByExtender(d, node)) {
				findings = append(findings, properties.FoundOf(model.StageDryRun, node, "", "the dry run ended in an error: "+text))
			}
		}
		inDryRun := func(node string) bool { return explain.RejectedByExtender(d, node) && o.DryRuns[node].Error != "" }
		if o.PostFilterCode != "Error" || extender != "" || failsToo(s, d) || rejected && slices.ContainsFunc(o.PotentialNodes, inDryRun) {
			return findings, nil
		}
		if s.Assumes("prefilter-rejection-is-error") && d.Eligible == nil && s.Decision.Eligible != nil {
			return findings, nil
		}
		return append(findings, properties.FoundOf(model.StageEligible, "", "", "PostFilter ended in an error: "+o.PostFilterMessage)), nil
	},
}

// failsToo tells whether d ends in an error: by a quirk that is assumed, or because
// that is the algorithm of an older release.
func failsToo(s *properties.Subject, d *answers.Set) bool {
	if !s.AssumesAny() && s.Release == release.Linked {
		return false
	}
	return d.Error != "" || slices.ContainsFunc(s.Cluster.Nodes, func(n *v1.Node) bool {
		_, failed := d.Listed(n.Name)
		return failed != nil && failed.Error != ""
	})
}
