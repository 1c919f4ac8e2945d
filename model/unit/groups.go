package unit

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// The feature gates with which the scheduler knows pod groups, and composite ones; off
// by default at v1.37.1.
const (
	GateWorkload  = "GenericWorkload"
	GateComposite = "CompositePodGroup"
)

// Groups are the pod groups that a scheduler knows: none with GateWorkload off, no
// composite ones with GateComposite off.
type Groups struct{ leaves, composites map[string]*Group }

// Group is a pod group, or a composite one.
type Group struct {
	Key  string // namespace/name
	Kind Kind
	// Parent is the composite group that the group is part of; nil if there is none, or
	// if it does not exist.
	Parent *Group
	// All tells whether its children can only be disrupted together; by default they can
	// be disrupted independently (scheduling/v1beta1/types.go:669@v0.37.1, DisruptionMode).
	All bool
	// Own is the priority of the group; 0 if it has none
	// (scheduling/v1beta1/types.go:680@v0.37.1, PodGroupSpec).
	Own int32

	parent string
}

// Read finds the groups among the objects of a cluster.
func Read(objects []runtime.Object, gates map[string]bool) *Groups {
	gs := &Groups{map[string]*Group{}, map[string]*Group{}}
	if !gates[GateWorkload] {
		return gs
	}
	for _, o := range objects {
		switch o := o.(type) {
		case *schedulingv1beta1.PodGroup:
			mode := o.Spec.DisruptionMode
			gs.leaves[filter.Key(o)] = &Group{Key: filter.Key(o), Kind: PodGroup, All: mode != nil && mode.All != nil,
				Own: ptr.Deref(o.Spec.Priority, 0), parent: parentOf(o.Namespace, o.Spec.ParentCompositePodGroupName)}
		case *schedulingv1alpha3.CompositePodGroup:
			mode := o.Spec.DisruptionMode
			gs.composites[filter.Key(o)] = &Group{Key: filter.Key(o), Kind: Composite, All: mode != nil && mode.All != nil,
				Own: ptr.Deref(o.Spec.Priority, 0), parent: parentOf(o.Namespace, o.Spec.ParentCompositePodGroupName)}
		}
	}
	if !gates[GateComposite] { // only then the parent's name is used (scheduling/v1beta1/types.go:606@v0.37.1)
		return gs
	}
	for _, all := range []map[string]*Group{gs.leaves, gs.composites} {
		for _, g := range all {
			g.Parent = gs.composites[g.parent]
		}
	}
	return gs
}

func parentOf(namespace string, name *string) string {
	if name == nil {
		return ""
	}
	return namespace + "/" + *name
}

func (g *Group) String() string { return g.Kind.String() + " " + g.Key }

// Of is the group that a pod belongs to; nil if it belongs to none, or to one that does
// not exist (core/v1/types.go:4706@v0.37.1, PodSpec.SchedulingGroup).
func (gs *Groups) Of(p *v1.Pod) *Group {
	if len(gs.leaves) == 0 || p.Spec.SchedulingGroup == nil || p.Spec.SchedulingGroup.PodGroupName == nil {
		return nil
	}
	return gs.leaves[p.Namespace+"/"+*p.Spec.SchedulingGroup.PodGroupName]
}

// Priority is what counts for a pod in place of its own priority, if it belongs to a
// group: that of the group at the top (KEP-5710, "the priority defined in the PodGroup
// object will be used"; preemption/util.go:146@v1.37.1, GetPodPriority).
func (gs *Groups) Priority(p *v1.Pod, own int32) int32 {
	if g := gs.Of(p); g != nil {
		line := g.Line()
		return line[len(line)-1].Own
	}
	return own
}

// Line is the group and what it is part of, up to the top. It ends before a group that
// is part of itself.
func (g *Group) Line() (line []*Group) {
	for ; g != nil && !slices.Contains(line, g); g = g.Parent {
		line = append(line, g)
	}
	return line
}

// Whole is the highest of the groups that a pod belongs to whose children can only be
// disrupted together (KEP-6012, "This highest ancestor CPG node defines the indivisible
// preemption unit"); nil if the pod can be disrupted by itself.
func (gs *Groups) Whole(p *v1.Pod) (whole *Group) {
	g := gs.Of(p)
	if g == nil {
		return nil
	}
	for _, above := range g.Line() {
		if above.All {
			whole = above
		}
	}
	return whole
}

// AnyWhole tells whether some group can only be disrupted as a whole.
func (gs *Groups) AnyWhole() bool {
	for _, all := range []map[string]*Group{gs.leaves, gs.composites} {
		for _, g := range all {
			if g.All {
				return true
			}
		}
	}
	return false
}
