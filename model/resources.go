package model

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// quantity is an exact non-negative amount: whole units and thousandths of one.
type quantity struct{ whole, milli int64 }

func quantityOf(q resource.Quantity) quantity {
	if whole, exact := q.AsInt64(); exact {
		return quantity{whole: whole}
	}
	m := q.MilliValue()
	return quantity{whole: m / 1000, milli: m % 1000}
}

func (a quantity) plus(b quantity) quantity {
	sum := quantity{a.whole + b.whole, a.milli + b.milli}
	if sum.milli >= 1000 {
		sum.whole, sum.milli = sum.whole+1, sum.milli-1000
	}
	return sum
}

func (a quantity) less(b quantity) bool {
	return a.whole < b.whole || a.whole == b.whole && a.milli < b.milli
}

// roundedUp is how the scheduler reads an amount: in whole units, rounded up.
func (a quantity) roundedUp() int64 {
	if a.milli > 0 {
		return a.whole + 1
	}
	return a.whole
}

// amount is a quantity of a named resource. CPU counts in milliCPU.
type amount struct {
	name v1.ResourceName
	quantity
}

// resources are amounts, one per name, in no particular order.
type resources []amount

func resourcesOf(list v1.ResourceList) resources {
	rs := make(resources, 0, len(list))
	for name, q := range list {
		if name == v1.ResourceCPU {
			rs = append(rs, amount{name, quantity{whole: q.MilliValue()}})
		} else {
			rs = append(rs, amount{name, quantityOf(q)})
		}
	}
	return rs
}

func (rs resources) get(name v1.ResourceName) quantity {
	for _, a := range rs {
		if a.name == name {
			return a.quantity
		}
	}
	return quantity{}
}

// merge combines both lists name by name. It may reuse rs.
func (rs resources) merge(other resources, combine func(a, b quantity) quantity) resources {
next:
	for _, o := range other {
		for i := range rs {
			if rs[i].name == o.name {
				rs[i].quantity = combine(rs[i].quantity, o.quantity)
				continue next
			}
		}
		rs = append(rs, o)
	}
	return rs
}

func (rs resources) add(other resources) resources { return rs.merge(other, quantity.plus) }

func (rs resources) max(other resources) resources {
	return rs.merge(other, func(a, b quantity) quantity {
		if a.less(b) {
			return b
		}
		return a
	})
}

func (rs resources) clone() resources { return append(resources(nil), rs...) }

// equal treats a missing name as an amount of zero.
func (rs resources) equal(other resources) bool {
	for _, a := range rs {
		if other.get(a.name) != a.quantity {
			return false
		}
	}
	for _, a := range other {
		if rs.get(a.name) != a.quantity {
			return false
		}
	}
	return true
}

// requested is what a pod that is still to be placed asks for: the sum of its
// containers and sidecars, or what its init containers need at their peak if
// that is more, or what the pod as a whole requests; plus the overhead.
// Sources: KEP-753 "Resources calculation for scheduling and pod admission",
// KEP-2837 (pod-level resources), KEP-688 (overhead).
func requested(p *v1.Pod) resources {
	rs := sumContainers(p, func(c *v1.Container) resources { return resourcesOf(c.Resources.Requests) })
	if p.Spec.Resources != nil {
		rs = withPodLevel(rs, resourcesOf(p.Spec.Resources.Requests))
	}
	return rs.add(resourcesOf(p.Spec.Overhead))
}

