package bounded

import (
	"maps"
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
)

// selected are the labels of the pods that each set of budgets selects, and
// selectors what each budget selects by.
var (
	selected  = []map[string]string{nil, {"app": "a"}, {"app": "b", "tier": "x"}, {"app": "a", "tier": "x"}}
	selectors = [maxBudgets]map[string]string{{"app": "a"}, {"tier": "x"}}
)

// Cluster makes the cluster that represents the class. The preemptor requests as
// much as a node can lack.
func (c Class) Cluster() *model.Cluster {
	s := c.space
	made := &model.Cluster{Preemptor: generators.Pod("preemptor", s.Lack, int32(s.Ranks+1), -1)}
	for i, index := range c.nodes() {
		n := &s.nodes[index]
		room := s.Lack - n.lack
		for _, index := range n.kinds[:n.pods] {
			k := &s.kinds[index]
			p := generators.Pod("pod-"+strconv.Itoa(len(made.Pods)), k.size, k.priority, k.start)
			for key, value := range selected[k.budgets] {
				metav1.SetMetaDataLabel(&p.ObjectMeta, key, value)
			}
			if k.traits&terminating != 0 {
				generators.Terminate(p)
			}
			if k.role.bound() {
				p.Spec.NodeName = generators.NodeName(i)
				room += k.size
			} else {
				p.Status.NominatedNodeName = generators.NodeName(i)
			}
			made.Pods = append(made.Pods, p)
		}
		made.Nodes = append(made.Nodes, generators.Node(i, room))
	}
	for b := range int(c.budgets) {
		made.PodDisruptionBudgets = append(made.PodDisruptionBudgets, &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Name: "budget-" + strconv.Itoa(b), Namespace: metav1.NamespaceDefault},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: new(intstr.FromInt32(1)), Selector: &metav1.LabelSelector{MatchLabels: maps.Clone(selectors[b])}},
			Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: int32(c.allowed[b])},
		})
	}
	return made
}
