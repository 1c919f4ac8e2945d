package unit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// unitsOf are the units of a cluster with the nodes n and m, as "a+b 10" for pods a and b and priority 10, in the order of their names.
func unitsOf(composites bool, objects []any) []string {
	settings := mk.WithGroups()
	settings.FeatureGates[unit.GateComposite] = composites
	return unitsOn(settings, objects, "n", "m")
}

// unitsOn are those of them that have a pod on some nodes.
func unitsOn(settings model.Settings, objects []any, nodes ...string) (all []string) {
	c := mk.Cluster(mk.Pod("p", 99), append([]any{settings, mk.Node("n", "1"), mk.Node("m", "1")}, objects...)...)
	s := model.NewSnapshot(c)
	units := unit.Of(s, c.Groups())
	for _, n := range s.Nodes {
		if !slices.Contains(nodes, n.Name) {
			continue
		}
		for _, u := range units.On(n) {
			var names []string
			for _, p := range u.Pods {
				names = append(names, p.Name)
			}
			slices.Sort(names)
			if said := fmt.Sprintf("%s %d", strings.Join(names, "+"), u.Priority); !slices.Contains(all, said) {
				all = append(all, said)
			}
		}
	}
	slices.Sort(all)
	return all
}

// two are two pods of a group, one on each node: a1 and a2 of group a.
func two(groups ...string) (pods []any) {
	for _, g := range groups {
		pods = append(pods, mk.Pod(g+"1", 10, mk.On("n"), mk.Member(g)), mk.Pod(g+"2", 10, mk.On("m"), mk.Member(g)))
	}
	return pods
}

// in is a group of priority 10 in a composite one.
func in(parent, name string, mode func(*schedulingv1beta1.PodGroup)) any {
	return mk.Group(name, 10, mode, mk.PartOf(parent))
}

// gangOfTwo has both groups of a composite one be scheduled together.
func gangOfTwo(c *schedulingv1alpha3.CompositePodGroup) {
	c.Spec.SchedulingPolicy = schedulingv1alpha3.CompositePodGroupSchedulingPolicy{Gang: &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: 2}}
}

// The rows are those of upstream's TestNewDomainForWorkloadPreemption (preemption/types_test.go:295@v1.37.1), in its order. Of those with and
// without composite groups that differ in nothing else both are in one row.
func TestUnitsOfUpstream(t *testing.T) {
	whole, single := mk.AsAWhole, singly
	pod := func(name, node string, priority int32, group string) *v1.Pod {
		if group == "" {
			return mk.Pod(name, priority, mk.On(node))
		}
		return mk.Pod(name, priority, mk.On(node), mk.Member(group))
	}
	for _, tt := range []struct {
		name    string
		objects []any
		with    string // composite groups
		without string // "=" if as with
	}{
		{"no pods", nil, "", "="},
		{"no groups", []any{pod("a", "n", 10, ""), pod("b", "m", 20, "")}, "a 10, b 20", "="},
		{"mode All", append(two("a"), mk.Group("a", 50, whole)), "a1+a2 50", "="},
		{"mode Single", append(two("a"), mk.Group("a", 50, single)), "a1 50, a2 50", "="},
		{"groups and pods", append(two("a"), mk.Group("a", 50, whole), mk.Group("b", 60, single), pod("b1", "n", 20, "b"), pod("c", "m", 30, "")), "a1+a2 50, b1 60, c 30", "="},
		{"a missing group", two("a"), "a1 10, a2 10", "="},
		{"a composite group in mode All", append(two("a", "b"), mk.Composite("c", "", 10, true), in("c", "a", whole), in("c", "b", whole)), "a1+a2+b1+b2 10", "a1+a2 10, b1+b2 10"},
		{"one in mode Single", append(two("a", "b"), mk.Composite("c", "", 10, false), in("c", "a", single), in("c", "b", whole)), "a1 10, a2 10, b1+b2 10", "="},
		{"two in one, in mode All", append(two("a", "b", "d", "e"), mk.Composite("c", "", 10, true), mk.Composite("l", "c", 10, true), mk.Composite("r", "c", 10, true),
			in("l", "a", whole), in("l", "b", whole), in("r", "d", whole), in("r", "e", whole)), "a1+a2+b1+b2+d1+d2+e1+e2 10", "a1+a2 10, b1+b2 10, d1+d2 10, e1+e2 10"},
		{"two in one, one in mode All", append(two("a", "b", "d", "e"), mk.Composite("c", "", 10, false), mk.Composite("l", "c", 10, true), mk.Composite("r", "c", 10, false),
			in("l", "a", whole), in("l", "b", whole), in("r", "d", single), in("r", "e", single)), "a1+a2+b1+b2 10, d1 10, d2 10, e1 10, e2 10", "a1+a2 10, b1+b2 10, d1 10, d2 10, e1 10, e2 10"},
		{"a gang in mode All", append(two("a", "b"), mk.Composite("c", "", 10, true, gangOfTwo), in("c", "a", whole), in("c", "b", whole)), "a1+a2+b1+b2 10", "a1+a2 10, b1+b2 10"},
		{"a gang in mode Single", append(two("a", "b"), mk.Composite("c", "", 10, false, gangOfTwo), in("c", "a", single), in("c", "b", single)), "a1 10, a2 10, b1 10, b2 10", "="},
		{"groups in mode Single in one in mode All", append(two("a", "b"), mk.Composite("c", "", 10, true), in("c", "a", single), in("c", "b", whole)), "a1+a2+b1+b2 10", "a1 10, a2 10, b1+b2 10"},
		{"groups of a missing composite one", append(two("a", "b", "d", "e"), mk.Composite("c", "", 10, true), mk.Composite("r", "c", 10, true),
			in("gone", "a", whole), in("gone", "b", whole), in("r", "d", whole), in("r", "e", whole)), "a1+a2 10, b1+b2 10, d1+d2+e1+e2 10", "a1+a2 10, b1+b2 10, d1+d2 10, e1+e2 10"},
	} {
		split := func(s string) []string {
			if s == "" {
				return nil
			}
			return strings.Split(s, ", ")
		}
		without := tt.without
		if without == "=" {
			without = tt.with
		}
		assert.Equal(t, split(tt.with), unitsOf(true, tt.objects), tt.name)
		assert.Equal(t, split(without), unitsOf(false, tt.objects), "%s, without composite groups", tt.name)
	}
}

