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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/groups"
)

// integrated are the rows of upstream's integration tests TestPodGroupPreemption and TestCompositePodGroupPreemption
// (test/integration/scheduler/preemption/podgroup/podgrouppreemption_test.go:60@v1.37.1 and 1546), in their order, as the one cycle in which it is
// decided who goes; names in brackets tell how rows with several cycles are split. Of the rows that differ in the preemption policy of
// the same cluster each is here. Two are not: their Reserve plugin is not one of Kubernetes. Where a plugin of theirs scores the nodes, the pods prefer a node here.
// The preemptor is the group of g1, or the pod p.
func integrated() []gangCase {
	one, two, three := of("g", "g1"), of("g", "g1", "g2"), of("g", "g1", "g2", "g3")
	low := func(node string, names ...string) (pods []any) {
		for _, name := range names {
			pods = append(pods, on(node, name, 1))
		}
		return pods
	}
	in := func(group string, node string, names ...string) (pods []any) {
		for _, name := range names {
			pods = append(pods, on(node, name, 1, mk.Member(group)))
		}
		return pods
	}
	spent := mk.Budget("b", 0, mk.ForApp("x"))
	foo := mk.App("x")
	n3 := node("n", "3", "z")
	four := []any{node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "z"), node("q", "1", "z")}
	high := []any{on("n", "a", 1), on("m", "b", 1), on("o", "c", 20), on("q", "d", 20)}
	whole := []any{mk.Group("u", 5, mk.AsAWhole, gang(2)), mk.Group("w", 20, mk.AsAWhole, gang(2)),
		on("n", "u1", 5, mk.Member("u")), on("m", "u2", 5, mk.Member("u")), on("o", "w1", 20, mk.Member("w")), on("q", "w2", 20, mk.Member("w"))}
	nevers := []any{member("g1", never), member("g2", never), member("g3", never)}
	spreadN := func(name string) *v1.Pod {
		return member(name, foo, only("n"), func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 2, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.DoNotSchedule,
				LabelSelector: mk.ForApp("x"), MinDomains: new(int32(10))}}
		})
	}
	hosts := []any{node("n", "16", "z"), node("m", "16", "z")}
	avoids := func(p *v1.Pod) {
		mk.Away(v1.LabelHostname, "")(p)
		term := &p.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0]
		term.LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}}
	}
	prefers := func(p *v1.Pod) {
		p.Spec.Affinity = &v1.Affinity{NodeAffinity: &v1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.PreferredSchedulingTerm{{Weight: 100,
			Preference: v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{{Key: v1.LabelHostname, Operator: v1.NodeSelectorOpIn, Values: []string{"n"}}}}}}}}
	}
	fond := []any{member("g1", prefers), member("g2", prefers), member("g3", prefers)}
	port := func(p *v1.Pod) {
		p.Spec.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
	}
	ofPod := func(cpu string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			p.Spec.Containers = []v1.Container{{Name: "c"}}
			p.Spec.Resources = &v1.ResourceRequirements{Requests: mk.Resources("cpu", cpu)}
		}
	}
	twos := []any{node("n", "2", "z"), node("m", "2", "z")}
	zones := []any{node("n", "1", "z"), node("m", "1", "z"), node("o", "1", "y"), node("q", "1", "y")}
	p := func(change ...func(*v1.Pod)) *v1.Pod { return mk.Pod("p", 10, change...) }
	all, single := mk.Composite("c", "", 1, true), mk.Composite("c", "", 1, false)
	under := func(parent, name string, minCount, priority int32, change ...func(*schedulingv1beta1.PodGroup)) *schedulingv1beta1.PodGroup {
		return mk.Group(name, priority, append(change, gang(minCount), mk.PartOf(parent))...)
	}
	of2 := parts(twos, in("u", "n", "u1"), in("u", "m", "u2"), in("w", "m", "w1"), []any{p(mk.CPU("2"), only("n"))})
	// policyOf is what all of a tree say about preempting others.
	policyOf := func(policy schedulingv1beta1.PreemptionPolicy) (objects []any) {
		c := tree(0)
		c.Spec.PreemptionPolicy = new(schedulingv1alpha3.PreemptionPolicy(policy))
		for _, g := range []*schedulingv1beta1.PodGroup{leaf("g", 2), leaf("h", 1)} {
			g.Spec.PreemptionPolicy = &policy
			objects = append(objects, g)
		}
		return append(objects, c, ownPolicy(), n3)
	}
	says := func(policy v1.PreemptionPolicy) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Spec.PreemptionPolicy = &policy }
	}
	lower := says(v1.PreemptLowerPriority)
	full := low("n", "a", "b", "c")
	return []gangCase{
		{"Full PodGroup Preemption", parts([]any{mk.Group("g", 10, gang(3)), n3}, full, three), "a+b+c", nil},
		{"Full PodGroup Preemption for basic policy", parts([]any{mk.Group("g", 10, basic), n3}, full, three), "a+b+c", nil},
		{"Partial Preemption", parts(twos, []any{mk.Group("g", 10, gang(3)), on("n", "a", 1, mk.CPU("2")), on("m", "b", 1)}, fond), "a", nil},
		{"Partial Preemption with basic policy [two are bound]", parts(twos, []any{mk.Group("g", 10, basic), on("n", "a", 1), on("m", "b", 0)}, three), "fits", nil},
		{"Partial Preemption with basic policy [the third]", parts(twos, []any{mk.Group("g", 10, basic), on("n", "a", 1), on("m", "b", 0), member("g2", mk.On("n")), member("g3", mk.On("m"))}, fond[:1]), "a", nil},
		{"PDB Violation Handling (Reprieve)", parts([]any{mk.Group("g", 10, gang(2)), n3, spent, on("n", "a", 1, foo), on("n", "b", 1, foo), on("n", "c", 1), member("g1", mk.CPU("500m")), member("g2", mk.CPU("500m"))}), "c", nil},
		{"Multi-node Preemption", parts(twos, []any{mk.Group("g", 10, gang(4))}, low("n", "a", "b"), low("m", "c", "d"), of("g", "g1", "g2", "g3", "g4")), "a+b+c+d", nil},
		{"Insufficient Resources (No Preemption)", parts([]any{mk.Group("g", 10, gang(3)), n3, on("n", "a", 50)}, low("n", "b", "c"), three), "no help", nil},
		{"Priority-based Victim Selection", parts([]any{mk.Group("g", 10, gang(2)), n3, on("n", "a", 5)}, low("n", "b", "c"), two), "b+c", nil},
		{"Preempt the whole PodGroup even if preempting a single Pod would suffice", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 1, mk.AsAWhole, gang(3)), n3}, in("u", "n", "u1", "u2", "u3"), one), "u1+u2+u3", nil},
		{"Preempt the whole basic PodGroup with a PodGroup disruption mode", parts([]any{mk.Group("g", 10, gang(1)), mk.Group("u", 1, mk.AsAWhole, basic), n3}, in("u", "n", "u1", "u2", "u3"), one), "u1+u2+u3", nil},
		{"Gang scheduling: schedule as many pods as possible without preempting higher priority pods, but still more than minCount", parts([]any{mk.Group("g", 10, gang(1))}, four, high, three), "a+b", nil},
		{"Gang scheduling: do not reprieve victim pod group of lower priority", parts([]any{mk.Group("g", 10, gang(3)), mk.Group("u", 5, mk.AsAWhole, gang(1))}, four[:3], whole[2:4], []any{on("o", "c", 1)}, three), "c+u1+u2", nil},
		{"Gang scheduling: preempt a pod group victim but do not schedule full pod group", parts([]any{mk.Group("g", 10, gang(1), mk.AsAWhole)}, four, whole, three), "u1+u2", nil},
		{"Basic scheduling: schedule as many pods as possible without preempting higher priority pods", parts([]any{mk.Group("g", 10, basic)}, four, high, three), "a+b", nil},
		{"Basic scheduling: do not reprieve victim pod group of lower priority", parts([]any{mk.Group("g", 10, basic), mk.Group("u", 5, mk.AsAWhole, gang(1))}, four[:3], whole[2:4], []any{on("o", "c", 1)}, three), "c+u1+u2", nil},
		{"Basic scheduling: preempt a pod group victim but do not schedule full pod group", parts([]any{mk.Group("g", 10, basic, mk.AsAWhole)}, four, whole, three), "u1+u2", nil},
		{"PodGroup with PreemptNever preemption policy does not perform preemption, with PodGroupPreemptionPolicy enabled", parts([]any{mk.Group("g", 10, gang(3), policy("Never")), ownPolicy(), n3}, full, nevers), "may not", nil},
		{"PodGroup with PreemptLowerPriority preemption policy performs preemption, with PodGroupPreemptionPolicy enabled", parts([]any{mk.Group("g", 10, gang(3), policy("PreemptLowerPriority")), ownPolicy(), n3}, full, three), "a+b+c", nil},
		{"PodGroup with default preemption policy performs preemption, with PodGroupPreemptionPolicy enabled", parts([]any{mk.Group("g", 10, gang(3)), ownPolicy(), n3}, full, three), "a+b+c", nil},
		{"PodGroup with PreemptNever preemption policy in all pods does not perform preemption, with PodGroupPreemptionPolicy disabled", parts([]any{mk.Group("g", 10, gang(3)), n3}, full, nevers), "may not", nil},
		{"Gang scheduling: preemption with node resources", parts(twos, []any{mk.Group("g", 10, gang(2)), on("n", "a", 1, mk.CPU("2")), member("g1", mk.CPU("2")), member("g2", mk.CPU("2"))}), "a", nil},
		{"Gang scheduling: preemption with node resources, prioritizes reprieval of higher priority pods", parts(twos, []any{mk.Group("g", 10, gang(2)), on("n", "a", 0), on("n", "b", 1), member("g1", only("n")), member("g2", only("m"))}), "a", nil},
		{"Gang scheduling: preemption with pod level resources", parts(twos, []any{mk.Group("g", 10, gang(2)), on("n", "a", 1, foo, ofPod("2")), member("g1", ofPod("2"), avoids), member("g2", ofPod("2"), avoids)}), "a", nil},
		{"Gang scheduling: preemption with pod anti-affinity constraints", parts(twos, []any{mk.Group("g", 10, gang(2)), on("n", "a", 1, foo, mk.CPU("250m")), member("g1", mk.CPU("1500m"), avoids), member("g2", mk.CPU("1500m"), avoids)}), "a", nil},
		{"Gang scheduling: preemption with pod node port", parts(twos, []any{mk.Group("g", 10, gang(2)), on("n", "a", 1, mk.CPU("250m"), port), member("g1", mk.CPU("1500m"), port), member("g2", mk.CPU("1500m"), port)}), "a", nil},
		{"Gang scheduling: preemption with pod topology spread constraints", parts(hosts, []any{mk.Group("g", 10, gang(2)), on("n", "a", 1, foo), spreadN("g1"), spreadN("g2")}), "a", nil},
		{"Gang scheduling: preemption with pod topology spread constraints, single reprieve", parts(hosts, []any{mk.Group("g", 10, gang(2)), on("n", "a", 1, foo), on("m", "b", 0, foo), spreadN("g1"), spreadN("g2")}), "a", nil},
		{"Binding first before preemption for gang policy [one is bound]", parts([]any{mk.Group("g", 10, gang(2)), node("n", "4", "z"), on("n", "a", 1), member("g3", mk.On("n")), member("g4", mk.On("n"))}, two), "fits", nil},
		{"Binding first before preemption for gang policy [the other]", parts([]any{mk.Group("g", 10, gang(2)), node("n", "4", "z"), on("n", "a", 1), member("g2", mk.On("n")), member("g3", mk.On("n")), member("g4", mk.On("n"))}, one), "a", nil},
		{"Binding first before preemption for basic policy [one is bound]", parts([]any{mk.Group("g", 10, basic), node("n", "4", "z"), on("n", "a", 1), member("g3", mk.On("n")), member("g4", mk.On("n"))}, two), "fits", nil},
		{"Binding first before preemption for basic policy [the other]", parts([]any{mk.Group("g", 10, basic), node("n", "4", "z"), on("n", "a", 1), member("g2", mk.On("n")), member("g3", mk.On("n")), member("g4", mk.On("n"))}, one), "a", nil},
		{"Topology-Aware Preemption: single topology domain", parts([]any{zoned(2)}, zones[:2], low("n", "a"), low("m", "b"), two), "a+b", nil},
		{"Topology-Aware Preemption: two topologies, only one eligible", parts([]any{zoned(2)}, zones, high, two), "a+b", nil},
		{"Topology-Aware Preemption: two topologies, both eligible, selects higher scored topology", parts([]any{zoned(2)}, zones, low("n", "a"), low("m", "b"), low("o", "c"), low("q", "d"), two), "a+b or c+d", nil},
		{"Topology-Aware Preemption: insufficient capacity across all topologies, no preemption performed", parts([]any{zoned(2)}, zones, []any{on("n", "a", 1), on("m", "b", 20), on("o", "c", 1), on("q", "d", 20)}, two), "no help", nil},

		{"CPG Partial Preemption", parts(twos, []any{tree(0), leaf("g", 3), ownPolicy(), on("n", "a", 1, mk.CPU("2")), on("m", "b", 1)}, fond), "a", nil},
		{"CPG Victim Across Multiple Nodes, CPG DisruptionModeAll", parts([]any{all, under("c", "u", 2, 1), under("c", "w", 1, 1)}, of2), "u1+u2+w1", nil},
		{"CPG Victim Across Multiple Nodes, CPG DisruptionModeSingle", parts([]any{single, under("c", "u", 2, 1, singly), under("c", "w", 1, 1, singly)}, of2), "u1", nil},
		{"CPG Preemption aborted if victim yields insufficient resources", parts([]any{single, under("c", "u", 1, 1), node("n", "2", "z"), p(mk.CPU("3"))}, in("u", "n", "u1")), "nobody", nil},
		{"CPG Tie-Breaking: PodGroup chosen over CompositePodGroup", parts([]any{mk.Group("g", 10, gang(1)), all, mk.Group("u", 1, gang(1)), under("c", "w", 1, 1), node("n", "2", "z")}, in("u", "n", "u1"), in("w", "n", "w1"), one), "u1", nil},
		{"Scheduler targets lower-priority CPG over higher-priority CPG", parts([]any{single, mk.Composite("d", "", 2, false), under("c", "u", 1, 1), under("d", "w", 1, 2), n3, on("n", "u1", 1, mk.Member("u")), on("n", "w1", 2, mk.Member("w")), p(mk.CPU("2"))}), "u1", nil},
		{"PDB Violation reprieves the entire CPG victim (DisruptionModeAll)", parts([]any{all, mk.Composite("d", "", 1, true), under("c", "u", 2, 1), under("d", "w", 1, 1), n3, spent,
			on("n", "u1", 1, mk.Member("u"), foo), on("n", "u2", 1, mk.Member("u"), foo), on("n", "w1", 1, mk.Member("w")), p(mk.CPU("1"))}), "w1", nil},
		{"PDB Violation reprieves only the child PG (DisruptionModeSingle)", parts([]any{single, under("c", "u", 2, 1, singly), under("c", "w", 1, 1, singly), n3, spent,
			on("n", "u1", 1, mk.Member("u"), foo), on("n", "u2", 1, mk.Member("u"), foo), on("n", "w1", 1, mk.Member("w")), p(mk.CPU("1"))}), "w1", nil},
		{"3-Level Nested CPG resolves DisruptionMode up to the grandparent", parts([]any{all, mk.Composite("d", "c", 1, false), under("d", "u", 2, 1, singly), under("d", "w", 1, 1, singly)}, of2), "u1+u2+w1", nil},
		{"Hierarchical DisruptionMode - Grandparent Single, Parent All", parts([]any{single, mk.Composite("d", "c", 1, true), under("d", "u", 2, 1, singly), under("c", "w", 1, 1, singly)}, of2), "u1+u2", nil},
		{"CPG with default preemption policy performs preemption, with PodGroupPreemptionPolicy enabled", parts([]any{tree(0), leaf("g", 3), ownPolicy(), n3}, full, three), "a+b+c", nil},
		{"CPG with PreemptNever Policy", parts(policyOf("Never"), full, nevers[:2], []any{mk.Pod("h1", 10, mk.Member("h"), mk.CPU("1"), never)}), "may not", nil},
		{"CPG with PreemptLowerPriority Policy", parts(policyOf("PreemptLowerPriority"), full, []any{member("g1", lower), member("g2", lower), mk.Pod("h1", 10, mk.Member("h"), mk.CPU("1"), lower)}), "a+b+c", nil},
		{"CPG PreemptionPolicy PreemptNever prevents preemption", parts(policyOf("Never"), full, []any{member("g1", never, mk.CPU("2")), member("g2", never)}), "may not", nil},
		{"CPG PreemptionPolicy PreemptLowerPriority allows preemption", parts(policyOf("PreemptLowerPriority"), full, []any{member("g1", lower, mk.CPU("2")), member("g2", lower)}), "a+b+c", nil},
		{"CPG with PreemptNever preemption policy in all pods does not perform preemption, with PodGroupPreemptionPolicy disabled", parts([]any{tree(0), leaf("g", 3), n3}, full, nevers), "may not", nil},
		{"CPG Gang scheduling: preemption with pod anti-affinity constraints", parts(twos, []any{tree(0), leaf("g", 2), ownPolicy(), on("n", "a", 1, foo, mk.CPU("250m")), member("g1", mk.CPU("1500m"), avoids), member("g2", mk.CPU("1500m"), avoids)}), "a", nil},
		{"CPG Gang scheduling: preemption with pod node port", parts(twos, []any{tree(0), leaf("g", 2), ownPolicy(), on("n", "a", 1, mk.CPU("250m"), port), member("g1", mk.CPU("1500m"), port), member("g2", mk.CPU("1500m"), port)}), "a", nil},
		{"Binding first before preemption for gang policy", parts(twos, []any{mk.Composite("d", "", 1, false), tree(1), under("d", "u", 4, 1), leaf("g", 4)}, in("u", "n", "u1"), in("u", "m", "u2"), of("g", "g1", "g2", "g3", "g4")), "u1+u2", nil},
		{"Binding first before preemption for CPG", parts(twos, []any{mk.Composite("d", "", 1, false), tree(0), under("d", "u", 4, 1), leaf("g", 4)}, in("u", "n", "u1"), in("u", "m", "u2"), of("g", "g1", "g2", "g3", "g4")), "u1+u2", nil},
		{"CPG Missing Parent Reference Fallback", parts([]any{tree(0), under("gone", "u", 2, 1), leaf("g", 2), node("n", "2", "z")}, in("u", "n", "u1", "u2"), two), "u1+u2", nil},
	}
}

