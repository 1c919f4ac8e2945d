package contract

import (
	"fmt"
	"strings"

	"github.com/preemptcheck/preemptcheck/properties"
)

// Monotone is that a plugin passes a node from which pods were removed if it passes the node as it is. Nobody promises that. Reprieve finds
// the fewest victims only where it holds. All only count how often it does not: this is for a smallest
// counterexample.
func Monotone(plugins ...string) properties.Property {
	return clause(properties.Property{
		Name:    "contract-monotone",
		Promise: "none: removing pods from a node never makes a plugin reject it that passed it",
		Source:  "what reprieve rests on (docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\")",
		Lies:    []string{"Filter rejects nodes that are empty"},
	}, plugins, filtering, func(x *interview) error {
		r, err := x.runRemovals()
		if err != nil {
			return err
		}
		for _, plugin := range x.plugins {
			for _, n := range x.Cluster.Nodes {
				if !x.says[plugin].Nodes[n.Name].Passes() {
					continue
				}
				for _, one := range r[n.Name] {
					x.Tally(plugin, Removals, 1)
					if v := one.says[plugin].Nodes[n.Name]; v.IsRejection() {
						x.Tally(plugin, NotMonotone, 1)
						x.found(plugin, "not monotone", fmt.Sprintf("passes %s as it is. Without %s it says %s", n.Name, strings.Join(keys(one.pods), ", "), v))
					}
				}
			}
		}
		return nil
	})
}

// measured is Monotone without findings.
func measured(plugins ...string) properties.Property {
	p := Monotone(plugins...)
	check := p.Check
	p.Check = func(s *properties.Subject) ([]properties.Finding, error) {
		_, err := check(s)
		return nil, err
	}
	return p
}
