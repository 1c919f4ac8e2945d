package probe

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

var extendedProbes = []Probe{
	{"resource from devices", "the pod goes, or would by preemption, to a node where it gets a resource from devices", once,
		served(func(_ *cycle, _ device.Served, itself bool) bool { return !itself })},
	{"resource from a device plugin", "the pod goes, or would by preemption, to a node that has the resource itself, though devices could serve elsewhere", once,
		served(func(_ *cycle, _ device.Served, itself bool) bool { return itself })},
	{"device by the name of its class", "the pod goes, or would by preemption, to a node where it gets devices by the name of their class", once,
		served(func(_ *cycle, s device.Served, itself bool) bool {
			return !itself && strings.HasPrefix(s.Resource, resourcev1.ResourceDeviceClassPrefix)
		})},
	{"class preferred to another", "the pod goes, or would by preemption, to a node where devices of one of two classes serve that have the name of the resource", once,
		served(func(c *cycle, s device.Served, itself bool) bool { return !itself && c.classesOf(s.Resource) > 1 })},
	{"devices of an init container", "the pod goes, or would by preemption, to a node where an init container has devices that others have after it", once,
		served(func(c *cycle, s device.Served, itself bool) bool {
			return !itself && c.asks(s, false) > 0 && c.asks(s, true) > s.Devices
		})},
	{"no devices for a resource", "the pod has no claims, and a node has not the devices that serve for a resource", few,
		func(c *cycle) bool {
			return len(c.Cluster.Preemptor.Spec.ResourceClaims) == 0 && device.Backs(c.Cluster.Extra, c.Cluster.Preemptor) && failed("DynamicResources", forGood)(c)
		}},
	{"claim made for a resource", "before the pod is bound, a claim is made for devices that serve for a resource", once,
		func(c *cycle) bool {
			after := c.Observation.Aftermath
			return after != nil && slices.ContainsFunc(after.Calls, func(call model.Call) bool {
				return call.Verb == "create" && call.Claim != nil && call.Claim.Special && len(call.Claim.Requests) > 0
			})
		}},
}

// served: something is so of a resource that devices back for the pod, and of the node where
// it goes or would: itself tells whether that has the resource itself.
func served(is func(c *cycle, s device.Served, itself bool) bool) occurs {
	return func(c *cycle) bool {
		to := c.Observation.ScheduledTo
		if pick := c.Observation.Pick; pick != nil {
			to = pick.Node
		}
		n := c.node(to)
		return n != nil && slices.ContainsFunc(device.ServedTo(c.Cluster.Extra, c.Cluster.Preemptor), func(s device.Served) bool {
			return is(c, s, filter.HasItself(n, v1.ResourceName(s.Resource)))
		})
	}
}

// classesOf is how many classes have the name of a resource.
func (c *cycle) classesOf(resource string) int {
	return len(slices.DeleteFunc(slices.Clone(c.Cluster.Extra), func(o runtime.Object) bool {
		class, ok := o.(*resourcev1.DeviceClass)
		return !ok || class.Spec.ExtendedResourceName == nil || *class.Spec.ExtendedResourceName != resource
	}))
}

// asks is how much of a resource init containers ask for that are no sidecars, or all
// containers.
func (c *cycle) asks(of device.Served, all bool) (much int) {
	spec := &c.Cluster.Preemptor.Spec
	containers := slices.DeleteFunc(slices.Clone(spec.InitContainers), func(c v1.Container) bool { return !all && filter.IsSidecar(&c) })
	if all {
		containers = append(containers, spec.Containers...)
	}
	for i := range containers {
		q := containers[i].Resources.Requests[v1.ResourceName(of.Resource)]
		much += int(q.Value())
	}
	return much
}
