package device

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// extended is an extended resource that a pod requests, and that devices back on nodes
// which do not have it themselves.
type extended struct {
	name  v1.ResourceName
	class *resourcev1.DeviceClass
	// wishes are for the devices of the claim that the scheduler makes for the pod: "one
	// request is created per container, and per extended resource backed by DRA in the
	// container" (KEP-5004, "Filter").
	wishes []wish
}

// extendedOf are the extended resources of a pod that devices back, and unbacked those that
// only nodes can have.
func extendedOf(p *v1.Pod, objects []runtime.Object) (backed []extended, unbacked []v1.ResourceName) {
	for _, want := range filter.Requested(p) {
		if want.Quantity == (filter.Quantity{}) || !filter.IsExtended(want.Name) {
			continue
		}
		class := filter.Backing(objects, want.Name)
		if class == nil {
			unbacked = append(unbacked, want.Name)
			continue
		}
		e := extended{name: want.Name, class: class}
		driver, _ := driverOf(class)
		for _, count := range requestsOf(p, want.Name) {
			e.wishes = append(e.wishes, wish{class: class.Name, driver: driver, count: count, request: string(want.Name)})
		}
		backed = append(backed, e)
	}
	return backed, unbacked
}

// requestsOf is how many devices each request for a resource is for. Containers and
// sidecars run together, so that none has the devices of another. An init container reuses
// "the same resources requested by later sidecar initContainers or regular containers when
// possible, to minimize the total number of devices requested by the pod"
// (CHANGELOG-1.35, kubernetes#134882): so many are needed as of other resources (KEP-753).
func requestsOf(p *v1.Pod, name v1.ResourceName) (counts []int) {
	of := func(c *v1.Container) int {
		q := c.Resources.Requests[name]
		if q.CmpInt64(maxDevices) > 0 { // by far, perhaps: 64 bits may not suffice
			return maxDevices + 1
		}
		return int(q.Value())
	}
	together := 0 // of what runs together once the init containers have ended
	for i := range p.Spec.Containers {
		together += of(&p.Spec.Containers[i])
		counts = append(counts, of(&p.Spec.Containers[i]))
	}
	besides := 0
	for i := range slices.Backward(p.Spec.InitContainers) {
		c := &p.Spec.InitContainers[i]
		if filter.IsSidecar(c) {
			together += of(c)
			counts = append(counts, of(c))
		} else {
			besides = max(besides, of(c)-together)
		}
	}
	return slices.DeleteFunc(append(counts, besides), func(count int) bool { return count == 0 })
}

// on are the devices with what the pods want of a node beside what they claim: what it does
// not have itself of the extended resources that devices back. All requests of a pod
// for them are of one claim, which is none of those in its spec.
func (d *devices) on(n *v1.Node) *devices {
	if len(d.extended) == 0 {
		return d
	}
	here := *d
	here.wanted = slices.Clone(d.wanted)
	for _, of := range d.extended {
		here.claimed++
		for _, e := range of {
			if filter.HasItself(n, e.name) {
				continue
			}
			for _, w := range e.wishes {
				w.claim = here.claimed
				here.wanted = append(here.wanted, []wish{w})
			}
		}
	}
	return &here
}

// lacks tells whether a node does not have an extended resource at all that no devices back:
// the pod "cannot be allocated from node's Allocatable, nor" from devices (doc comment of
// filterExtendedResources, extendeddynamicresources.go:206@v1.37.1). NodeResourcesFit says so
// first, so that it shows only where DynamicResources is asked alone.
func lacks(n *v1.Node, unbacked []v1.ResourceName) bool {
	return slices.ContainsFunc(unbacked, func(name v1.ResourceName) bool {
		_, has := n.Status.Allocatable[name]
		return !has
	})
}

// Uses tells whether a pod uses devices, or may: it names claims, or requests a resource that
// devices back.
func Uses(objects []runtime.Object, p *v1.Pod) bool {
	return len(p.Spec.ResourceClaims) > 0 || Backs(objects, p)
}

// Backs tells whether the pod may get a resource that it requests from devices of one of
// the classes among the objects (KEP-5004).
func Backs(objects []runtime.Object, p *v1.Pod) bool {
	backed, _ := extendedOf(p, objects)
	return len(backed) > 0
}

// SpecialOf are the claims that the scheduler has made in earlier cycles for the extended
// resources of a pod that devices back (resource/v1/types.go:34@v0.37.1,
// ExtendedResourceClaimAnnotation): one at most, unless somebody else meddles.
func SpecialOf(p *v1.Pod, objects []runtime.Object) (made []*resourcev1.ResourceClaim) {
	if !Backs(objects, p) {
		return nil
	}
	for _, o := range objects {
		claim, ok := o.(*resourcev1.ResourceClaim)
		if ok && claim.Namespace == p.Namespace && claim.Annotations[resourcev1.ExtendedResourceClaimAnnotation] == "true" && filter.Controls(p, claim) {
			made = append(made, claim)
		}
	}
	return made
}

// unmodelledExtended reports what is not covered of the extended resources that a pod may
// get from devices.
func unmodelledExtended(p *v1.Pod, backed []extended, report filter.Report) {
	for _, e := range backed {
		if _, known := driverOf(e.class); !known {
			report("DeviceClass "+e.class.Name, "spec.selectors", "selectors of device classes other than by driver")
		}
		total := 0
		for _, w := range e.wishes {
			total += w.count
		}
		if total > maxDevices {
			report("Pod "+filter.Key(p), "spec.containers", "more devices than a claim can hold")
		}
		if _, more := p.Spec.Overhead[e.name]; more {
			report("Pod "+filter.Key(p), "spec.overhead", "devices for no container")
		}
		if slices.ContainsFunc(slices.Concat(p.Spec.Containers, p.Spec.InitContainers), func(c v1.Container) bool {
			q := c.Resources.Requests[e.name]
			return q.CmpInt64(maxDevices) < 0 && q.MilliValue()%1000 != 0
		}) {
			report("Pod "+filter.Key(p), "spec.containers", "parts of devices")
		}
	}
}

// Ask is what a container asks for of an extended resource.
type Ask struct {
	Container, Resource, Class string
	Count                      int64
}

// FromDevices are what the containers of a pod ask for that they get from devices on a node,
// and how many devices of each class it takes.
func FromDevices(objects []runtime.Object, p *v1.Pod, n *v1.Node) (asks []Ask, devices map[string]int64) {
	devices = map[string]int64{}
	backed, _ := extendedOf(p, objects)
	for _, e := range backed {
		if filter.HasItself(n, e.name) {
			continue
		}
		for _, w := range e.wishes {
			devices[e.class.Name] += int64(w.count)
		}
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			if q := c.Resources.Requests[e.name]; !q.IsZero() {
				asks = append(asks, Ask{c.Name, string(e.name), e.class.Name, q.Value()})
			}
		}
	}
	return asks, devices
}

// Served is an extended resource that devices back for a pod: how many of which class it takes
// on a node that does not have the resource itself.
type Served struct {
	Resource, Class string
	Devices         int
}

// ServedTo are the extended resources that devices back for a pod.
func ServedTo(objects []runtime.Object, p *v1.Pod) (all []Served) {
	backed, _ := extendedOf(p, objects)
	for _, e := range backed {
		s := Served{Resource: string(e.name), Class: e.class.Name}
		for _, w := range e.wishes {
			s.Devices += w.count
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Served) int { return strings.Compare(a.Resource, b.Resource) })
	return all
}
