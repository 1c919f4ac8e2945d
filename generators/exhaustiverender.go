package generators

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/model"
)

// render makes the cluster of a class. The preemptor requests as much as a node
// can lack.
func (s *space) render(class *Class) *model.Cluster {
	var g generator
	c := &model.Cluster{Preemptor: &v1.Pod{}}
	g.render(c.Preemptor, "preemptor", &pod{size: sizes{cpu: s.Lack}, priority: int32(s.Ranks + 1), start: -1})
	for i := 0; i < maxNodes && class.nodes[i] >= 0; i++ {
		n := &s.nodes[class.nodes[i]]
		room := s.Lack - n.extent.lack
		for _, index := range n.kinds[:n.pods] {
			k := &s.kinds[index]
			plan := k.pod
			plan.size[cpu] = k.size
			p := &v1.Pod{}
			g.render(p, podNames[len(c.Pods)], &plan)
			switch k.role {
			case victim, staying:
				p.Spec.NodeName = nodeNames[i]
				room += k.size
			default:
				p.Status.NominatedNodeName = nodeNames[i]
			}
			c.Pods = append(c.Pods, p)
		}
		c.Nodes = append(c.Nodes, renderNode(i, &node{room: sizes{cpu: room}, maxPods: 110}))
	}
	one := intstr.FromInt32(1)
	for b := range int(class.budgets) {
		c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "budget-" + strconv.Itoa(b), Namespace: metav1.NamespaceDefault},
			// app=a, and tier=x: see podKinds.
			Spec:   policyv1.PodDisruptionBudgetSpec{MaxUnavailable: &one, Selector: selectors[[]int{0, 4}[b]].DeepCopy()},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(class.allowed[b])},
		})
	}
	return c
}
