package properties_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/mutant"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/properties/groups"
)

// gang has so many pods of a group scheduled together.
func gang(minCount int32) func(*schedulingv1beta1.PodGroup) {
	return func(g *schedulingv1beta1.PodGroup) {
		g.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: minCount}}
	}
}

// tree is a composite group c, of which so many groups are scheduled together; 0: each by itself.
func tree(minGroupCount int32) *schedulingv1alpha3.CompositePodGroup {
	c := mk.Composite("c", "", 10, false)
	if c.Spec.SchedulingPolicy.Basic = (&schedulingv1alpha3.CompositeBasicSchedulingPolicy{}); minGroupCount > 0 {
		c.Spec.SchedulingPolicy = schedulingv1alpha3.CompositePodGroupSchedulingPolicy{Gang: &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: minGroupCount}}
	}
	return c
}

// leaf is a group of c.
func leaf(name string, minCount int32) *schedulingv1beta1.PodGroup {
	return mk.Group(name, 10, gang(minCount), mk.PartOf("c"))
}

func basic(g *schedulingv1beta1.PodGroup) {
	g.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
}

// policy is what a group says about preempting others.
func policy(p schedulingv1beta1.PreemptionPolicy) func(*schedulingv1beta1.PodGroup) {
	return func(g *schedulingv1beta1.PodGroup) { g.Spec.PreemptionPolicy = &p }
}

func never(p *v1.Pod) { p.Spec.PreemptionPolicy = new(v1.PreemptNever) }

// of makes members of a group.
func of(group string, names ...string) (pods []any) {
	for _, name := range names {
		pods = append(pods, mk.Pod(name, 10, mk.Member(group), mk.CPU("1")))
	}
	return pods
}

// member is one of g.
func member(name string, change ...func(*v1.Pod)) *v1.Pod {
	return mk.Pod(name, 10, append([]func(*v1.Pod){mk.Member("g"), mk.CPU("1")}, change...)...)
}

// on is a pod that needs a CPU on a node.
func on(node, name string, priority int32, change ...func(*v1.Pod)) *v1.Pod {
	return mk.Pod(name, priority, append([]func(*v1.Pod){mk.On(node), mk.CPU("1"), mk.Started(1)}, change...)...)
}

func parts(lists ...[]any) []any { return slices.Concat(lists...) }

// ownPolicy switches the gate on by which the preemption policy of a group is its own.
func ownPolicy() model.Settings {
	s := mk.WithGroups()
	s.FeatureGates[podgroup.GatePolicy] = true
	return s
}

// gangCase is a cluster of gangs.
type gangCase struct {
	name    string
	objects []any
	want    string
	known   []string
}

