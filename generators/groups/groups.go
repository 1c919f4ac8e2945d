// Package groups draws the pod groups of a generated cluster: which of its pods belong
// together, and what is preempted together. It comes last, and draws from a source of its own, so that
// a cluster without groups is as it was before there were any.
package groups

import (
	"math"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// Options are what groups are drawn from.
type Options struct {
	draw.Source
	// Gates are the feature gates that are not to be drawn. With model.GateWorkload on
	// each cluster has groups, with model.GateComposite on each has composite ones, with these off none has.
	Gates map[string]bool
	// Gangs: in some clusters the preemptor is a group.
	Gangs bool
	// MissingNode is the name of a node that does not exist.
	MissingNode string
	// Terminate makes a pod one that is being deleted.
	Terminate func(*v1.Pod)
}

// percent is in how many of 100 clusters pods belong to groups; oftener where constraints look
// at other nodes, which few do.
const percent, elsewhere = 11, 30

// Draw puts some pods of the cluster in groups, or none.
func Draw(o Options, c *model.Cluster) {
	on, pinned := o.Gates[model.GateWorkload]
	if pinned && !on || !pinned && !(mixes(c.Settings) && o.Chance(chance(c))) || len(c.Pods) == 0 && len(c.Nodes) > 0 {
		return
	}
	g := &drawer{Options: o, c: c, left: slices.Clone(c.Pods), narrow: len(c.Nodes) > 2 && slices.ContainsFunc(c.Preemptor.Spec.TopologySpreadConstraints,
		func(c v1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == v1.DoNotSchedule })}
	if len(c.Nodes) == 0 { // where no pod runs
		if o.Gangs {
			Set(c, model.GateWorkload, true)
			g.drawGang()
		}
		return
	}
	g.drawTree()
	for range 1 + draw.Weighted(o.Source, 35, 40, 25) {
		g.drawGroup()
	}
	Set(c, model.GateWorkload, true)
	if g.composite {
		Set(c, model.GateComposite, true)
		Set(c, model.GateTopology, true)
	}
	if c.Groups().AnyWhole() {
		g.spareExtenders()
	}
	if o.Gangs {
		g.drawGang()
	}
}

func chance(c *model.Cluster) int {
	spec := &c.Preemptor.Spec
	if len(spec.TopologySpreadConstraints)+len(spec.ResourceClaims) > 0 || spec.Affinity != nil && (spec.Affinity.PodAffinity != nil || spec.Affinity.PodAntiAffinity != nil) {
		return elsewhere
	}
	return percent
}

// mixes tells whether the gates of groups come beside these settings: a system has to build a
// scheduler for each, and keeps few.
func mixes(s model.Settings) bool {
	for gate := range s.FeatureGates {
		if gate != model.GateAsyncPreemption {
			return false
		}
	}
	return s.MinCandidateNodesAbsolute == nil && s.Parallelism == nil && !s.NoDefaultConstraints
}

// highest is the priority that no group exceeds: it has none of the system classes (scheduling/types.go:30@v1.37.1,
// HighestUserDefinablePriority).
const highest = 1_000_000_000

// drawer draws the groups of one cluster.
type drawer struct {
	Options
	c    *model.Cluster
	left []*v1.Pod // those that are in no group yet
	made int       // how many groups there are

	// narrow: what goes together is on one node. Where pods of several domains go, and there are
	// more domains, kube-scheduler draws which it compares with: docs/pod-groups.md, number 12.
	narrow    bool
	composite bool // composite groups are known
	// tree are the composite groups from the top down, and root is the priority of all of them.
	tree   []string
	root   *int32
	joined bool // a group is in the tree
	// last is the priority of the group before, and node that of its first pod.
	last *int32
	node string
}

// Set sets a feature gate of a cluster.
func Set(c *model.Cluster, gate string, on bool) {
	if c.Settings.FeatureGates == nil {
		c.Settings.FeatureGates = map[string]bool{}
	}
	c.Settings.FeatureGates[gate] = on
}

// drawTree draws composite groups, one in the other, in some clusters. The gate may be on for none,
// and now and then groups name parents while it is off.
func (g *drawer) drawTree() {
	on, pinned := g.Gates[model.GateComposite]
	named := (on || g.Chance(35)) && !g.narrow
	if g.composite = named && g.Chance(90); pinned {
		g.composite = on
	}
	if !named {
		return
	}
	g.root = g.drawPriority(g.left)
	g.last = g.root
	for depth := range 1 + draw.Weighted(g.Source, 55, 35, 10) {
		group := &schedulingv1alpha3.CompositePodGroup{ObjectMeta: metav1.ObjectMeta{Name: "tree-" + strconv.Itoa(depth), Namespace: metav1.NamespaceDefault}}
		group.Spec.SchedulingPolicy.Basic = &schedulingv1alpha3.CompositeBasicSchedulingPolicy{}
		group.Spec.WorkloadRef = &schedulingv1alpha3.WorkloadReference{WorkloadName: "workload", TemplateName: group.Name}
		group.Spec.Priority = g.root
		if depth > 0 {
			group.Spec.ParentCompositePodGroupName = new(g.tree[depth-1])
		}
		group.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{All: &schedulingv1alpha3.AllCompositeDisruptionMode{}}
		if g.Chance(40) {
			group.Spec.DisruptionMode = &schedulingv1alpha3.CompositeDisruptionMode{Single: &schedulingv1alpha3.SingleCompositeDisruptionMode{}}
		}
		g.tree = append(g.tree, group.Name)
		if !g.Chance(7) { // else the tree ends below it
			g.c.Extra = append(g.c.Extra, group)
		}
	}
}

// drawGroup draws a group and the pods that are in it.
func (g *drawer) drawGroup() {
	together := !g.Chance(32)
	members := g.drawMembers(together && g.narrow)
	if len(members) == 0 {
		return
	}
	group := &schedulingv1beta1.PodGroup{ObjectMeta: metav1.ObjectMeta{Name: "group-" + strconv.Itoa(g.made), Namespace: members[0].Namespace}}
	g.made++
	for _, p := range members {
		p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &group.Name}
	}
	group.Spec.Priority = g.drawPriority(members)
	g.join(group)
	g.last, g.node = group.Spec.Priority, members[0].Spec.NodeName
	group.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{All: &schedulingv1beta1.AllDisruptionMode{}}
	if !together { // which is what the API server stores where nothing is said
		group.Spec.DisruptionMode = &schedulingv1beta1.DisruptionMode{Single: &schedulingv1beta1.SingleDisruptionMode{}}
	}
	if g.Chance(50) {
		group.Spec.SchedulingPolicy.Gang = &schedulingv1beta1.GangSchedulingPolicy{MinCount: int32(1 + g.Intn(len(members)+1))}
	} else {
		group.Spec.SchedulingPolicy.Basic = &schedulingv1beta1.BasicSchedulingPolicy{}
	}
	if !g.Chance(25) { // mostly the pods have the priority of their group
		for _, p := range members {
			p.Spec.Priority, p.Spec.PreemptionPolicy = new(priority(group)), new(v1.PreemptLowerPriority)
		}
	}
	if p := members[0]; g.Chance(25) && p.Spec.PreemptionPolicy != nil { // its own would protect it
		p.Spec.Priority = new(model.Priority(g.c.Preemptor))
	}
	g.vary(members)
	if !g.Chance(8) {
		g.c.Extra = append(g.c.Extra, group)
	} else if last := members[len(members)-1]; g.made%2 == 0 { // it is missing, and the last pod is of another one that is
		last.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: new(group.Name + "-too")}
	}
}

