package groups

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/properties"
)

// InOneDomain: with a topology constraint all members are bound and nominated to nodes that share the value of its label, with those that run.
var InOneDomain = properties.Property{
	Name:    "group-in-one-domain",
	Of:      properties.OfGroups,
	Promise: "TAS ensures that all pods within a PodGroup are co-located into a specific topology domain. The scheduler will force all new incoming pods to land on the exact same topology domain where the existing pods currently reside.",
	Source:  "docs: concepts/workloads/workload-api/topology-aware-scheduling; KEP-5732, \"Phase 1: Candidate Placement Generation\"",
	Lies:    []string{"a member is nominated to another domain", "a member is bound in another domain", "a member is bound in no domain", "those that run are not seen"},
	Applies: func(s *properties.Subject) bool {
		// While it waits for its victims the nominations are those of an earlier cycle.
		return hadCycle(s) && !s.Observation.Group.Ongoing && podgroup.TopologyKey(s.Cluster, s.Cluster.PreemptorGroup) != ""
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		placed := nominatedNow(s)
		for _, c := range s.Observation.Aftermath.Calls {
			if c.Verb == "bind" && c.Failed == "" {
				placed[c.Object] = c.Node
			}
		}
		if len(placed) == 0 {
			return nil, nil
		}
		for _, p := range s.Cluster.Members() {
			if p.Spec.NodeName != "" {
				placed[model.Key(p)] = p.Spec.NodeName
			}
		}
		one := slices.ContainsFunc(domains(s.Cluster), func(nodes []string) bool {
			return !slices.ContainsFunc(slices.Collect(maps.Values(placed)), func(node string) bool { return !slices.Contains(nodes, node) })
		})
		if one {
			return nil, nil
		}
		var where []string
		for _, key := range slices.Sorted(maps.Keys(placed)) {
			where = append(where, key+" on "+placed[key])
		}
		key := podgroup.TopologyKey(s.Cluster, s.Cluster.PreemptorGroup)
		return properties.Found(model.StageActuate, "", fmt.Sprintf("the members are not on nodes with one value of the label %s: %v", key, where)), nil
	},
}

// domains are the nodes that the group can be on together, by name: those with one value of the label that it is constrained to, for each value; all if it is
// not.
func domains(c *model.Cluster) (all [][]string) {
	key := podgroup.TopologyKey(c, c.PreemptorGroup)
	by := map[string][]string{}
	for _, n := range c.Nodes {
		if value, labelled := n.Labels[key]; labelled || key == "" {
			by[value] = append(by[value], n.Name)
		}
	}
	return slices.Collect(maps.Values(by))
}
