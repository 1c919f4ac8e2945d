package mutant

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofExtended get one rule wrong each about extended resources that devices back.
var ofExtended = []breaks{
	{"extended: no devices back a resource", onBoth(variant.MisreadObjects(func(c *resourcev1.DeviceClass) { c.Spec.ExtendedResourceName = nil }))},
	{"extended: nodes have to have what devices back", onPlugin("NodeResourcesFit", variant.Alter(func(st *filter.ResourcesState) { st.Backed = nil }))},
	{"extended: devices serve where the node has the resource itself", onBoth(variant.Misread(func(s *filter.Snapshot) {
		for _, n := range s.Nodes {
			n.Node = n.Node.DeepCopy()
			for name := range n.Status.Allocatable {
				if filter.IsExtended(name) && filter.Backing(s.Objects, name) != nil {
					delete(n.Status.Allocatable, name)
				}
			}
		}
	}))},
	{"extended: the earlier of two classes serves", onPlugin("DynamicResources", variant.MisreadObjects(func(c *resourcev1.DeviceClass) {
		c.CreationTimestamp = metav1.NewTime(time.Unix(0, 0).Add(-c.CreationTimestamp.Sub(time.Unix(0, 0))))
	}))},
	{"extended: of two classes of one time the last by name serves", onPlugin("DynamicResources", variant.Misread(lastByName))},
	{"extended: a class with a name of a resource has none of its own", onPlugin("NodeResourcesFit", variant.Misread(func(s *filter.Snapshot) {
		s.Objects = variant.Each(s.Objects, func(o *runtime.Object) {
			if class, ok := (*o).(*resourcev1.DeviceClass); ok && class.Spec.ExtendedResourceName != nil {
				*o = variant.Changed(class, func(c *resourcev1.DeviceClass) { c.Name += "-unnamed" })
			}
		})
	}))},
	{"extended: init containers need no devices", onPlugin("DynamicResources", variant.MisreadPreemptor(func(p *v1.Pod) {
		p.Spec.InitContainers = slices.DeleteFunc(slices.Clone(p.Spec.InitContainers), func(c v1.Container) bool { return !filter.IsSidecar(&c) })
	}))},
	{"extended: init containers keep their devices", onPlugin("DynamicResources", variant.MisreadPreemptor(func(p *v1.Pod) {
		p.Spec.InitContainers = variant.Each(p.Spec.InitContainers, func(c *v1.Container) { c.RestartPolicy = new(v1.ContainerRestartPolicyAlways) })
	}))},
	{"extended: sidecars leave their devices to containers", onPlugin("DynamicResources", variant.MisreadPreemptor(func(p *v1.Pod) {
		p.Spec.InitContainers = variant.Each(p.Spec.InitContainers, func(c *v1.Container) { c.RestartPolicy = nil })
	}))},
	{"extended: containers have their devices in common", onPlugin("DynamicResources", variant.MisreadPreemptor(func(p *v1.Pod) {
		p.Spec.InitContainers = append(slices.Clone(p.Spec.InitContainers), p.Spec.Containers[1:]...)
		p.Spec.Containers = p.Spec.Containers[:1]
	}))},
	{"extended: devices of claims that were made for resources are free", onPlugin("DynamicResources", variant.MisreadObjects(func(c claim) {
		if c.Annotations[resourcev1.ExtendedResourceClaimAnnotation] != "" {
			c.Status.Allocation = nil
		}
	}))},
}

// onBoth changes both plugins that look at extended resources.
func onBoth(change variant.OfPlugin) func(*answers.Rules) {
	return func(r *answers.Rules) {
		onPlugin("NodeResourcesFit", change)(r)
		onPlugin("DynamicResources", change)(r)
	}
}

// lastByName takes the name of a resource from each class that has a time and that name in
// common with one that sorts after it.
func lastByName(s *filter.Snapshot) {
	all := s.Objects
	s.Objects = variant.Each(all, func(o *runtime.Object) {
		class, ok := (*o).(*resourcev1.DeviceClass)
		if !ok || class.Spec.ExtendedResourceName == nil {
			return
		}
		if slices.ContainsFunc(all, func(o runtime.Object) bool {
			other, ok := o.(*resourcev1.DeviceClass)
			return ok && other.Spec.ExtendedResourceName != nil && *other.Spec.ExtendedResourceName == *class.Spec.ExtendedResourceName &&
				other.CreationTimestamp.Equal(&class.CreationTimestamp) && other.Name > class.Name
		}) {
			*o = variant.Changed(class, func(c *resourcev1.DeviceClass) { c.Spec.ExtendedResourceName = nil })
		}
	})
}
