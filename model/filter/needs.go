package filter

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Requested is what a pod that is still to be placed asks for: the sum of its
// containers and sidecars, or what its init containers need at their peak if
// that is more, or what the pod as a whole requests; plus the overhead.
// Sources: KEP-753 "Resources calculation for scheduling and pod admission",
// KEP-2837 (pod-level resources), KEP-688 (overhead).
func Requested(p *v1.Pod) Resources {
	rs := sumContainers(p, func(c *v1.Container) Resources { return resourcesOf(c.Resources.Requests) })
	if p.Spec.Resources != nil {
		rs = withPodLevel(rs, resourcesOf(p.Spec.Resources.Requests))
	}
	return rs.add(resourcesOf(p.Spec.Overhead))
}

// Occupied is what a placed or nominated pod takes on its node. While an
// in-place resize is under way that is, resource by resource, the largest of
// what is desired, allocated and in effect; the desired amount no longer counts
// once the resize is found infeasible.
// Source: KEP-1287, "Scheduler and API server interaction".
func Occupied(p *v1.Pod) Resources {
	if !hasResizeStatus(p) {
		return Requested(p)
	}
	infeasible := ResizeInfeasible(p)
	allocated := func(c *v1.Container) Resources {
		if s := ContainerStatus(p, c.Name); s != nil && s.AllocatedResources != nil {
			return resourcesOf(s.AllocatedResources)
		}
		if infeasible {
			return nil
		}
		return resourcesOf(c.Resources.Requests)
	}
	inEffect := func(c *v1.Container) Resources {
		if s := ContainerStatus(p, c.Name); s != nil && s.Resources != nil && s.Resources.Requests != nil {
			return resourcesOf(s.Resources.Requests)
		}
		return allocated(c)
	}

	var rs Resources
	if p.Status.AllocatedResources != nil && p.Status.Resources != nil && p.Status.Resources.Requests != nil {
		rs = resourcesOf(p.Status.AllocatedResources).max(resourcesOf(p.Status.Resources.Requests))
	} else {
		rs = sumContainers(p, allocated).max(sumContainers(p, inEffect))
	}
	if !infeasible {
		rs = rs.max(sumContainers(p, func(c *v1.Container) Resources { return resourcesOf(c.Resources.Requests) }))
	}
	if p.Spec.Resources != nil && anyPodLevel(p.Spec.Resources.Requests) {
		var podLevel Resources
		if !infeasible || p.Status.Resources == nil {
			podLevel = resourcesOf(p.Spec.Resources.Requests)
		}
		if p.Status.Resources != nil {
			podLevel = podLevel.max(resourcesOf(p.Status.Resources.Requests)).max(resourcesOf(p.Status.AllocatedResources))
		}
		rs = withPodLevel(rs, podLevel)
	}
	return rs.add(resourcesOf(p.Spec.Overhead))
}

// sumContainers combines what the containers of a pod need, each as of says:
// all containers and sidecars together, but at least what any init container
// needs while it runs beside the sidecars started before it (KEP-753).
func sumContainers(p *v1.Pod, of func(*v1.Container) Resources) Resources {
	var running Resources
	for i := range p.Spec.Containers {
		running = running.add(of(&p.Spec.Containers[i]))
	}
	var sidecars, peak Resources
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		needs := of(c)
		if IsSidecar(c) {
			running = running.add(needs)
			sidecars = sidecars.add(needs)
			peak = peak.max(sidecars)
		} else {
			peak = peak.max(slices.Clone(sidecars).add(needs))
		}
	}
	return running.max(peak)
}

// IsSidecar tells whether an init container runs as long as its pod does (KEP-753).
func IsSidecar(c *v1.Container) bool {
	return ptr.Deref(c.RestartPolicy, "") == v1.ContainerRestartPolicyAlways
}

// withPodLevel replaces what the containers need by what the pod as a whole
// requests, for the resources that can be requested at pod level: CPU, memory
// and huge pages (KEP-2837).
func withPodLevel(rs, podLevel Resources) Resources {
	for _, a := range podLevel {
		if isPodLevel(a.Name) {
			rs = rs.merge(Resources{a}, func(_, b Quantity) Quantity { return b })
		}
	}
	return rs
}

func isPodLevel(name v1.ResourceName) bool {
	return name == v1.ResourceCPU || name == v1.ResourceMemory || strings.HasPrefix(string(name), v1.ResourceHugePagesPrefix)
}

func anyPodLevel(list v1.ResourceList) bool {
	for name := range list {
		if isPodLevel(name) {
			return true
		}
	}
	return false
}

func hasResizeStatus(p *v1.Pod) bool {
	return len(p.Status.ContainerStatuses) > 0 || len(p.Status.InitContainerStatuses) > 0 ||
		p.Status.Resources != nil || p.Status.AllocatedResources != nil || ResizeInfeasible(p)
}

// GateResizePreemption names the gate by which room is made for a bound pod whose resize is deferred (KEP-5836). It is about such pods
// alone.
const GateResizePreemption = "InPlacePodVerticalScalingSchedulerPreemption"

// ResizeDeferred tells whether the node has found that it cannot resize the pod as its spec desires for now (KEP-1287,
// PodResizePending).
func ResizeDeferred(p *v1.Pod) bool { return resizePending(p) == v1.PodReasonDeferred }

// ResizeInfeasible tells whether the node has found that it never can resize the pod
// as its spec desires (KEP-1287, PodResizePending).
func ResizeInfeasible(p *v1.Pod) bool { return resizePending(p) == v1.PodReasonInfeasible }

// resizePending is the reason why a resize is pending; "" if none is.
func resizePending(p *v1.Pod) string {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodResizePending {
			return c.Reason
		}
	}
	return ""
}

// ContainerStatus is the status of the container of p with that name, or nil.
func ContainerStatus(p *v1.Pod, name string) *v1.ContainerStatus {
	for _, list := range [][]v1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
