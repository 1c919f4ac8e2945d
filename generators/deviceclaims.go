package generators

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
)

// claimMaker makes the devices of a cluster and the resource claims for them.
type claimMaker struct {
	*generator
	preemptor *v1.Pod
	bound     []*v1.Pod
	objects   []runtime.Object
	devices   []resourcev1.DeviceRequestAllocationResult
}

// claimDevices gives the preemptor resource claims, and the cluster devices, some
// of which are other pods' already.
func (g *generator) claimDevices(p *v1.Pod, bound []*v1.Pod) []runtime.Object {
	m := &claimMaker{generator: g, preemptor: p, bound: bound, objects: []runtime.Object{anyClass, fastClass}}
	for i := range g.nodes {
		if count := pick(g.source, 4, 3, 2, 5, 1, 0); count > 0 {
			m.slice(numbered("slice", i), NodeName(i), count, func(s *resourcev1.ResourceSliceSpec) { s.NodeName = new(NodeName(i)) })
		}
	}
	if g.chance(20) {
		m.slice("slice-shared", "shared", 1+g.intn(2), func(s *resourcev1.ResourceSliceSpec) {
			if s.AllNodes = new(true); g.nodeLabels && g.chance(60) {
				s.AllNodes, s.NodeSelector = nil, inZone("a")
			}
		})
	}
	for i := range 1 + weighted(g.source, 75, 18, 7) {
		m.own(i)
	}
	for i := range g.intn(3) {
		m.others(numbered("other", i), metav1.NamespaceDefault)
	}
	return m.objects
}

func (m *claimMaker) slice(name, pool string, count int, where func(s *resourcev1.ResourceSliceSpec)) {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec = resourcev1.ResourceSliceSpec{Driver: pick(m.source, "fast.example.com", "fast.example.com", "slow.example.com"),
		Pool: resourcev1.ResourcePool{Name: pool, Generation: 1, ResourceSliceCount: 1}}
	where(&s.Spec)
	for i := range count {
		name := numbered("device", i)
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: name})
		m.devices = append(m.devices, resourcev1.DeviceRequestAllocationResult{Request: "devices", Driver: s.Spec.Driver, Pool: pool, Device: name})
	}
	m.objects = append(m.objects, s)
}

// claim makes a claim for devices that is not allocated.
func (m *claimMaker) claim(name, namespace string) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID("claim/" + name)}}
	for range 1 + weighted(m.source, 80, 20) {
		r := resourcev1.ExactDeviceRequest{DeviceClassName: pick(m.source, anyClass.Name, anyClass.Name, fastClass.Name, fastClass.Name),
			AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(pick(m.source, 1, 1, 1, 2, 1, 3))}
		if m.chance(2) {
			r.DeviceClassName = "gone"
		}
		name := []string{"devices", "more"}[len(c.Spec.Devices.Requests)]
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: name, Exactly: &r})
	}
	m.objects = append(m.objects, c)
	return c
}

// allocate gives a claim one of the devices, to be used from some of the nodes.
func (m *claimMaker) allocate(c *resourcev1.ResourceClaim) {
	if len(m.devices) == 0 {
		return
	}
	c.Finalizers = []string{resourcev1.Finalizer}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
		Results: []resourcev1.DeviceRequestAllocationResult{pick(m.source, m.devices...)}}}
	switch weighted(m.source, 25, 20, 55) {
	case 0:
		c.Status.Allocation.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{isNode(m.someNode())}}
	case 1:
		c.Status.Allocation.NodeSelector = inZone(pick(m.source, "a", "b"))
	}
}

func inZone(zone string) *v1.NodeSelector {
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{isLabelled("zone", zone)}}
}

// own makes a claim of the preemptor, or leaves it out.
func (m *claimMaker) own(i int) {
	p, name := m.preemptor, numbered("claim", i)
	entry := v1.PodResourceClaim{Name: name, ResourceClaimName: &name}
	fromTemplate := m.chance(30)
	if fromTemplate {
		entry.ResourceClaimName, entry.ResourceClaimTemplateName = nil, new("template")
		status := v1.PodResourceClaimStatus{Name: name, ResourceClaimName: &name}
		if m.chance(8) {
			status.ResourceClaimName = nil
		}
		if !m.chance(3) {
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, status)
		}
	}
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, entry)
	if !fromTemplate && m.chance(6) { // one claim under two names
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name + "-again", ResourceClaimName: &name})
	}
	if m.chance(2) {
		return
	}
	c := m.claim(name, p.Namespace)
	if fromTemplate {
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}
		if m.chance(8) {
			owner.Name, owner.UID = "elsewhere", "default/elsewhere"
		}
		c.OwnerReferences = []metav1.OwnerReference{owner}
	}
	if m.chance(65) {
		m.allocate(c)
	}
	if c.Status.Allocation != nil {
		switch weighted(m.source, 65, 15, 20) {
		case 1:
			reserve(c, p)
		case 2:
			for _, other := range m.bound {
				if other.Namespace == c.Namespace && m.chance(30) {
					reserve(c, other)
				}
			}
		}
	}
	if m.chance(3) {
		c.DeletionTimestamp, c.DeletionGracePeriodSeconds = new(metav1.NewTime(epoch.AddDate(1, 0, 0))), new(int64(0))
		c.Finalizers = []string{resourcev1.Finalizer}
	}
}

// others makes a claim that a bound pod uses, if it has got its device.
func (m *claimMaker) others(name, namespace string) {
	c := m.claim(name, namespace)
	m.allocate(c)
	for _, p := range m.bound {
		if c.Status.Allocation != nil && p.Namespace == namespace && m.chance(30) {
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: &c.Name})
			reserve(c, p)
			return
		}
	}
}

func reserve(c *resourcev1.ResourceClaim, p *v1.Pod) {
	c.Status.ReservedFor = append(slices.Clip(c.Status.ReservedFor),
		resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: p.Name, UID: types.UID(model.Key(p))})
}

// The classes that claims ask for devices of.
var (
	anyClass  = &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "any"}}
	fastClass = &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "fast"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "fast.example.com"`}}}}}
)