// preempts tells who goes for the pod p, as cameOf does for groups.
func preempts(o *model.Observation) string {
	if o.Pick == nil {
		return "nobody"
	}
	var names []string
	for _, key := range o.Pick.Victims {
		names = append(names, strings.TrimPrefix(key, "default/"))
	}
	slices.Sort(names)
	return strings.Join(names, "+")
}

func TestIntegrationOfUpstream(t *testing.T) {
	checker := checktest.Checker(t, groups.All()...)
	for _, tt := range integrated() {
		t.Run(tt.name, func(t *testing.T) {
			c, came := (*model.Cluster)(nil), cameOf
			if at := slices.IndexFunc(tt.objects, func(o any) bool { p, is := o.(*v1.Pod); return is && p.Name == "p" }); at >= 0 {
				p := tt.objects[at].(*v1.Pod)
				c, came = mk.Cluster(p, append(slices.Delete(slices.Clone(tt.objects), at, at+1), mk.WithGroups())...), preempts
			} else {
				c = gangCluster(tt)
			}
			r, err := checker.Check(context.Background(), c)
			require.NoError(t, err)
			require.Empty(t, r.Unmodelled)
			assert.Empty(t, r.Findings)
			assert.Contains(t, strings.Split(tt.want, " or "), came(r.Observation))
		})
	}
}
