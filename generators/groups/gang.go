package groups

import (
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
)

// gangPercent is in how many of 100 clusters with groups the preemptor is one.
const gangPercent = 40

// earlier is when a group was scheduled first.
var earlier = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// drawGang makes, in some clusters, a group of the preemptor: its members are like that pod, and some that are
// bound are pods of its priority. The group takes the pod's place.
func (g *drawer) drawGang() {
	p := g.c.Preemptor
	mounts := len(p.Spec.Volumes) > 0 // which is not modelled: of such groups all else is asked
	if model.Priority(p) > highest || !g.Chance(gangPercent) || mounts && !g.Chance(20) {
		return
	}
	group := &schedulingv1beta1.PodGroup{}
	group.Name, group.Namespace = "gang", p.Namespace
	group.Spec.Priority = new(model.Priority(p))
	members := g.running(p)
	bound := len(members)
	for i := range 1 + draw.Weighted(g.Source, 25, 40, 20, 15) {
		members = append(members, g.like(p, i))
	}
	g.drawClaims(members[bound:])
	for _, m := range members {
		m.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group.Name}
		if m.Spec.NodeName == "" {
			g.c.Pods = append(g.c.Pods, m)
		}
	}
	if group.Spec.SchedulingPolicy.Basic = (&schedulingv1beta1.BasicSchedulingPolicy{}); !g.Chance(20) {
		few := max(1, len(members)-draw.Weighted(g.Source, 45, 30, 15, 10))
		if g.Chance(3) { // more than there are
			few = len(members) + 1
		}
		group.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(few)}}
	}
	group.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	if g.Chance(30) {
		group.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	}
	if members[0].Spec.NodeName != "" && g.Chance(50) { // by an earlier cycle
		group.Status.Conditions = []metav1.Condition{{Type: schedulingv1beta1.PodGroupInitiallyScheduled, Status: metav1.ConditionTrue,
			Reason: "Scheduled", LastTransitionTime: metav1.NewTime(earlier)}}
	}
	g.drawPolicy(group, members)
	if g.Chance(3) { // which fails
		members[g.Intn(len(members))].Spec.Priority = new(model.Priority(p) - 1)
	}
	g.c.Extra = append(g.c.Extra, group)
	g.c.Preemptor, g.c.PreemptorGroup = nil, model.PodGroupKey(group.Namespace, group.Name)
	if g.drawGangs(group, members); group.Spec.ParentCompositePodGroupName == nil {
		g.drawTopology(group)
	}
}

// drawGangs makes, in some clusters, a group of groups of a gang: its members are divided among up to three groups.
func (g *drawer) drawGangs(first *schedulingv1beta1.PodGroup, members []*v1.Pod) {
	if on, pinned := g.Gates[model.GateComposite]; pinned && !on || g.narrow || len(members) < 2 || !g.Chance(25) {
		return
	}
	Set(g.c, model.GateComposite, true)
	Set(g.c, model.GateTopology, true)
	root := &schedulingv1alpha3.CompositePodGroup{}
	root.Name, root.Namespace = "gangs", first.Namespace
	root.Spec.Priority = first.Spec.Priority
	root.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "workload", TemplateName: root.Name}
	root.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{Single: &schedulingv1alpha3.SingleCompositeDisruptionMode{}}
	if policy := first.Spec.PreemptionPolicy; policy != nil {
		root.Spec.PreemptionPolicy = new(schedulingv1alpha3.PreemptionPolicy(*policy))
	}
	leaves := []*schedulingv1beta1.PodGroup{first}
	for range 1 + draw.Weighted(g.Source, 70, 30) {
		leaf := first.DeepCopy()
		leaf.Name += "-" + strconv.Itoa(len(leaves))
		g.c.Extra = append(g.c.Extra, leaf)
		leaves = append(leaves, leaf)
	}
	held := map[*schedulingv1beta1.PodGroup]int{}
	for i, m := range members {
		leaf := leaves[min(i, g.Intn(len(leaves)))] // the first stays in the first group
		m.Spec.SchedulingGroup.PodGroupName = &leaf.Name
		held[leaf]++
	}
	for _, leaf := range leaves {
		leaf.Spec.ParentCompositePodGroupName = &root.Name
		leaf.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "workload", TemplateName: leaf.Name}
		if gang := leaf.Spec.SchedulingPolicy.Gang; gang != nil {
			gang.MinCount = int32(max(1, held[leaf]-draw.Weighted(g.Source, 70, 30)))
		}
	}
	if root.Spec.SchedulingPolicy.Basic = (&schedulingv1alpha3.CompositeBasicSchedulingPolicy{}); !g.Chance(20) {
		few := max(1, len(held)-draw.Weighted(g.Source, 60, 30, 10))
		root.Spec.SchedulingPolicy = schedulingv1alpha3.CompositePodGroupSchedulingPolicy{Gang: &schedulingv1alpha3.CompositeGangSchedulingPolicy{MinGroupCount: int32(few)}}
	}
	g.c.Extra = append(g.c.Extra, root)
	g.c.PreemptorGroup = model.CompositePodGroupKey(root.Namespace, root.Name)
	g.drawTopologies(root, leaves)
}

// running are pods that can be members, and run already.
func (g *drawer) running(p *v1.Pod) (members []*v1.Pod) {
	for _, bound := range g.left {
		if bound.Spec.NodeName != "" && bound.Namespace == p.Namespace && model.Priority(bound) == model.Priority(p) && bound.Spec.Priority != nil &&
			bound.Spec.SchedulerName == p.Spec.SchedulerName && bound.Annotations[v1.MirrorPodAnnotationKey] == "" && len(members) < 3 && g.Chance(25) {
			bound.Spec.PreemptionPolicy = p.Spec.PreemptionPolicy
			members = append(members, bound)
		}
	}
	g.left = slices.DeleteFunc(g.left, func(p *v1.Pod) bool { return slices.Contains(members, p) })
	return members
}

// like is a member like a pod, but for what it is called, and now and then for what it asks of nodes and of other pods.
func (g *drawer) like(p *v1.Pod, i int) *v1.Pod {
	m := p.DeepCopy()
	if i == 0 {
		return m
	}
	m.Name = p.Name + "-" + strconv.Itoa(i)
	m.UID = types.UID(m.Namespace + "/" + m.Name)
	if g.Chance(25) {
		m.Labels, m.Spec.TopologySpreadConstraints = nil, nil
		m.Spec.Affinity, m.Spec.NodeSelector = nil, nil
	}
	switch nominated := draw.Weighted(g.Source, 80, 10, 10); {
	case nominated == 1 && len(g.c.Nodes) > 0:
		m.Status.NominatedNodeName = g.c.Nodes[g.Intn(min(len(g.c.Nodes), draw.MaxIntn))].Name
	case nominated == 2:
		m.Status.NominatedNodeName = ""
	}
	return m
}

// drawPolicy draws who says whether the group preempts others: its pods, or itself.
func (g *drawer) drawPolicy(group *schedulingv1beta1.PodGroup, members []*v1.Pod) {
	on, pinned := g.Gates[podgroup.GatePolicy]
	if !pinned {
		on = g.Chance(15)
	}
	if !on {
		return
	}
	Set(g.c, podgroup.GatePolicy, true)
	policy := schedulingv1beta1.PreemptLowerPriority
	if g.Chance(25) {
		policy = schedulingv1beta1.PreemptNever
	}
	group.Spec.PreemptionPolicy = &policy
	for _, m := range members {
		if !g.Chance(3) { // else it fails
			m.Spec.PreemptionPolicy = new(v1.PreemptionPolicy(policy))
		}
	}
}