// gangs are clusters whose preemptor is the group g, of priority 10, and what comes of it: "fits", "waits", "fails", "may not",
// "no help", "ongoing", "nobody", or the victims. known are the findings that show on it. The first 33 say what upstream's
// TestPodGroupEvaluator_SelectVictimsOnDomain (podgrouppreemption_test.go:138@v1.37.1) says with pods of its own
// kind, the next five what TestPodGroupEvaluator_Preempt (podgrouppreemption_test.go:1435@v1.37.1) says.
var gangs = []gangCase{
	{"a plain pod goes before one that a group lets go", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("s", 1, singly), node("n", "2", "z"),
		on("n", "a", 1), on("n", "b", 1, mk.Member("s"))}, of("g", "g1")), "a or b", nil},
	{"of two pods of a group the younger", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("s", 1, singly), node("n", "2", "z"),
		on("n", "a", 1, mk.Member("s"), mk.Started(5)), on("n", "b", 1, mk.Member("s"), mk.Started(3))}, of("g", "g1")), "a", nil},
	{"a group goes with its pod on another node", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 1, mk.AsAWhole), node("n", "1", "z"), node("m", "1", "z"),
		on("n", "a", 1, mk.Member("u")), on("m", "b", 1, mk.Member("u"))}, of("g", "g1")), "a+b", nil},
	{"three pods, and room for two of them", parts([]any{mk.Group("g", 10, gang(3)), mk.Group("s", 1, singly), mk.Group("t", 1, singly), mk.Group("h", 10, singly),
		node("n", "2", "z"), node("m", "1", "z"), node("o", "2", "z"), node("q", "2", "z"), node("r", "2", "z"),
		on("n", "a", 1, mk.Member("s"), mk.CPU("2"), mk.Started(5)), on("m", "b", 1, mk.Member("s")), on("o", "c", 1, mk.Member("t"), mk.CPU("2")),
		on("q", "d", 5), on("r", "e", 10, mk.Member("h"))}, of("g", "g1", "g2", "g3")), "a or b or c or a+b or a+c or b+c", nil},
	{"a pod whose budget is spent stays", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("s", 1), mk.Budget("b", 0, mk.ForApp("x")), node("n", "2", "z"),
		on("n", "a", 1, mk.App("x"), mk.Member("s")), on("n", "b", 1, mk.Member("s"))}, of("g", "g1")), "b", nil},
	{"one of three, with a policy", parts([]any{mk.Group("g", 10, gang(1), policy("PreemptLowerPriority")), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"), ownPolicy(),
		on("n", "a", 1), on("m", "b", 1, mk.Member("s")), on("o", "c", 1, mk.Member("t"))}, of("g", "g1")), "a or b or c", nil},
	{"the policy of its pods is not its own", parts([]any{mk.Group("g", 10, gang(1), policy("PreemptLowerPriority")), node("n", "1", "z"), ownPolicy(),
		on("n", "a", 1), member("g1", never)}), "fails", nil},
	{"victims that terminate where nobody is nominated", parts([]any{mk.Group("g", 10, gang(2)), node("n", "1", "z"), node("m", "1", "z"),
		on("m", "a", 1, mk.ByPreemption), on("n", "b", 1), member("g1"), member("g2", mk.Nominated("n"))}), "a+b", nil},
	{"what terminates is of a group of higher priority", parts([]any{mk.Group("g", 10, gang(2)), mk.Group("u", 20, mk.AsAWhole), node("n", "2", "z"), node("m", "1", "z"),
		on("n", "a", 1, mk.Member("u"), mk.ByPreemption), on("n", "b", 1), member("g1"), member("g2", mk.Nominated("n"))}), "b", nil},
	{"what terminates is of one that lets its pods go", parts([]any{mk.Group("g", 10, gang(2)), mk.Group("u", 20, singly), node("n", "2", "z"), node("m", "1", "z"),
		on("n", "a", 1, mk.Member("u"), mk.ByPreemption), on("n", "b", 1), member("g1"), member("g2", mk.Nominated("n"))}), "b", nil},
	{"a pod of lower priority", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), on("n", "a", 1)}, of("g", "g1")), "a", nil},
	{"the two of lower priority", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), on("n", "a", 1), on("n", "b", 5, mk.CPU("2")), on("n", "c", 10)}, of("g", "g1")), "a+b", nil},
	{"no more than have to go", parts([]any{mk.Group("g", 10, gang(1)), node("n", "3", "z"),
		on("n", "a", 1, mk.Started(1)), on("n", "b", 1, mk.Started(2)), on("n", "c", 1, mk.Started(3)), on("n", "d", 1, mk.Started(4))}, of("g", "g1")), "c+d", nil},
	{"not the one whose budget is spent", parts([]any{mk.Group("g", 10, gang(1)), mk.Budget("b", 0, mk.ForApp("x")), node("n", "2", "z"),
		on("n", "a", 1, mk.App("x")), on("n", "b", 1)}, of("g", "g1")), "b", nil},
	{"nor if the other is of higher priority", parts([]any{mk.Group("g", 10, gang(1)), mk.Budget("b", 0, mk.ForApp("x")), node("n", "2", "z"),
		on("n", "a", 1, mk.App("x")), on("n", "b", 5, mk.App("y"))}, of("g", "g1")), "b", nil},
	{"one of three, of groups", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("s", 1, singly), mk.Group("t", 1, singly), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"),
		on("n", "a", 1), on("m", "b", 1, mk.Member("s")), on("o", "c", 1, mk.Member("t"))}, of("g", "g1")), "a or b or c", nil},
	{"a policy of Never, which without the gate is that of the pods", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), on("n", "a", 1), member("g1", never)}), "may not", nil},
	{"both budgets are spent", parts([]any{mk.Group("g", 10, gang(1)), mk.Budget("b", 0, mk.ForApp("x")), node("n", "2", "z"),
		on("n", "a", 1, mk.App("x")), on("n", "b", 5, mk.App("x"))}, of("g", "g1")), "a", nil},
	{"a pod before a group", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 1, mk.AsAWhole), node("n", "3", "z"),
		on("n", "a", 1), on("n", "u1", 1, mk.Member("u")), on("n", "u2", 1, mk.Member("u"))}, of("g", "g1")), "a", nil},
	{"a group of lower priority before a pod", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 1, mk.AsAWhole), node("n", "3", "z"),
		on("n", "a", 5), on("n", "u1", 1, mk.Member("u")), on("n", "u2", 1, mk.Member("u"))}, of("g", "g1")), "u1+u2", nil},
	{"a group violates if one of its pods does", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 1, mk.AsAWhole), mk.Budget("b", 0, mk.ForApp("x")), node("n", "3", "z"),
		on("n", "u1", 1, mk.Member("u"), mk.App("x")), on("n", "u2", 1, mk.Member("u"), mk.App("y")), on("n", "a", 1, mk.App("y"))}, of("g", "g1")), "a", nil},
	{"all are of higher priority", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), on("n", "a", 20)}, of("g", "g1")), "nobody", nil},
	{"all are of its priority", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), on("n", "a", 10)}, of("g", "g1")), "nobody", nil},
	{"nobody is there", parts([]any{mk.Group("g", 10, gang(2)), node("n", "1", "z")}, of("g", "g1", "g2")), "nobody", nil},
	{"the priority of a group exposes its pods", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 5, mk.AsAWhole), node("n", "1", "z"), node("m", "1", "z"),
		on("n", "a", 10, mk.Member("u")), on("m", "b", 10, mk.Member("u"))}, of("g", "g1")), "a+b", nil},
	{"the priority of a group protects its pods", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 10, mk.AsAWhole), node("n", "1", "z"), node("m", "1", "z"),
		on("n", "a", 1, mk.Member("u")), on("m", "b", 1, mk.Member("u"))}, of("g", "g1")), "nobody", nil},
	{"more of them than have to be placed", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"), node("q", "1", "z"),
		on("n", "a", 1), on("m", "b", 1), on("o", "c", 10), on("q", "d", 10)}, of("g", "g1", "g2", "g3")), "a+b", nil},
	{"members that need not be placed preempt, too", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 5, mk.AsAWhole, gang(1)), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"),
		on("n", "u1", 5, mk.Member("u")), on("m", "u2", 5, mk.Member("u")), on("o", "c", 1)}, of("g", "g1", "g2", "g3")), "c+u1+u2", nil},
	{"a group goes for some of them", parts([]any{mk.Group("g", 10, gang(1), mk.AsAWhole), mk.Group("u", 5, mk.AsAWhole, gang(2)), mk.Group("w", 10, mk.AsAWhole, gang(2)),
		node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"), node("q", "1", "z"),
		on("n", "u1", 5, mk.Member("u")), on("m", "u2", 5, mk.Member("u")), on("o", "w1", 10, mk.Member("w")), on("q", "w2", 10, mk.Member("w"))}, of("g", "g1", "g2", "g3")), "u1+u2", nil},
	{"more of them, without minCount", parts([]any{mk.Group("g", 10, basic), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"), node("q", "1", "z"),
		on("n", "a", 1), on("m", "b", 1), on("o", "c", 10), on("q", "d", 10)}, of("g", "g1", "g2", "g3")), "a+b", nil},
	{"all of them preempt, without minCount", parts([]any{mk.Group("g", 10, basic), mk.Group("u", 5, mk.AsAWhole, gang(1)), node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"),
		on("n", "u1", 5, mk.Member("u")), on("m", "u2", 5, mk.Member("u")), on("o", "c", 1)}, of("g", "g1", "g2", "g3")), "c+u1+u2", nil},
	{"a group goes for some of them, without minCount", parts([]any{mk.Group("g", 10, basic, mk.AsAWhole), mk.Group("u", 5, mk.AsAWhole, gang(2)), mk.Group("w", 10, mk.AsAWhole, gang(2)),
		node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"), node("q", "1", "z"),
		on("n", "u1", 5, mk.Member("u")), on("m", "u2", 5, mk.Member("u")), on("o", "w1", 10, mk.Member("w")), on("q", "w2", 10, mk.Member("w"))}, of("g", "g1", "g2", "g3")), "u1+u2", nil},
	{"a pod of lower priority than the others", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), on("n", "a", 1), on("n", "b", 5)}, of("g", "g1")), "a", nil},

	{"victims terminate where a member is nominated", parts([]any{mk.Group("g", 10, gang(2)), node("n", "2", "z"), node("m", "1", "z"), on("m", "b", 1),
		on("n", "a", 1, mk.ByPreemption), on("n", "c", 1), member("g1"), member("g2", mk.Nominated("n"))}), "ongoing", nil},
	{"what terminates is on a node that is gone, as is the nomination", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("s", 1, singly), node("n", "1", "z"), on("n", "b", 1),
		on("gone", "a", 1, mk.Member("s"), mk.ByPreemption), member("g1", mk.Nominated("gone"))}), "b", nil},
	{"what terminates is of a group of lower priority", parts([]any{mk.Group("g", 10, gang(2)), mk.Group("u", 1, mk.AsAWhole), node("n", "1", "z"),
		on("n", "a", 10, mk.Member("u"), mk.ByPreemption), member("g1"), member("g2", mk.Nominated("n"))}), "ongoing", nil},
	{"what terminates is of one that lets its pods go, of lower priority", parts([]any{mk.Group("g", 10, gang(2)), mk.Group("u", 1, singly), node("n", "1", "z"),
		on("n", "a", 10, mk.Member("u"), mk.ByPreemption), member("g1"), member("g2", mk.Nominated("n"))}), "ongoing", nil},
	{"a policy of Never of its own", parts([]any{mk.Group("g", 10, gang(1), policy("Never")), node("n", "1", "z"), ownPolicy(), on("n", "a", 1), member("g1", never), member("g2", never)}), "may not", nil},
	{"a policy of Never of its own, and groups", parts([]any{mk.Group("g", 10, gang(1), policy("Never")), mk.Group("s", 1, singly), node("n", "1", "z"), ownPolicy(),
		on("n", "a", 1, mk.Member("s")), member("g1", never), member("g2", never)}), "may not", nil},

	{"it fits", parts([]any{mk.Group("g", 10, gang(2)), node("n", "2", "z")}, of("g", "g1", "g2")), "fits", nil},
	{"enough of it fits", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z")}, of("g", "g1", "g2")), "fits", nil},
	{"too few are there", parts([]any{mk.Group("g", 10, gang(3)), node("n", "3", "z")}, of("g", "g1", "g2")), "waits", nil},
	{"just as many as there have to be, with one that runs", parts([]any{mk.Group("g", 10, gang(2)), node("n", "2", "z"), member("g0", mk.On("n"))}, of("g", "g1")), "fits", nil},
	{"one that runs counts", parts([]any{mk.Group("g", 10, gang(2)), node("n", "2", "z"), on("n", "a", 1), member("g0", mk.On("n"))}, of("g", "g1", "g2")), "a", nil},
	{"enough run already, and no more fit", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), on("n", "a", 1), member("g0", mk.On("n"))}, of("g", "g1")), "a", nil},
	{"a pod of another priority", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), mk.Pod("g1", 9, mk.Member("g"))}), "fails", nil},
	{"a pod of another priority before one of another policy", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), mk.Pod("g1", 9, mk.Member("g")), member("g2", never)}), "fails", nil},
	{"a pod of another policy before one of another priority", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), member("g1", never), member("g2"), mk.Pod("g3", 9, mk.Member("g"))}), "fails", nil},
	{"a pod of another priority that runs", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), mk.Pod("g0", 9, mk.Member("g"), mk.On("n"))}, of("g", "g1")), "fails", nil},
	{"pods of two policies", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), member("g1"), member("g2", never)}), "fails", nil},
	{"two fit where three have to", parts([]any{mk.Group("g", 10, gang(3)), node("n", "2", "z"), on("n", "a", 1)}, of("g", "g1", "g2", "g3")), "no help", nil},
	{"it is not helped, and loses its nomination", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"), on("n", "a", 1), on("n", "b", 10)}, []any{member("g1", mk.CPU("2"), mk.Nominated("n"))}),
		"no help", []string{"members-stay-nominated"}},
	{"pods that terminate for another reason are preempted", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"),
		on("n", "a", 1, mk.Terminating), on("n", "b", 1), member("g1", mk.CPU("2"), mk.Nominated("n"))}), "a+b", nil},
	{"a victim terminates already", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"),
		on("n", "a", 1, mk.ByPreemption), on("n", "b", 1), member("g1", mk.CPU("2"))}), "a+b", nil},
	{"a younger unit is given back after one that was not", parts([]any{mk.Group("g", 10, gang(1)), node("n", "2", "z"),
		on("n", "a", 1, mk.CPU("1500m")), on("n", "b", 1, mk.CPU("500m"), mk.Started(5))}, of("g", "g1")), "a", nil},
	{"the second member is in the way", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), node("m", "1", "z"), on("n", "a", 1), on("m", "b", 1)}, of("g", "g1", "g2")), "a+b", nil},
	{"both members are in the way on one node", parts([]any{mk.Group("g", 10, gang(2)), node("n", "2", "z"), on("n", "a", 1), on("n", "b", 1, mk.Started(2))}, of("g", "g1", "g2")), "a+b", nil},
	{"a nomination of another member takes no room", parts([]any{mk.Group("g", 10, gang(2)), node("n", "1", "z"), node("m", "1", "z"),
		member("g1", mk.Nominated("n")), member("g2", mk.Nominated("n"))}), "fits", nil},
	{"one had a place, and loses its nomination", parts([]any{mk.Group("g", 10, gang(2)), node("n", "1", "z"), on("n", "a", 1, mk.CPU("0")), member("g1", mk.Nominated("n")), member("g2")}), "no help", nil},
	{"a group is more important than an older pod", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 0, mk.AsAWhole), node("n", "2", "z"),
		on("n", "u1", 0, mk.Member("u"), mk.Started(5)), on("n", "a", 0)}, of("g", "g1")), "a", nil},
	{"a group of groups is more important than a larger, older one of pods", parts([]any{mk.Group("g", 10, gang(1)), mk.Composite("c", "", 0, true), mk.Group("h", 0, mk.PartOf("c")), mk.Group("u", 0, mk.AsAWhole),
		node("n", "2", "z"), node("m", "1", "z"), on("n", "h1", 0, mk.Member("h"), mk.Started(5)), on("n", "u1", 0, mk.Member("u")), on("m", "u2", 0, mk.Member("u"), mk.CPU("0"))},
		[]any{member("g1", only("n"))}), "u1+u2", nil},
	{"a larger group is more important than an older one", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 0, mk.AsAWhole), mk.Group("w", 0, mk.AsAWhole), node("n", "2", "z"), node("m", "1", "z"),
		on("n", "u1", 0, mk.Member("u"), mk.Started(5)), on("m", "u2", 0, mk.Member("u"), mk.Started(5)), on("n", "w1", 0, mk.Member("w"))}, []any{member("g1", only("n"))}), "w1", nil},
	{"a group is as old as its first pod", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 0, mk.AsAWhole), mk.Group("w", 0, mk.AsAWhole), node("n", "2", "z"), node("m", "2", "z"),
		on("n", "u1", 0, mk.Member("u"), mk.Started(9)), on("m", "u2", 0, mk.Member("u")), on("n", "w1", 0, mk.Member("w"), mk.Started(5)), on("m", "w2", 0, mk.Member("w"), mk.Started(5))},
		[]any{member("g1", only("n"))}), "w1+w2", nil},
	{"a group without a priority has 0", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("s", 0, noPriority), node("n", "1", "z"), on("n", "a", 20, mk.Member("s"))}, of("g", "g1")), "a", nil},
	{"all children of a group of groups go together", parts([]any{mk.Group("g", 10, gang(1)), mk.Composite("c", "", 0, true), mk.Group("h", 0, mk.PartOf("c")), mk.Group("i", 0, mk.PartOf("c")),
		node("n", "1", "z"), node("m", "1", "z"), on("n", "h1", 0, mk.Member("h")), on("m", "i1", 0, mk.Member("i"))}, []any{member("g1", only("n"))}), "h1+i1", nil},
	{"pods of a group that does not exist go by themselves", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), node("m", "1", "z"),
		on("n", "a", 0, mk.Member("no")), on("m", "b", 0, mk.Member("no"))}, []any{member("g1", only("n"))}), "a", nil},
	{"nor does it in a group of priority 0", parts([]any{mk.Group("g", 0, gang(1)), node("n", "1", "z", onePod), on("n", "a", -1)},
		[]any{mk.Pod("g1", 0, mk.Member("g"), mk.Nominated("n")), mk.Pod("g2", 0, mk.Member("g"), mk.Nominated("n"))}), "no help",
		[]string{"members-stay-nominated", "own-nominations-count"}},
	{"a lower nomination is withdrawn", parts([]any{mk.Group("g", 10, gang(1)), node("n", "1", "z"), on("n", "a", 1), mk.Pod("low", 5, mk.CPU("1"), mk.Nominated("n"))}, of("g", "g1")),
		"a", []string{"group-keeps-lower-nominations"}},
	{"what only a victim stands for", parts([]any{mk.Group("g", 10, gang(1)), node("n", "4", "z"), on("n", "a", 1, mk.Away(v1.LabelHostname, "x")), member("g1", mk.App("x"))}),
		"none", []string{"skipped-plugins-stay-skipped"}},
	{"two groups of one", parts([]any{tree(2), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), node("m", "1", "z"), on("n", "a", 1), on("m", "b", 1)}, of("g", "g1"), of("h", "h1")), "a+b", nil},
	{"two groups of one that fit", parts([]any{tree(2), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), node("m", "1", "z")}, of("g", "g1"), of("h", "h1")), "fits", nil},
	{"one of the groups is not there yet", parts([]any{tree(2), leaf("g", 1), leaf("h", 2), node("n", "3", "z")}, of("g", "g1"), of("h", "h1")), "waits", nil},
	{"one group is enough, and the other is not there yet", parts([]any{tree(1), leaf("g", 1), leaf("h", 2), node("n", "1", "z"), on("n", "a", 1)}, of("g", "g1"), of("h", "h1")), "a", nil},
	{"a group that runs counts", parts([]any{tree(2), leaf("g", 1), leaf("h", 1), node("n", "2", "z"), on("n", "a", 1), on("n", "h1", 10, mk.Member("h"))}, of("g", "g1")), "a", nil},
	{"a group that runs in part counts not", parts([]any{tree(2), leaf("g", 1), leaf("h", 2), node("n", "2", "z"), on("n", "a", 1), on("n", "h1", 10, mk.Member("h"))}, of("g", "g1"), []any{mk.Pod("h2", 10, mk.Member("h"), mk.CPU("3"))}), "no help", nil},
	{"what a group that fails had is free for the next", parts([]any{tree(1), leaf("g", 2), leaf("h", 1), node("n", "1", "z")}, of("g", "g1", "g2"), of("h", "h1")), "fits", nil},
	{"policy basic of groups", parts([]any{tree(0), leaf("g", 1), leaf("h", 1), node("n", "1", "z"), on("n", "a", 1)}, of("g", "g1"), of("h", "h1")), "a", nil},
	{"a group of groups of a group of groups", parts([]any{tree(1), mk.Composite("in", "c", 10, false), leaf("g", 1), mk.Group("h", 10, gang(1), mk.PartOf("in")), node("n", "1", "z"), on("n", "a", 20)}, of("g", "g1"), of("h", "h1")), "nobody", nil},
	{"units are not preempted for a group that fails", parts([]any{tree(1), leaf("g", 1), leaf("h", 2), node("n", "1", "z"), node("m", "1", "y"), on("n", "a", 1), on("m", "b", 1)}, []any{mk.Pod("g1", 10, mk.Member("g"), mk.CPU("1"), only("n")),
		mk.Pod("h1", 10, mk.Member("h"), mk.CPU("1"), only("m")), mk.Pod("h2", 10, mk.Member("h"), mk.CPU("1"), only("m"))}), "a+b", []string{"preempts-for-unscheduled-groups"}},
	{"a unit on three nodes", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 1, mk.AsAWhole), node("n", "2", "z"), node("m", "1", "z"), node("o", "1", "z"),
		on("m", "u1", 1, mk.Member("u")), on("n", "u2", 1, mk.Member("u"), mk.CPU("2")), on("o", "u3", 1, mk.Member("u")), on("o", "w", 20)}, []any{member("g1", mk.CPU("2"))}), "u1+u2+u3", nil},
}