func priority(group *schedulingv1beta1.PodGroup) int32 {
	if group.Spec.Priority == nil {
		return 0
	}
	return *group.Spec.Priority
}

// join makes a group part of the tree, if there is one, or of a composite group that does not exist.
func (g *drawer) join(group *schedulingv1beta1.PodGroup) {
	chance := 80
	if g.joined { // another beside the tree
		chance = 45
	}
	if len(g.tree) == 0 || group.Namespace != metav1.NamespaceDefault || !g.Chance(chance) {
		return
	}
	g.joined = true
	parent := g.tree[g.Intn(len(g.tree))]
	if g.Chance(18) {
		parent = "missing"
	} else if !g.Chance(4) { // else it is not modelled whose priority counts
		group.Spec.Priority = g.root
	}
	group.Spec.ParentCompositePodGroupName = &parent
	group.Spec.WorkloadRef = &schedulingv1beta1.WorkloadReference{WorkloadName: "workload", TemplateName: group.Name}
}

// drawMembers takes pods for one group from those that are left: of one namespace, and mostly ones
// that are bound; all on one node, if they have to be.
func (g *drawer) drawMembers(onOne bool) (members []*v1.Pod) {
	for range 1 + draw.Weighted(g.Source, 25, 40, 20, 15) {
		fits := slices.DeleteFunc(slices.Clone(g.left), func(p *v1.Pod) bool {
			return p.Annotations[v1.MirrorPodAnnotationKey] != "" || len(members) > 0 && p.Namespace != members[0].Namespace ||
				onOne && (p.Spec.NodeName == "" || len(members) > 0 && p.Spec.NodeName != members[0].Spec.NodeName)
		})
		if len(fits) == 0 {
			return members
		}
		if len(members) == 0 && g.Chance(60) { // beside the group before
			if beside := slices.DeleteFunc(slices.Clone(fits), func(p *v1.Pod) bool { return p.Spec.NodeName != g.node }); len(beside) > 0 {
				fits = beside
			}
		}
		p := fits[g.Intn(min(len(fits), draw.MaxIntn))]
		if p.Spec.NodeName == "" && g.Chance(50) { // one that waits is the exception
			continue
		}
		members = append(members, p)
		g.left = slices.DeleteFunc(g.left, func(other *v1.Pod) bool { return other == p })
	}
	return members
}

