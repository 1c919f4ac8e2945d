package properties

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

func noInternalError() Property {
	return Property{
		Name:    "no-internal-error",
		Promise: "<nil, Error>. This denotes it's a transient/rare error that may be self-healed in future cycles.",
		Source:  "preemption.go:168@v1.37.1, doc comment of Preempt: a valid cluster as such is no reason for one",
		// A cluster without nodes cannot be scheduled to.
		Applies: func(s *Subject) bool { return len(s.Cluster.Nodes) > 0 },
		Check: func(s *Subject) (findings []Finding, err error) {
			o := s.Observation
			d := s.Decision
			if len(s.granted) > 0 {
				if d, err = model.Decide(s.Cluster, s.rules()); err != nil {
					return nil, err
				}
			}
			// The error of an extender is no error of the scheduler.
			extender := d.FailedExtender(o)
			rejected := s.grants("extender-rejection-is-error")
			if o.CycleError != "" && extender == "" && !s.failsToo(d) {
				findings = append(findings, foundOf(model.StageFilter, "", "", "the cycle ended in an error: "+o.CycleError))
			}
			for _, node := range slices.Sorted(maps.Keys(o.DryRuns)) {
				if text := o.DryRuns[node].Error; text != "" && !s.failsToo(d) && !(rejected && d.RejectedByExtender(node)) {
					findings = append(findings, foundOf(model.StageDryRun, node, "", "the dry run ended in an error: "+text))
				}
			}
			inDryRun := func(node string) bool { return d.RejectedByExtender(node) && o.DryRuns[node].Error != "" }
			if o.PostFilterCode != "Error" || extender != "" || s.failsToo(d) || rejected && slices.ContainsFunc(o.PotentialNodes, inDryRun) {
				return findings, nil
			}
			if s.grants("prefilter-rejection-is-error") && d.Eligible == nil && s.Decision.Eligible != nil {
				return findings, nil
			}
			return append(findings, foundOf(model.StageEligible, "", "", "PostFilter ended in an error: "+o.PostFilterMessage)), nil
		},
	}
}

// failsToo tells whether d ends in an error: by a quirk that is granted, or because
// that is the algorithm of an older release.
func (s *Subject) failsToo(d *model.Decision) bool {
	if len(s.granted) == 0 && s.Release == model.Linked {
		return false
	}
	return d.Error != "" || slices.ContainsFunc(s.Cluster.Nodes, func(n *v1.Node) bool {
		_, failed := d.Listed(n.Name)
		return failed != nil && failed.Error != ""
	})
}