// onePod has a node hold one pod at most.
func onePod(n *v1.Node) {
	n.Status.Allocatable[v1.ResourcePods] = mk.Resources("pods", "1")[v1.ResourcePods]
}

// gangCluster makes such a cluster.
func gangCluster(of gangCase) *model.Cluster {
	objects := of.objects
	if !slices.ContainsFunc(objects, func(o any) bool { _, is := o.(model.Settings); return is }) {
		objects = append(slices.Clip(objects), mk.WithGroups())
	}
	c := mk.Cluster(nil, objects...)
	c.PreemptorGroup = c.RootOf(c.Pods[slices.IndexFunc(c.Pods, func(p *v1.Pod) bool { return p.Name == "g1" })])
	return c
}

// cameOf says what came of a pod group, as gangs do.
func cameOf(o *model.Observation) string {
	g := o.Group
	switch {
	case g.Waits != "":
		return "waits"
	case o.CycleError != "":
		return "fails"
	case g.Ongoing:
		return "ongoing"
	case g.Eligible == nil:
		return "fits"
	case !g.Eligible.OK:
		return "may not"
	case g.SecondCalls == 0:
		return "nobody"
	case len(g.Placed) == 0:
		return "no help"
	case len(g.Victims) == 0:
		return "none"
	}
	var names []string
	for _, key := range g.Victims {
		names = append(names, strings.TrimPrefix(key, "default/"))
	}
	slices.Sort(names)
	return strings.Join(names, "+")
}