// The rows are those of upstream's TestGetVictimsOnNode (preemption/preemption_test.go:655@v1.37.1), in its order: which units there are on
// node n. A composite group has its own priority, whatever its groups say.
func TestUnitsOnNodeOfUpstream(t *testing.T) {
	whole, single := mk.AsAWhole, singly
	pod := func(name, node string, priority int32, group string) *v1.Pod {
		return mk.Pod(name, priority, mk.On(node), mk.Member(group))
	}
	plain := []any{mk.Pod("a", 10, mk.On("n")), mk.Pod("b", 1, mk.On("n"))}
	low := mk.Pod("c", 1, mk.On("n"))
	tree := func(mode func(*schedulingv1beta1.PodGroup), together bool) []any {
		objects := []any{mk.Composite("c", "", 10, together)}
		for group, node := range map[string]string{"a": "n", "b": "m"} {
			objects = append(objects, mk.Group(group, 1, mk.PartOf("c"), mode), pod(group+"1", node, 1, group))
		}
		return objects
	}
	without, on, with := model.Settings{}, mk.WithGroups(), mk.WithGroups()
	on.FeatureGates[unit.GateComposite], on.FeatureGates[model.GateTopology] = false, false
	for _, tt := range []struct {
		name     string
		settings model.Settings
		objects  []any
		units    []string
	}{
		{"without groups", without, plain, []string{"a 10", "b 1"}},
		{"pods of no group", on, plain, []string{"a 10", "b 1"}},
		{"mode All", on, []any{mk.Group("g", 10, whole), pod("a", "n", 10, "g"), pod("b", "m", 10, "g"), low}, []string{"a+b 10", "c 1"}},
		{"mode Single", on, []any{mk.Group("g", 10, single), pod("a", "n", 1, "g"), pod("b", "m", 1, "g"), pod("d", "n", 1, "g"), low}, []string{"a 10", "c 1", "d 10"}},
		{"both", on, []any{mk.Group("g", 20, whole), mk.Group("h", 10, single), pod("a", "n", 20, "g"), pod("b", "m", 20, "g"), pod("d", "n", 1, "h"), pod("e", "m", 1, "h"), low},
			[]string{"a+b 20", "c 1", "d 10"}},
		{"a composite group in mode All", with, tree(single, true), []string{"a1+b1 10"}},
		{"one in mode Single", with, tree(func(*schedulingv1beta1.PodGroup) {}, false), []string{"a1 10"}},
		{"without composite groups", on, tree(single, true), []string{"a1 1"}},
	} {
		assert.Equal(t, tt.units, unitsOn(tt.settings, tt.objects, "n"), tt.name)
	}
}
