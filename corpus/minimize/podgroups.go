package minimize

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
)

// podGroups make pod groups smaller: with fewer members, of which fewer are needed, or without the group.
func podGroups(c *model.Cluster) []step {
	var steps []step
	for _, o := range c.Extra {
		if group, is := o.(metav1.Object); is && constraints(o) {
			steps = append(steps, step{title(o) + ": no topology constraint", func(c *model.Cluster) *model.Cluster {
				return edit(c, func(_ int, o runtime.Object) bool {
					is := isGroup(o, model.KeyOfGroup(group))
					if is {
						unconstrained(o)
					}
					return is
				})
			}})
		}
	}
	for i, o := range c.Extra {
		g, ok := o.(*schedulingv1beta1.PodGroup)
		if !ok {
			continue
		}
		key := model.PodGroupKey(g.Namespace, g.Name)
		if _, part := c.GroupsOfPreemptor()[key]; part && c.PreemptorGroup != key {
			steps = append(steps, step{title(g) + ": scheduled by itself", func(c *model.Cluster) *model.Cluster { return alone(c, g) }})
		}
		if c.PreemptorGroup != key {
			steps = append(steps, step{title(g) + ": its pods are in no group", func(c *model.Cluster) *model.Cluster { return dissolved(c, i) }})
		}
		for _, p := range c.Pods {
			if isMember(p, g) {
				fewer := without + title(p) + ", of which one less is needed"
				steps = append(steps, step{fewer, func(c *model.Cluster) *model.Cluster { return withoutMember(c, p, g) }})
				for _, n := range c.Nodes {
					steps = append(steps, step{fewer + ", and without its room on " + title(n), func(c *model.Cluster) *model.Cluster { return withoutRoom(withoutMember(c, p, g), p, n) }})
				}
				steps = append(steps, step{title(p) + ": in no group", func(c *model.Cluster) *model.Cluster {
					return editPods(c, func(other *v1.Pod) bool {
						is := model.Key(other) == model.Key(p)
						if is {
							other.Spec.SchedulingGroup = nil
						}
						return is
					})
				}})
			}
		}
		if g.Spec.SchedulingPolicy.Gang != nil {
			steps = append(steps, step{title(g) + ": the policy basic", func(c *model.Cluster) *model.Cluster {
				return editGroup(c, g, func(g *schedulingv1beta1.PodGroup) bool {
					g.Spec.SchedulingPolicy = schedulingv1beta1.PodGroupSchedulingPolicy{Basic: &schedulingv1beta1.BasicSchedulingPolicy{}}
					return true
				})
			}})
		}
	}
	return append(steps, newScale(c, "members needed", 1, 1, minCountOf).steps()...)
}

// constraints tells whether a group has a topology constraint.
func constraints(o runtime.Object) bool {
	switch g := o.(type) {
	case *schedulingv1beta1.PodGroup:
		return g.Spec.SchedulingConstraints != nil
	case *schedulingv1alpha3.CompositePodGroup:
		return g.Spec.SchedulingConstraints != nil
	}
	return false
}

func unconstrained(o runtime.Object) {
	switch g := o.(type) {
	case *schedulingv1beta1.PodGroup:
		g.Spec.SchedulingConstraints = nil
	case *schedulingv1alpha3.CompositePodGroup:
		g.Spec.SchedulingConstraints = nil
	}
}

// alone has a group preempt that is part of a composite one. All groups of the tree are then scheduled by themselves.
func alone(c *model.Cluster, g *schedulingv1beta1.PodGroup) *model.Cluster {
	tree := c.GroupsOfPreemptor()
	next := edit(c, func(_ int, o runtime.Object) bool {
		part, ok := o.(*schedulingv1beta1.PodGroup)
		if ok = ok && tree[model.KeyOfGroup(part)] != nil; ok {
			part.Spec.ParentCompositePodGroupName, part.Spec.WorkloadRef = nil, nil
		}
		return ok
	})
	next.PreemptorGroup = model.KeyOfGroup(g)
	next.Extra = slices.DeleteFunc(slices.Clone(next.Extra), func(o runtime.Object) bool {
		composite, ok := o.(*schedulingv1alpha3.CompositePodGroup)
		return ok && tree[model.KeyOfGroup(composite)] != nil
	})
	return next
}

func isMember(p *v1.Pod, g *schedulingv1beta1.PodGroup) bool {
	its := p.Spec.SchedulingGroup
	return its != nil && p.Namespace == g.Namespace && ptr.Deref(its.PodGroupName, "") == g.Name
}

// dissolved is without a group. Its pods keep the priority that they had by it.
func dissolved(c *model.Cluster, i int) *model.Cluster {
	g := c.Extra[i].(*schedulingv1beta1.PodGroup)
	priority := ptr.Deref(g.Spec.Priority, 0)
	next := editPods(c, func(p *v1.Pod) bool {
		if !isMember(p, g) {
			return false
		}
		p.Spec.SchedulingGroup, p.Spec.Priority = nil, &priority
		return true
	})
	next.Extra = cut(next.Extra, i, i+1)
	return next
}