// ofPods are the mutants that are wrong only about the dry run on a node.
var ofPods = []string{
	"units: the pods on other nodes stay", "units: constraints find the pods that are gone from other nodes",
	"units: one violating pod does not make a group violate", "units: a group violates once",
}

// kube-scheduler preempts for pod groups as the documents tell, but for what is known, and each model that is wrong about
// them in one place shows.
func TestGangsPreempt(t *testing.T) {
	checker := checktest.Checker(t, groups.All()...)
	alive := slices.DeleteFunc(slices.Concat(mutant.OfGangs(), mutant.OfGroups()), func(m mutant.Mutant) bool { return slices.Contains(ofPods, m.Name) })
	for _, tt := range slices.Concat(gangs, zonedGangs, claimingGangs) {
		t.Run(tt.name, func(t *testing.T) {
			r, err := checker.Check(context.Background(), gangCluster(tt))
			require.NoError(t, err)
			require.Empty(t, r.Unmodelled)
			require.Empty(t, r.Unexplained())
			var known []string
			for _, f := range r.Findings {
				known = append(known, f.Known...)
			}
			slices.Sort(known)
			assert.ElementsMatch(t, tt.known, slices.Compact(known))
			assert.Contains(t, strings.Split(tt.want, " or "), cameOf(r.Observation))
			alive = slices.DeleteFunc(alive, func(m mutant.Mutant) bool {
				d, err := m.DecideGroup(r.Cluster)
				return len(tt.known) == 0 && (err != nil || d.Admits(r.Observation) != nil)
			})
		})
	}
	for _, m := range alive {
		t.Errorf("not caught: %s", m.Name)
	}
}

// What is known of one member of a group hides nothing of the members after it, nor makes a finding of what cannot be decided of them.
func TestKnownBeforeUndecided(t *testing.T) {
	s, err := corpus.Load("testdata/known-before-undecided.yaml")
	require.NoError(t, err)
	whole := s.Cases[0].Cluster
	checker := checktest.Checker(t)
	r, err := checker.Check(t.Context(), whole)
	require.NoError(t, err)
	require.Empty(t, r.Unexplained())
	require.Contains(t, r.Undecided, "Pod default/c")

	without := *whole // the member that is undecided
	without.Pods = slices.DeleteFunc(slices.Clone(whole.Pods), func(p *v1.Pod) bool { return p.Name == "c" })
	r, err = checker.Check(t.Context(), &without)
	require.NoError(t, err)
	require.Empty(t, r.Undecided)
	require.Len(t, r.Findings, 1)
	require.Equal(t, []string{"sharer-swaps-devices"}, r.Findings[0].Known)
}