// occupied is what a placed or nominated pod takes on its node. While an
// in-place resize is under way that is, resource by resource, the largest of
// what is desired, allocated and in effect; the desired amount no longer counts
// once the resize is found infeasible.
// Source: KEP-1287, "Scheduler and API server interaction".
func occupied(p *v1.Pod) resources {
	if !hasResizeStatus(p) {
		return requested(p)
	}
	infeasible := resizeInfeasible(p)
	allocated := func(c *v1.Container) resources {
		if s := containerStatus(p, c.Name); s != nil && s.AllocatedResources != nil {
			return resourcesOf(s.AllocatedResources)
		}
		if infeasible {
			return nil
		}
		return resourcesOf(c.Resources.Requests)
	}
	inEffect := func(c *v1.Container) resources {
		if s := containerStatus(p, c.Name); s != nil && s.Resources != nil && s.Resources.Requests != nil {
			return resourcesOf(s.Resources.Requests)
		}
		return allocated(c)
	}

	var rs resources
	if p.Status.AllocatedResources != nil && p.Status.Resources != nil && p.Status.Resources.Requests != nil {
		rs = resourcesOf(p.Status.AllocatedResources).max(resourcesOf(p.Status.Resources.Requests))
	} else {
		rs = sumContainers(p, allocated).max(sumContainers(p, inEffect))
	}
	if !infeasible {
		rs = rs.max(sumContainers(p, func(c *v1.Container) resources { return resourcesOf(c.Resources.Requests) }))
	}
	if p.Spec.Resources != nil && anyPodLevel(p.Spec.Resources.Requests) {
		var podLevel resources
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

// occupiedEach is what occupied was before 1.37: each container that has a status
// of its resources counts by itself, and so does what the pod as a whole requests.
// Init containers were not resized, but for sidecars (KEP-1287).
func occupiedEach(p *v1.Pod) resources {
	effective := func(desired, actual, allocated v1.ResourceList) resources {
		rs := resourcesOf(actual).max(resourcesOf(allocated))
		if !resizeInfeasible(p) {
			rs = rs.max(resourcesOf(desired))
		}
		return rs
	}
	rs := sumContainers(p, func(c *v1.Container) resources {
		if s := containerStatus(p, c.Name); s != nil && s.Resources != nil && (isSidecar(c) || !isInit(p, c.Name)) {
			return effective(c.Resources.Requests, s.Resources.Requests, s.AllocatedResources)
		}
		return resourcesOf(c.Resources.Requests)
	})
	if p.Spec.Resources != nil {
		podLevel := resourcesOf(p.Spec.Resources.Requests)
		if p.Status.Resources != nil {
			actual := effective(p.Spec.Resources.Requests, p.Status.Resources.Requests, p.Status.AllocatedResources)
			for i := range podLevel {
				podLevel[i].quantity = actual.get(podLevel[i].name)
			}
		}
		rs = withPodLevel(rs, podLevel)
	}
	return rs.add(resourcesOf(p.Spec.Overhead))
}

// sumContainers combines what the containers of a pod need, each as of says:
// all containers and sidecars together, but at least what any init container
// needs while it runs beside the sidecars started before it (KEP-753).
func sumContainers(p *v1.Pod, of func(*v1.Container) resources) resources {
	var running resources
	for i := range p.Spec.Containers {
		running = running.add(of(&p.Spec.Containers[i]))
	}
	var sidecars, peak resources
	for i := range p.Spec.InitContainers {
		c := &p.Spec.InitContainers[i]
		needs := of(c)
		if isSidecar(c) {
			running = running.add(needs)
			sidecars = sidecars.add(needs)
			peak = peak.max(sidecars)
		} else {
			peak = peak.max(sidecars.clone().add(needs))
		}
	}
	return running.max(peak)
}

func isSidecar(c *v1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
}

func isInit(p *v1.Pod, container string) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c v1.Container) bool { return c.Name == container })
}

// withPodLevel replaces what the containers need by what the pod as a whole
// requests, for the resources that can be requested at pod level: CPU, memory
// and huge pages (KEP-2837).
func withPodLevel(rs, podLevel resources) resources {
	for _, a := range podLevel {
		if isPodLevel(a.name) {
			rs = rs.merge(resources{a}, func(_, b quantity) quantity { return b })
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
		p.Status.Resources != nil || p.Status.AllocatedResources != nil || resizeInfeasible(p)
}

func resizeInfeasible(p *v1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodResizePending {
			return c.Reason == v1.PodReasonInfeasible
		}
	}
	return false
}

func containerStatus(p *v1.Pod, name string) *v1.ContainerStatus {
	for _, list := range [][]v1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
		for i := range list {
			if list[i].Name == name {
				return &list[i]
			}
		}
	}
	return nil
}
