package groups

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/properties"
)

// InOneDomain: with a topology constraint all members of a group are bound and nominated to nodes that share the value of its label, with those that run; of a
// composite group those of all groups below it.
var InOneDomain = properties.Property{
	Name:    "group-in-one-domain",
	Of:      properties.OfGroups,
	Promise: "TAS ensures that all pods within a PodGroup are co-located into a specific topology domain. The scheduler will force all new incoming pods to land on the exact same topology domain where the existing pods currently reside. A CompositePodGroup carries optional topology constraints that apply collectively across its child groups.",
	Source:  "docs: concepts/workloads/workload-api/topology-aware-scheduling, concepts/workloads/compositepodgroup-api; KEP-5732, \"Phase 1: Candidate Placement Generation\"",
	Lies: []string{"a member is nominated to another domain", "a member is bound in another domain", "a member is bound in no domain", "those that run are not seen",
		"a group of a tree is nominated to another domain than the rest", "a member of a group of a tree is nominated to another domain"},
	Applies: func(s *properties.Subject) bool {
		// While it waits for its victims the nominations are those of an earlier cycle.
		return hadCycle(s) && !s.Observation.Group.Ongoing && len(constrained(s.Cluster)) > 0
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		now := nominatedNow(s)
		for _, c := range s.Observation.Aftermath.Calls {
			if c.Verb == "bind" && c.Failed == "" {
				now[c.Object] = c.Node
			}
		}
		for _, group := range constrained(s.Cluster) {
			placed, any := map[string]string{}, false
			for _, p := range s.Cluster.Members() {
				if !slices.Contains(s.Cluster.GroupsOf(p), group) {
					continue
				}
				key := model.Key(p)
				node, is := now[key]
				if any = any || is && node != ""; p.Spec.NodeName != "" {
					node = p.Spec.NodeName
				}
				if node != "" {
					placed[key] = node
				}
			}
			if !any || slices.ContainsFunc(domains(s.Cluster, group), func(nodes []string) bool {
				return !slices.ContainsFunc(slices.Collect(maps.Values(placed)), func(node string) bool { return !slices.Contains(nodes, node) })
			}) {
				continue
			}
			var where []string
			for _, key := range slices.Sorted(maps.Keys(placed)) {
				where = append(where, key+" on "+placed[key])
			}
			findings = append(findings, properties.Found(model.StageActuate, "", fmt.Sprintf("the members of %s are not on nodes with one value of the label %s: %v",
				model.GroupTitle(group), podgroup.TopologyKey(s.Cluster, group), where))...)
		}
		return findings, nil
	},
}

// constrained are the groups of the preemptor that have a topology constraint.
func constrained(c *model.Cluster) (groups []string) {
	for _, key := range slices.Sorted(maps.Keys(c.GroupsOfPreemptor())) {
		if podgroup.TopologyKey(c, key) != "" {
			groups = append(groups, key)
		}
	}
	return groups
}

// domains are the nodes that a group with a topology constraint can be on together, by name: those with one value of its label, for each value.
func domains(c *model.Cluster, group string) (all [][]string) {
	key := podgroup.TopologyKey(c, group)
	by := map[string][]string{}
	for _, n := range c.Nodes {
		if value, labelled := n.Labels[key]; labelled {
			by[value] = append(by[value], n.Name)
		}
	}
	return slices.Collect(maps.Values(by))
}
