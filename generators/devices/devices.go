// Package devices gives a generated cluster devices, and pods resource claims for them.
package devices

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// Cluster is what claims are drawn for.
type Cluster struct {
	draw.Source
	Nodes    []*v1.Node
	SomeNode func() string
	// Zones: some devices are in a zone only.
	Zones     bool
	Preemptor *v1.Pod
	Bound     []*v1.Pod
}

// Claims gives the preemptor resource claims, and the cluster devices, some of
// which are other pods' already. It returns all objects that this takes.
func Claims(c Cluster) []runtime.Object {
	m := &claimMaker{Cluster: c, objects: []runtime.Object{anyClass, fastClass}}
	for i, n := range c.Nodes {
		if count := draw.Pick(c.Source, 4, 3, 2, 5, 1, 0); count > 0 {
			m.slice(numbered("slice", i), n.Name, count, func(s *resourcev1.ResourceSliceSpec) { s.NodeName = &n.Name })
		}
	}
	if c.Chance(20) {
		m.slice("slice-shared", "shared", 1+c.Intn(2), func(s *resourcev1.ResourceSliceSpec) {
			if s.AllNodes = new(true); c.Zones && c.Chance(60) {
				s.AllNodes, s.NodeSelector = nil, inZone("a")
			}
		})
	}
	for i := range 1 + draw.Weighted(c.Source, 75, 18, 7) {
		m.own(i)
	}
	for i := range c.Intn(3) {
		m.others(numbered("other", i), metav1.NamespaceDefault)
	}
	return m.objects
}

// Nominated gives pods that are nominated to a node claims for devices that they do not
// have yet. It returns these claims.
func Nominated(s draw.Source, pods []*v1.Pod) []runtime.Object {
	m := &claimMaker{Cluster: Cluster{Source: s}}
	for i, p := range pods {
		if p.Status.NominatedNodeName != "" && m.Chance(60) {
			name := numbered("nominated", i)
			m.claim(name, p.Namespace)
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: &name})
		}
	}
	return m.objects
}

// claimMaker makes the devices and the claims.
type claimMaker struct {
	Cluster
	objects []runtime.Object
	devices []resourcev1.DeviceRequestAllocationResult
}

func numbered(name string, i int) string { return fmt.Sprintf("%s-%d", name, i) }

func (m *claimMaker) slice(name, pool string, count int, where func(s *resourcev1.ResourceSliceSpec)) {
	s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: name}}
	s.Spec = resourcev1.ResourceSliceSpec{Driver: draw.Pick(m.Source, "fast.example.com", "fast.example.com", "slow.example.com"),
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
	for range 1 + draw.Weighted(m.Source, 80, 20) {
		r := resourcev1.ExactDeviceRequest{DeviceClassName: draw.Pick(m.Source, anyClass.Name, anyClass.Name, fastClass.Name, fastClass.Name),
			AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(draw.Pick(m.Source, 1, 1, 1, 2, 1, 3))}
		if m.Chance(2) {
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
		Results: []resourcev1.DeviceRequestAllocationResult{draw.Pick(m.Source, m.devices...)}}}
	switch draw.Weighted(m.Source, 25, 20, 55) {
	case 0:
		c.Status.Allocation.NodeSelector = selector(v1.NodeSelectorTerm{MatchFields: in(metav1.ObjectNameField, m.SomeNode())})
	case 1:
		c.Status.Allocation.NodeSelector = inZone(draw.Pick(m.Source, "a", "b"))
	}
}

func inZone(zone string) *v1.NodeSelector {
	return selector(v1.NodeSelectorTerm{MatchExpressions: in("zone", zone)})
}

func selector(term v1.NodeSelectorTerm) *v1.NodeSelector {
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{term}}
}

func in(key, value string) []v1.NodeSelectorRequirement {
	return []v1.NodeSelectorRequirement{{Key: key, Operator: v1.NodeSelectorOpIn, Values: []string{value}}}
}

// own makes a claim of the preemptor, or leaves it out.
func (m *claimMaker) own(i int) {
	p, name := m.Preemptor, numbered("claim", i)
	entry := v1.PodResourceClaim{Name: name, ResourceClaimName: &name}
	fromTemplate := m.Chance(30)
	if fromTemplate {
		entry.ResourceClaimName, entry.ResourceClaimTemplateName = nil, new("template")
		status := v1.PodResourceClaimStatus{Name: name, ResourceClaimName: &name}
		if m.Chance(8) {
			status.ResourceClaimName = nil
		}
		if !m.Chance(3) {
			p.Status.ResourceClaimStatuses = append(p.Status.ResourceClaimStatuses, status)
		}
	}
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, entry)
	if !fromTemplate && m.Chance(6) { // one claim under two names
		p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name + "-again", ResourceClaimName: &name})
	}
	if m.Chance(2) {
		return
	}
	c := m.claim(name, p.Namespace)
	if fromTemplate {
		owner := metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID, Controller: new(true)}
		if m.Chance(8) {
			owner.Name, owner.UID = "elsewhere", "default/elsewhere"
		}
		c.OwnerReferences = []metav1.OwnerReference{owner}
	}
	if m.Chance(65) {
		m.allocate(c)
	}
	if c.Status.Allocation != nil {
		switch draw.Weighted(m.Source, 75, 12, 13) {
		case 1:
			reserve(c, p)
		case 2:
			for _, other := range m.Bound {
				if other.Namespace == c.Namespace && m.Chance(30) {
					reserve(c, other)
				}
			}
		}
	}
	if m.Chance(3) {
		c.DeletionTimestamp, c.DeletionGracePeriodSeconds = new(metav1.Date(2022, 3, 1, 0, 0, 0, 0, time.UTC)), new(int64(0))
		c.Finalizers = []string{resourcev1.Finalizer}
	}
}

// others makes a claim that a bound pod uses, if it has got its device.
func (m *claimMaker) others(name, namespace string) {
	c := m.claim(name, namespace)
	m.allocate(c)
	for _, p := range m.Bound {
		if c.Status.Allocation != nil && p.Namespace == namespace && m.Chance(30) {
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: &c.Name})
			reserve(c, p)
			return
		}
	}
}

// Crowd makes pods that are gone users of some claims, as many as there is room for, or
// one less: who takes them off may be behind.
func Crowd(s draw.Source, objects []runtime.Object) {
	for _, o := range objects {
		c, ok := o.(*resourcev1.ResourceClaim)
		if !ok || c.Status.Allocation == nil || len(c.OwnerReferences) > 0 || !s.Chance(5) {
			continue
		}
		most := resourcev1.ResourceClaimReservedForMaxSize - draw.Pick(s, 0, 1)
		for i := len(c.Status.ReservedFor); i < most; i++ {
			name := numbered("gone", i)
			c.Status.ReservedFor = append(c.Status.ReservedFor,
				resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: name, UID: types.UID(name)})
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
