package relation

import (
	"errors"

	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// UpdatesAgree: the system is asked again about the same cluster, which it then knows
// from updates.
var UpdatesAgree = properties.Property{
	Name:      "incremental-load-agrees",
	Promise:   "UpdateSnapshot updates the passed infoSnapshot to the current contents of Cache. The node info contains aggregated information of pods scheduled (including assumed to be) on this node. How the cluster came to be as it is changes nothing.",
	Source:    "doc comment of Cache.UpdateSnapshot (backend/cache/interface.go:107@v1.37.1)",
	Needs:     properties.NeedsRepetition,
	Ungrouped: true,
	Lies:      []string{"an update of a node is forgotten", "an update ends in a panic"},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		system, ok := s.System.(reference.StressSystem)
		if !ok {
			return nil, nil
		}
		under := reference.Circumstances{Updates: properties.Seed(s.Cluster, "updates one by one"), Claimless: s.Assumes("claim-free-after-its-node")}
		after, err := system.ObserveUnder(s.Context, s.Cluster, under)
		if errors.Is(err, errors.ErrUnsupported) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if broken, findings := properties.Breaks(s.Cluster, after); broken {
			return findings, nil
		}
		for _, way := range after.Aftermath.Ways {
			s.Reach(way)
		}
		return (&comparison{s, &variation{cluster: s.Cluster}, after}).findings(), nil
	},
}
