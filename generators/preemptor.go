package generators

import (
	"math"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// preemptor draws the pod that the cluster is about.
func (g *generator) preemptor() *v1.Pod {
	plan := pod{size: g.need, priority: preemptorPriority(g.source, g.ranks), start: -1}
	if g.forms && g.chance(50) {
		plan.form = form(g.intn(int(formCount)))
	}
	if g.noPriority && (plan.priority == 0 || g.chance(10)) {
		plan.priority, plan.noPriority = 0, true
	}
	if g.budgets || g.spread || g.podAffinity {
		plan.labels = g.intn(len(podLabels))
		if g.bottleneck == bySpread && g.chance(75) {
			plan.labels = 1
		}
	}
	if g.roomy {
		plan.labels = 3 // most selectors select these
	}
	if g.bottleneck == byHostPort {
		plan.hostPorts = []int{0}
	} else if g.hostPorts && g.chance(50) {
		plan.hostPorts = []int{g.intn(len(ports))}
	}
	plan.otherSpace = g.namespaces && g.chance(20)
	if g.volumes {
		plan.volumes = g.preemptorVolumes()
	}

	p := g.render("preemptor", &plan)
	if g.chance(3) {
		p.Spec.PreemptionPolicy = new(v1.PreemptNever)
	}
	if g.taints {
		for range g.intn(3) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, pick(g.source, tolerations...))
		}
	}
	if g.compared && g.chance(80) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, pick(g.source, comparisons...))
	}
	if g.nodeLabels && g.chance(75) {
		g.selectNodes(&p.Spec)
	}
	if g.spread {
		g.spreadOver(p)
	}
	if g.declared && g.chance(75) {
		g.needFeature(&p.Spec)
	}
	if g.podAffinity {
		if g.chance(60) && !(g.roomy && g.chance(60)) {
			g.attach(p)
		}
		if g.chance(30) || g.roomy && g.chance(50) {
			g.shun(p)
		}
	}
	if g.nominated && g.chance(25) || g.terminating && g.chance(30) {
		p.Status.NominatedNodeName = g.someNode()
	}
	return p
}

// selectNodes makes the pod choosy about nodes.
func (g *generator) selectNodes(spec *v1.PodSpec) {
	if g.chance(30) {
		spec.NodeSelector = map[string]string{"zone": "a"}
		if g.chance(20) {
			spec.NodeSelector = map[string]string{"disk": "ssd"}
		}
		if g.chance(60) {
			return
		}
	}
	terms := make([]v1.NodeSelectorTerm, 1+weighted(g.source, 60, 30, 10))
	for i := range terms {
		terms[i] = g.nodeTerm()
	}
	if g.home < len(g.nodes) && g.chance(65) {
		terms[0] = isNode(NodeName(g.home))
	}
	affinityOf(spec).NodeAffinity = &v1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &v1.NodeSelector{NodeSelectorTerms: terms},
	}
}

// isNode selects one node by its name.
func isNode(name string) v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{MatchFields: []v1.NodeSelectorRequirement{
		{Key: metav1.ObjectNameField, Operator: v1.NodeSelectorOpIn, Values: []string{name}}}}
}

// isLabelled selects the nodes with a label.
func isLabelled(key, value string) v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{MatchExpressions: []v1.NodeSelectorRequirement{
		{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}}
}

// nodeTerm draws a term of node affinity. A term without requirements matches
// no node.
func (g *generator) nodeTerm() (term v1.NodeSelectorTerm) {
	switch weighted(g.source, 75, 20, 5) {
	case 0:
		term.MatchExpressions = g.nodeExpressions()
	case 1:
		for range 1 + weighted(g.source, 75, 25) {
			operator := v1.NodeSelectorOpIn
			if g.chance(35) {
				operator = v1.NodeSelectorOpNotIn
			}
			term.MatchFields = append(term.MatchFields, v1.NodeSelectorRequirement{
				Key: metav1.ObjectNameField, Operator: operator, Values: []string{g.someNode()}})
		}
		if g.chance(25) {
			term.MatchExpressions = g.nodeExpressions()
		}
	}
	return term
}

func (g *generator) nodeExpressions() []v1.NodeSelectorRequirement {
	requirements := make([]v1.NodeSelectorRequirement, 1+weighted(g.source, 70, 30))
	for i := range requirements {
		requirements[i] = pick(g.source,
			v1.NodeSelectorRequirement{Key: "zone", Operator: v1.NodeSelectorOpIn, Values: []string{"a", "b"}},
			v1.NodeSelectorRequirement{Key: "zone", Operator: v1.NodeSelectorOpNotIn, Values: []string{"b"}},
			v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpDoesNotExist},
			v1.NodeSelectorRequirement{Key: "generation", Operator: v1.NodeSelectorOpLt, Values: []string{"3"}},
			v1.NodeSelectorRequirement{Key: "disk", Operator: v1.NodeSelectorOpExists},
			v1.NodeSelectorRequirement{Key: "generation", Operator: v1.NodeSelectorOpGt, Values: []string{"1"}},
			v1.NodeSelectorRequirement{Key: "zone", Operator: v1.NodeSelectorOpIn, Values: []string{"a"}},
		)
	}
	return requirements
}

// waiting draws the pods that are not bound: nominated ones, mostly.
func (g *generator) waiting(preemptor *v1.Pod) []*v1.Pod {
	var pods []*v1.Pod
	add := func() *v1.Pod {
		plan := g.drawPod()
		plan.start, plan.end, plan.resize, plan.noPriority = -1, alive, notResized, false
		for r := range plan.size {
			if g.need[r] > 0 && g.chance(50) {
				plan.size[r] = 1 + g.intn(g.need[r])
			}
		}
		near := int64(model.Priority(preemptor)) + int64(pick(g.source, 0, -1, 1))
		plan.priority = int32(min(max(near, math.MinInt32), math.MaxInt32))
		p := g.render(numbered("waiting", len(pods)), &plan)
		pods = append(pods, p)
		return p
	}
	if g.nominated && g.chance(85) {
		for range 1 + weighted(g.source, 55, 30, 15) {
			p := add()
			p.Status.NominatedNodeName = g.someNode()
			if g.others && g.chance(40) {
				p.Spec.SchedulerName = otherScheduler
			}
		}
	}
	if g.others {
		add()
	}
	return pods
}
