package generators

import (
	"math"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/generators/volumes"
	"github.com/preemptcheck/preemptcheck/model"
)

// preemptor draws the pod that the cluster is about.
func (g *generator) preemptor() *v1.Pod {
	plan := pod{size: g.need, priority: preemptorPriority(g.Source, g.ranks), start: -1}
	if g.forms && g.Chance(50) {
		plan.form = form(g.Intn(int(formCount)))
	}
	if g.noPriority && (plan.priority == 0 || g.Chance(10)) {
		plan.priority, plan.noPriority = 0, true
	}
	if g.budgets || g.spread || g.podAffinity {
		plan.labels = g.Intn(len(podLabels))
		if g.bottleneck == bySpread && g.Chance(75) {
			plan.labels = 1
		}
	}
	if g.roomy {
		plan.labels = 3 // most selectors select these
	}
	if g.bottleneck == byHostPort {
		plan.hostPorts = []int{0}
	} else if g.hostPorts && g.Chance(50) {
		plan.hostPorts = []int{g.Intn(len(ports))}
	}
	plan.otherSpace = g.namespaces && g.Chance(20)
	if g.volumes {
		plan.volumes = g.mounts.OfPreemptor()
	}

	p := g.render("preemptor", &plan)
	if g.Chance(2) {
		p.Spec.PreemptionPolicy = new(v1.PreemptNever)
	}
	if g.taints {
		for range g.Intn(3) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, draw.Pick(g.Source, tolerations...))
		}
	}
	if g.compared && g.Chance(80) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, draw.Pick(g.Source, comparisons...))
	}
	if g.nodeLabels && g.Chance(75) {
		g.selectNodes(&p.Spec)
	}
	if g.spread {
		g.spreadOver(p)
	}
	if g.declared && g.Chance(75) {
		g.needFeature(&p.Spec)
	}
	if g.podAffinity {
		if g.Chance(60) && !(g.roomy && g.Chance(60)) {
			g.attach(p)
		}
		if g.Chance(30) || g.roomy && g.Chance(50) {
			g.shun(p)
		}
	}
	if g.nominated && g.Chance(25) || g.terminating && g.Chance(30) {
		p.Status.NominatedNodeName = g.someNode()
	}
	return p
}

// selectNodes makes the pod choosy about nodes.
func (g *generator) selectNodes(spec *v1.PodSpec) {
	if g.Chance(30) {
		spec.NodeSelector = map[string]string{"zone": "a"}
		if g.Chance(20) {
			spec.NodeSelector = map[string]string{"disk": "ssd"}
		}
		if g.Chance(60) {
			return
		}
	}
	terms := make([]v1.NodeSelectorTerm, 1+draw.Weighted(g.Source, 60, 30, 10))
	for i := range terms {
		terms[i] = g.nodeTerm()
	}
	if g.home < len(g.nodes) && g.Chance(65) {
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

// nodeTerm draws a term of node affinity. A term without requirements matches
// no node.
func (g *generator) nodeTerm() (term v1.NodeSelectorTerm) {
	switch draw.Weighted(g.Source, 75, 20, 5) {
	case 0:
		term.MatchExpressions = g.nodeExpressions()
	case 1:
		for range 1 + draw.Weighted(g.Source, 75, 25) {
			operator := v1.NodeSelectorOpIn
			if g.Chance(35) {
				operator = v1.NodeSelectorOpNotIn
			}
			term.MatchFields = append(term.MatchFields, v1.NodeSelectorRequirement{
				Key: metav1.ObjectNameField, Operator: operator, Values: []string{g.someNode()}})
		}
		if g.Chance(25) {
			term.MatchExpressions = g.nodeExpressions()
		}
	}
	return term
}

func (g *generator) nodeExpressions() []v1.NodeSelectorRequirement {
	requirements := make([]v1.NodeSelectorRequirement, 1+draw.Weighted(g.Source, 70, 30))
	for i := range requirements {
		requirements[i] = draw.Pick(g.Source,
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
	add := func(nominated bool) *v1.Pod {
		plan := g.drawPod()
		plan.start, plan.end, plan.resize, plan.noPriority = -1, alive, notResized, false
		for r := range plan.size {
			if g.need[r] > 0 && g.Chance(50) {
				plan.size[r] = 1 + g.Intn(g.need[r])
			}
		}
		near := int64(model.Priority(preemptor)) + int64(draw.Pick(g.Source, 0, -1, 1))
		plan.priority = int32(min(max(near, math.MinInt32), math.MaxInt32))
		if nominated && g.volumes && g.mounts.Lack == volumes.Claim && g.Chance(35) {
			plan.otherSpace, plan.volumes = false, volumes.AddFirst(plan.volumes)
		}
		p := g.render(numbered("waiting", len(pods)), &plan)
		if g.terminating && g.Chance(25) { // only a finalizer keeps a pod that was never bound
			Terminate(p)
			p.DeletionGracePeriodSeconds, p.Finalizers = new(int64(0)), []string{"example.com/kept"}
		}
		pods = append(pods, p)
		return p
	}
	if g.nominated && g.Chance(85) {
		for range 1 + draw.Weighted(g.Source, 55, 30, 15) {
			p := add(true)
			p.Status.NominatedNodeName = g.someNode()
			if g.others && g.Chance(40) {
				p.Spec.SchedulerName = otherScheduler
			}
		}
	}
	if g.others {
		add(false)
	}
	return pods
}