// withoutMember is without a member, and with one less that is needed. With the last one of a group that is part of a composite one
// the group goes, and one group less is needed.
func withoutMember(c *model.Cluster, p *v1.Pod, g *schedulingv1beta1.PodGroup) *model.Cluster {
	next := shallow(c)
	next.Pods = slices.DeleteFunc(slices.Clone(next.Pods), func(other *v1.Pod) bool { return model.Key(other) == model.Key(p) })
	key, parent := model.KeyOfGroup(g), ""
	if !slices.ContainsFunc(next.Pods, func(p *v1.Pod) bool { return isMember(p, g) }) && key != c.PreemptorGroup {
		parent = ptr.Deref(g.Spec.ParentCompositePodGroupName, "")
		next.Extra = slices.DeleteFunc(slices.Clone(next.Extra), func(o runtime.Object) bool { return isGroup(o, key) })
	}
	return edit(next, func(_ int, o runtime.Object) bool {
		switch o := o.(type) {
		case *schedulingv1beta1.PodGroup:
			if gang := o.Spec.SchedulingPolicy.Gang; gang != nil && gang.MinCount > 1 && isGroup(o, key) {
				gang.MinCount--
				return true
			}
		case *schedulingv1alpha3.CompositePodGroup:
			if gang := o.Spec.SchedulingPolicy.Gang; gang != nil && gang.MinGroupCount > 1 && o.Namespace == g.Namespace && o.Name == parent {
				gang.MinGroupCount--
				return true
			}
		}
		return false
	})
}

func isGroup(o runtime.Object, key string) bool {
	group, ok := o.(metav1.Object)
	return ok && model.KeyOfGroup(group) == key
}

// withoutRoom is with so much less room on a node as a pod takes.
func withoutRoom(c *model.Cluster, p *v1.Pod, n *v1.Node) *model.Cluster {
	takes := requests(p)
	takes[v1.ResourcePods] = *resource.NewQuantity(1, resource.DecimalSI)
	return edit(c, func(_ int, o runtime.Object) bool {
		node, ok := o.(*v1.Node)
		if !ok || node.Name != n.Name {
			return false
		}
		for name, quantity := range takes {
			if has, ok := node.Status.Allocatable[name]; ok && has.Cmp(quantity) >= 0 {
				has.Sub(quantity)
				node.Status.Allocatable[name] = has
			}
		}
		return true
	})
}

func editGroup(c *model.Cluster, g *schedulingv1beta1.PodGroup, change func(g *schedulingv1beta1.PodGroup) bool) *model.Cluster {
	return edit(c, func(_ int, o runtime.Object) bool {
		other, ok := o.(*schedulingv1beta1.PodGroup)
		return ok && model.Key(other) == model.Key(g) && change(other)
	})
}

func minCountOf(o runtime.Object) []number {
	switch g := o.(type) {
	case *schedulingv1beta1.PodGroup:
		if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
			return []number{count("spec.schedulingPolicy.gang.minCount", gang.MinCount, func(v int32) { gang.MinCount = v })}
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if gang := g.Spec.SchedulingPolicy.Gang; gang != nil {
			return []number{count("spec.schedulingPolicy.gang.minGroupCount", gang.MinGroupCount, func(v int32) { gang.MinGroupCount = v })}
		}
	}
	return nil
}

// groupPriority is where the priority of a group is; nil for other objects.
func groupPriority(o runtime.Object) **int32 {
	switch g := o.(type) {
	case *schedulingv1beta1.PodGroup:
		return &g.Spec.Priority
	case *schedulingv1alpha3.CompositePodGroup:
		return &g.Spec.Priority
	}
	return nil
}

// ranked gives a group the first rank of its priority, by the ranks of pods; -1 of one that no pod has.
func ranked(g runtime.Object, rank func(priority int32) int) bool {
	at := groupPriority(g)
	if at == nil {
		return false
	}
	r := rank(ptr.Deref(*at, 0))
	if r >= 0 {
		*at = ptr.To(int32(r))
	}
	return r >= 0
}

// ofGroup makes the preemptor of a cluster a group of one pod.
func ofGroup(c *model.Cluster) *model.Cluster {
	next, p := shallow(c), c.Preemptor.DeepCopy()
	name := "g"
	p.Spec.SchedulingGroup = &v1.PodSchedulingGroup{PodGroupName: &name}
	g := &schedulingv1beta1.PodGroup{Spec: schedulingv1beta1.PodGroupSpec{
		Priority: ptr.To(model.Priority(p)), SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: 1}}}}
	g.Namespace, g.Name = p.Namespace, name
	next.Preemptor, next.PreemptorGroup = nil, model.PodGroupKey(p.Namespace, name)
	next.Pods, next.Extra = append(next.Pods, p), append(next.Extra, g)
	return next
}