// drawPriority draws the priority of a group of pods: that of one of them, mostly, or one near the
// preemptor's.
func (g *drawer) drawPriority(pods []*v1.Pod) *int32 {
	near := func(distance int64) *int32 {
		return new(int32(min(max(int64(model.Priority(g.c.Preemptor))+distance, math.MinInt32), highest)))
	}
	if g.last != nil && g.Chance(50) { // then something else decides between the two
		return g.last
	}
	switch draw.Weighted(g.Source, 62, 10, 8, 8, 12) {
	case 0:
		return new(min(model.Priority(pods[g.Intn(min(len(pods), draw.MaxIntn))]), highest))
	case 1:
		return near(-1)
	case 2:
		return near(0)
	case 3:
		return near(1)
	default:
		return nil
	}
}

// vary changes what happens to pods of groups: one terminates, or has not started, or outlives its
// node.
func (g *drawer) vary(members []*v1.Pod) {
	p := members[g.Intn(len(members))]
	if p.Spec.NodeName == "" {
		return
	}
	switch draw.Weighted(g.Source, 52, 17, 17, 14) {
	case 1:
		if p.DeletionTimestamp == nil {
			g.Terminate(p)
		}
	case 2:
		if p.Status.StartTime != nil {
			p.Status.StartTime, p.Status.Phase = nil, v1.PodPending
		}
	case 3:
		// What others share with a pod of a deleted node is another question.
		if len(members) > 1 && len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) == 0 {
			p.Spec.NodeName = g.MissingNode
		}
	}
}

// spareExtenders has most extenders keep no part of what goes together, which is not modelled.
func (g *drawer) spareExtenders() {
	for i := range g.c.Settings.Extenders {
		e := &g.c.Settings.Extenders[i]
		if e.Preempt == nil || g.Chance(15) {
			continue
		}
		for j := range e.Preempt.Changes {
			e.Preempt.Changes[j].Keeps = nil
		}
	}
}
