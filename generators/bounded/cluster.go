package bounded

import (
	"maps"
	"strconv"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
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

// Cluster makes the cluster that represents the class. The preemptor, or each of its members, requests as
// much as a node can lack.
func (c Class) Cluster() *model.Cluster {
	s := c.space
	made := &model.Cluster{}
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
			if k.groups != 0 {
				p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: new(groupName(int(k.groups) - 1))}
			}
			made.Pods = append(made.Pods, p)
		}
		made.Nodes = append(made.Nodes, generators.Node(i, room))
	}
	c.addGroups(made)
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

func groupName(number int) string { return "group-" + strconv.Itoa(number) }

// addGroups adds the preemptor, and the groups.
func (c Class) addGroups(made *model.Cluster) {
	s := c.space
	top := int32(s.Ranks + 1)
	for i, g := range c.groups {
		if !g.there {
			continue
		}
		added := podGroup(groupName(i), int32(g.rank)+1)
		if g.whole {
			added.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
		}
		made.Extra = append(made.Extra, added)
	}
	if c.gang.members == 0 {
		made.Preemptor = generators.Pod("preemptor", s.Lack, top, -1)
	} else {
		added := podGroup("preemptor", top)
		added.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(c.gang.minCount)}}
		made.Extra = append(made.Extra, added)
		for i := range int(c.gang.members) {
			p := generators.Pod("member-"+strconv.Itoa(i), s.Lack, top, -1)
			p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &added.Name}
			made.Pods = append(made.Pods, p)
		}
		made.PreemptorGroup = model.PodGroupKey(added.Namespace, added.Name)
	}
	if len(made.Extra) > 0 {
		made.Settings.FeatureGates = map[string]bool{model.GateWorkload: true}
	}
}

// podGroup is a group that is preempted pod by pod.
func podGroup(name string, priority int32) *schedulingv1beta1.PodGroup {
	return &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault},
		Spec: schedulingv1beta1.PodGroupSpec{
			Priority:         &priority,
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}},
			DisruptionMode:   &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}},
		},
	}
}
