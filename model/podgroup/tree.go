package podgroup

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// Tree is a pod group, or a composite one with the groups that it is made of.
type Tree struct {
	Key string // as model.Cluster.PreemptorGroup
	// Least is how many of its members, or of its groups, have to be scheduled for it to be: of a Gang its minCount
	// (scheduling/v1beta1/types.go, GangSchedulingPolicy) or, if it is a composite one, its minGroupCount (KEP-6012,
	// "Scheduling policy"); of others one.
	Least int
	Gang  bool
	// Members of a PodGroup wait, Bound are those that are bound; in the cluster's order.
	Members, Bound []*v1.Pod
	// Groups are those of a CompositePodGroup.
	Groups []*Tree
}

// treeOf is the tree of a group.
func treeOf(c *model.Cluster, group metav1.Object) *Tree {
	t := &Tree{Key: model.KeyOfGroup(group), Least: 1}
	switch g := group.(type) {
	case *schedulingv1beta1.PodGroup:
		if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
			t.Least, t.Gang = int(gang.MinCount), true
		}
		for _, p := range c.Pods {
			switch in := p.Spec.SchedulingGroup; {
			case in == nil || in.PodGroupName == nil || *in.PodGroupName != g.Name || p.Namespace != g.Namespace:
			case p.Spec.NodeName == "":
				t.Members = append(t.Members, p)
			default:
				t.Bound = append(t.Bound, p)
			}
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
			t.Least, t.Gang = int(gang.MinGroupCount), true
		}
		for _, o := range c.Extra {
			if child, ok := o.(metav1.Object); ok && child.GetNamespace() == g.Namespace && parentOf(o) == g.Name {
				t.Groups = append(t.Groups, treeOf(c, child))
			}
		}
	}
	return t
}

// parentOf is the name of the composite group that an object is in, or "".
func parentOf(o any) string {
	var name *string
	switch g := o.(type) {
	case *schedulingv1beta1.PodGroup:
		name = g.Spec.ParentCompositePodGroupName
	case *schedulingv1alpha3.CompositePodGroup:
		name = g.Spec.ParentCompositePodGroupName
	}
	if name == nil {
		return ""
	}
	return *name
}

// There counts the members that exist, or the groups of which enough do.
func (t *Tree) There() int {
	there := len(t.Members) + len(t.Bound)
	for _, g := range t.Groups {
		if g.admissible() {
			there++
		}
	}
	return there
}

// admissible tells whether all exist that have to be scheduled.
func (t *Tree) admissible() bool { return t.There() >= t.Least }

// Has tells whether a pod that waits is a member.
func (t *Tree) Has(member *v1.Pod) bool {
	return slices.Contains(t.Members, member) || slices.ContainsFunc(t.Groups, func(g *Tree) bool { return g.Has(member) })
}

// Leaves are the groups of the tree that have pods and no groups.
func (t *Tree) Leaves() (all []*Tree) {
	if len(t.Groups) == 0 {
		return []*Tree{t}
	}
	for _, g := range t.Groups {
		all = append(all, g.Leaves()...)
	}
	return all
}

// Running are the members of the tree that are bound.
func (t *Tree) Running() (all []*v1.Pod) {
	all = slices.Clone(t.Bound)
	for _, g := range t.Groups {
		all = append(all, g.Running()...)
	}
	return all
}

// TakenBack are those of the members placed, in the tree, whose group is not scheduled with these, or a composite one below the
// root that it is part of.
func (cy *Cycle) TakenBack(placed []Placement) (lost []Placement) {
	var in func(t *Tree) (all []Placement, enough bool)
	in = func(t *Tree) (all []Placement, enough bool) {
		for _, at := range placed {
			if slices.Contains(t.Members, at.Pod) {
				all = append(all, at)
			}
		}
		scheduled := len(all)
		for _, g := range t.Groups {
			there, enough := in(g)
			all = append(all, there...)
			if enough {
				scheduled++
				continue
			}
			for _, at := range there {
				if !slices.ContainsFunc(lost, at.Is) { // its own group may be lost already
					lost = append(lost, at)
				}
			}
		}
		return all, cy.Enough(cy, t, scheduled)
	}
	in(cy.Root)
	return lost
}

// Enough tells whether a group is scheduled if so many of its members, or of its groups, are now: those that are bound
// count (docs: concepts/scheduling-eviction/podgroup-scheduling; KEP-6012, "GangScheduling Plugin Changes").
func Enough(_ *Cycle, t *Tree, placed int) bool { return placed+len(t.Bound) >= t.Least }

// Succeeds tells whether members are bound, or units are preempted for them: enough are scheduled, and at least one is
// placed now (KEP-4671, "Workload Scheduling Cycle").
func Succeeds(_ *Cycle, enough bool, placed int) bool { return enough && placed > 0 }

// Helped are those for whom units are preempted: the members of groups that are scheduled without these.
func Helped(_ *Cycle, p Pass) []Placement { return p.Placed }
