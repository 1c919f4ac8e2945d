package properties

import (
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
)

// GetsThrough is the promise that a cycle ends, whatever the cluster is. A Checker checks
// it of each cluster, and nothing else where it is broken.
func GetsThrough() Property {
	return Property{
		Name:    "gets-through",
		Promise: "If none of the nodes are suitable, the pod remains unscheduled until the scheduler is able to place it.",
		Source:  "docs: concepts/scheduling-eviction/kube-scheduler; a process that ends, or waits for ever, places no pod at all",
		Lies:    []string{"a plugin panics", "a deletion never returns"},
		Check: func(s *Subject) ([]Finding, error) {
			c := s.Observation.Crash
			if c == nil {
				return nil, nil
			}
			for frame, id := range knownCrashes {
				if strings.Contains(c.Where, frame) && s.Assumes(id) {
					return nil, nil
				}
			}
			function, _, _ := strings.Cut(c.Where, " (")
			stage := reached(s.Observation)
			if c.Kind == model.Hang {
				stage = "" // how far the cycle came beside the goroutine that hangs is chance
			}
			return []Finding{{Stage: stage, Kind: string(c.Kind) + " in " + function, Detail: c.String()}}, nil
		},
	}
}

// knownCrashes are the functions in which the scheduler is known to break, with the
// entries of the ledger.
var knownCrashes = map[string]string{
	"volumebinding.(*VolumeBinding).Score ": "class-annotation-crashes-score",
}

// reached is the last stage that an observation shows.
func reached(o *model.Observation) model.Stage {
	switch {
	case o.Pick != nil:
		return model.StageActuate
	case len(o.Candidates) > 0:
		return model.StageCandidates
	case len(o.DryRuns) > 0:
		return model.StageDryRun
	case o.PotentialNodes != nil:
		return model.StagePotential
	case o.Eligible != nil:
		return model.StageEligible
	}
	return model.StageFilter
}
