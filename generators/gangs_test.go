package generators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// A cluster whose preemptor may be a group is the same as ever where it is a pod; and the groups are
// of all kinds that matter.
func TestOfAnyPreemptor(t *testing.T) {
	gates := map[string]bool{model.GateWorkload: true}
	seen := map[string]int{}
	for seed := range uint64(3000) {
		c := generators.OfAnyPreemptor(seed, gates)
		if c.PreemptorGroup == "" {
			require.Emptyf(t, cmp.Diff(generators.FromSeedWith(seed, gates), c), "seed %d", seed)
			continue
		}
		require.Nil(t, c.Preemptor)
		waiting, all := len(c.Preemptors()), len(c.Members())
		require.NotZero(t, waiting)
		count := func(what string, is bool) {
			if is {
				seen[what]++
			}
		}
		admitted := c.DeepCopy()
		require.NoError(t, apiserver.Admit(admitted), "seed %d", seed)
		require.Emptyf(t, cmp.Diff(c, admitted), "seed %d: admission changed the cluster", seed)
		if root, is := c.Group(c.PreemptorGroup).(*schedulingv1alpha3.CompositePodGroup); is {
			gang, groups := root.Spec.SchedulingPolicy.Gang, len(c.GroupsOfPreemptor())-1
			count("a composite group", true)
			count("of three groups", groups == 3)
			count("that need not run together", gang == nil)
			count("all of which have to run", gang != nil && int(gang.MinGroupCount) == groups)
			count("fewer of which have to run", gang != nil && int(gang.MinGroupCount) < groups)
			cy := podgroup.Documented().NewCycle(c, model.Documented())
			whole, _ := podgroup.Topology(cy, cy.Root, podgroup.TopologyDomain{})
			own := 0
			for _, leaf := range cy.Root.Leaves() {
				if podgroup.TopologyKey(c, leaf.Key) == "" {
					continue
				}
				own++
				for _, d := range whole {
					below, _ := podgroup.Topology(cy, leaf, d)
					count("no topology domain within that of the tree", d.Group != "" && len(below) == 0)
					count("several topology domains within that of the tree", d.Group != "" && len(below) > 1)
				}
			}
			constrained := podgroup.TopologyKey(c, c.PreemptorGroup) != ""
			count("a tree in one topology domain", constrained && own == 0)
			count("groups of a tree each in one topology domain", !constrained && own > 0)
			count("both", constrained && own > 0)
			count("the topology domain of those of a tree that run", constrained && len(cy.Bound) > 0 && len(whole) == 1)
			count("no topology domain of those of a tree that run", constrained && len(cy.Bound) > 0 && len(whole) == 0)
			continue
		}
		g := c.Group(c.PreemptorGroup).(*schedulingv1beta1.PodGroup)
		gang := g.Spec.SchedulingPolicy.Gang
		count("no nodes", len(c.Nodes) == 0)
		count("a gang", gang != nil)
		count("no gang", gang == nil)
		count("one pod", waiting == 1)
		count("three pods or more", waiting >= 3)
		count("pods that run", all > waiting)
		count("all of it", gang != nil && int(gang.MinCount) == all)
		count("less than all", gang != nil && int(gang.MinCount) < all)
		count("more than all", gang != nil && int(gang.MinCount) > all)
		count("as a whole", g.Spec.DisruptionMode.All != nil)
		count("scheduled before", len(g.Status.Conditions) > 0)
		count("a policy of its own", g.Spec.PreemptionPolicy != nil)
		if podgroup.TopologyKey(c, c.PreemptorGroup) != "" {
			cy := podgroup.Documented().NewCycle(c, model.Documented())
			domains, _ := podgroup.Topology(cy, cy.Root, podgroup.TopologyDomain{})
			count("no topology domain", len(domains) == 0)
			count("one topology domain", len(domains) == 1)
			count("several topology domains", len(domains) > 1)
			count("no topology domain of those that run", len(domains) == 0 && all > waiting)
			count("the topology domain of those that run", len(domains) == 1 && all > waiting)
		} else {
			count("a topology constraint while the gate is off", g.Spec.SchedulingConstraints != nil)
		}
		for _, m := range c.Preemptors() {
			count("nominated", m.Status.NominatedNodeName != "")
			count("another priority", model.Priority(m) != *g.Spec.Priority)
		}
	}
	for _, what := range []string{"no nodes", "a gang", "no gang", "one pod", "three pods or more", "pods that run", "all of it", "less than all", "more than all",
		"as a whole", "scheduled before", "a policy of its own", "nominated", "another priority", "a composite group", "of three groups", "that need not run together",
		"all of which have to run", "fewer of which have to run", "no topology domain", "one topology domain", "several topology domains",
		"no topology domain of those that run", "the topology domain of those that run", "a topology constraint while the gate is off",
		"a tree in one topology domain", "groups of a tree each in one topology domain", "both", "no topology domain within that of the tree",
		"several topology domains within that of the tree", "the topology domain of those of a tree that run", "no topology domain of those of a tree that run"} {
		require.NotZero(t, seen[what], what)
	}
}
