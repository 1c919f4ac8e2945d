package devices

import (
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// Extend makes devices back an extended resource, which some of the nodes then no longer
// have as their own. It returns all objects that this takes.
func Extend(s draw.Source, name v1.ResourceName, nodes []*v1.Node) []runtime.Object {
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: extending}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: new(string(name))}}
	objects := []runtime.Object{class}
	m := &claimMaker{Cluster: Cluster{Source: s}}
	for i, n := range nodes {
		if !s.Chance(60) {
			continue
		}
		delete(n.Status.Allocatable, name)
		delete(n.Status.Capacity, name)
		if count := draw.Pick(s, 2, 1, 4, 0); count > 0 {
			m.slice(numbered("backing", i), n.Name+"-backing", count, func(spec *resourcev1.ResourceSliceSpec) { spec.NodeName = &n.Name })
		}
	}
	return append(objects, m.objects...)
}

// extending is the class of Extend.
const extending = "extending"

// Extends tells whether Extend has made some of the objects.
func Extends(objects []runtime.Object) bool { return slices.ContainsFunc(objects, isExtending) }

func isExtending(o runtime.Object) bool {
	class, ok := o.(*resourcev1.DeviceClass)
	return ok && class.Name == extending
}

// Detailed makes what Extend has made more than the plainest case: classes that have the
// name in common, pods that name a class, containers of all kinds, and devices in use. It
// returns all objects.
func Detailed(s draw.Source, name v1.ResourceName, c *model.Cluster) []runtime.Object {
	e := &extender{Source: s, name: name, c: c, objects: c.Extra}
	if s.Chance(50) {
		e.rival()
	}
	if s.Chance(60) {
		e.askInContainers()
	}
	if s.Chance(40) {
		e.nameClass(extending, "another", "yielding")
	}
	e.grow()
	e.give()
	for _, n := range c.Nodes {
		if _, has := n.Status.Allocatable[name]; !has && s.Chance(6) { // its device plugin is gone
			n.Status.Allocatable[name], n.Status.Capacity[name] = resource.Quantity{}, resource.Quantity{}
		}
	}
	if s.Chance(10) { // an earlier cycle ended in a failure, and left its claim
		if claim, _ := special(name, c.Preemptor); len(claim.Spec.Devices.Requests) > 0 {
			if s.Chance(40) { // somebody else owns it, too
				claim.OwnerReferences = slices.Insert(claim.OwnerReferences, 0, metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: "quota", UID: "quota"})
			}
			e.objects = append(e.objects, claim)
		}
	}
	return e.objects
}

// Beside has the preemptor ask for devices of the classes of Claims beside its claims: by the
// name that each class has for that, or by that of a resource, which some of the nodes have
// themselves.
func Beside(s draw.Source, name v1.ResourceName, c *model.Cluster) {
	e := &extender{Source: s, name: name, c: c}
	e.askInContainers()
	if s.Chance(60) {
		e.nameClass(anyClass.Name, fastClass.Name)
		return
	}
	for i, o := range c.Extra {
		if o == runtime.Object(anyClass) {
			class := anyClass.DeepCopy()
			class.Spec.ExtendedResourceName = new(string(name))
			c.Extra[i] = class
		}
	}
	for _, n := range c.Nodes {
		if s.Chance(50) {
			q := *resource.NewQuantity(int64(draw.Pick(s, 2, 1, 4)), resource.DecimalSI)
			n.Status.Allocatable[name], n.Status.Capacity[name] = q, q
		}
	}
}

// extender gives details to what is extended.
type extender struct {
	draw.Source
	name    v1.ResourceName
	c       *model.Cluster
	objects []runtime.Object
}

var classesCreated = metav1.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)

// rival makes a second class with the same name, which sorts before the first or after it,
// and was created before, at the same time or after. Either may be for the devices of one
// driver only.
func (e *extender) rival() {
	at := slices.IndexFunc(e.objects, isExtending)
	class := e.objects[at].(*resourcev1.DeviceClass)
	rival := class.DeepCopy()
	rival.Name = draw.Pick(e.Source, "another", "yielding")
	class.CreationTimestamp = classesCreated
	rival.CreationTimestamp = metav1.NewTime(classesCreated.Add(time.Duration(draw.Pick(e.Source, 0, 1, -1)) * time.Hour))
	for _, of := range []*resourcev1.DeviceClass{class, rival} {
		if driver := draw.Pick(e.Source, "fast", "slow", ""); driver != "" {
			of.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "` + driver + `.example.com"`}}}
		}
	}
	e.objects = slices.Insert(slices.Clone(e.objects), at+e.Intn(2), runtime.Object(rival))
}

// grow adds devices to most slices, so that there are enough for several containers.
func (e *extender) grow() {
	for _, o := range e.objects {
		if of, ok := o.(*resourcev1.ResourceSlice); ok {
			for range draw.Pick(e.Source, 3, 2, 5, 0) {
				of.Spec.Devices = append(of.Spec.Devices, resourcev1.Device{Name: numbered("device", len(of.Spec.Devices))})
			}
		}
	}
}

// askInContainers has containers, sidecars and init containers of the preemptor ask for
// devices.
func (e *extender) askInContainers() {
	spec := &e.c.Preemptor.Spec
	for i := range spec.Containers {
		if e.Chance(50) {
			e.ask(&spec.Containers[i], draw.Pick(e.Source, 1, 0, 2))
		}
	}
	another := func(name string) v1.Container {
		c := *spec.Containers[0].DeepCopy()
		c.Name, c.Resources, c.Ports = name, v1.ResourceRequirements{}, nil
		return c
	}
	if e.Chance(35) {
		c := another("more-devices")
		e.ask(&c, draw.Pick(e.Source, 1, 2))
		spec.Containers = append(slices.Clip(spec.Containers), c)
	}
	for range draw.Weighted(e.Source, 35, 35, 30) {
		c := another(numbered("devices", len(spec.InitContainers)))
		if e.Chance(40) {
			c.RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		}
		e.ask(&c, draw.Pick(e.Source, 1, 2, 3))
		spec.InitContainers = slices.Insert(slices.Clip(spec.InitContainers), e.Intn(len(spec.InitContainers)+1), c)
	}
}

// ask has a container request so many devices.
func (e *extender) ask(c *v1.Container, count int) {
	q := *resource.NewQuantity(int64(count), resource.DecimalSI)
	for _, list := range []*v1.ResourceList{&c.Resources.Requests, &c.Resources.Limits} {
		if *list = maps.Clone(*list); *list == nil {
			*list = v1.ResourceList{}
		}
		(*list)[e.name] = q
	}
}

// nameClass has containers of the preemptor ask by the name of one of the classes instead, or as well.
func (e *extender) nameClass(classes ...string) {
	name := v1.ResourceName(resourcev1.ResourceDeviceClassPrefix + draw.Pick(e.Source, classes...))
	some := draw.Pick(e.Source, 100, 50, 50)
	for _, containers := range [][]v1.Container{e.c.Preemptor.Spec.Containers, e.c.Preemptor.Spec.InitContainers} {
		for i := range containers {
			c := &containers[i]
			q, asks := c.Resources.Requests[e.name]
			if !asks || !e.Chance(some) {
				continue
			}
			both := e.Chance(20)
			for _, list := range []*v1.ResourceList{&c.Resources.Requests, &c.Resources.Limits} {
				if *list = maps.Clone(*list); !both {
					delete(*list, e.name)
				}
				(*list)[name] = q
			}
		}
	}
}

// give gives bound pods that request the resource where devices back it devices that are
// there, as the scheduler did when it bound them, for as many pods as there are devices.
func (e *extender) give() {
	for _, o := range e.objects {
		of, ok := o.(*resourcev1.ResourceSlice)
		if !ok || of.Spec.NodeName == nil {
			continue
		}
		free := of.Spec.Devices
		for _, p := range e.c.Pods {
			if p.Spec.NodeName != *of.Spec.NodeName || p.Annotations[v1.MirrorPodAnnotationKey] != "" || !e.Chance(80) {
				continue
			}
			claim, status := special(e.name, p)
			var gets []resourcev1.DeviceRequestAllocationResult
			for _, r := range claim.Spec.Devices.Requests {
				for range r.Exactly.Count {
					gets = append(gets, resourcev1.DeviceRequestAllocationResult{Request: r.Name, Driver: of.Spec.Driver, Pool: of.Spec.Pool.Name})
				}
			}
			if len(gets) == 0 || len(gets) > len(free) {
				continue
			}
			for i := range gets {
				gets[i].Device = free[i].Name
			}
			free = free[len(gets):]
			claim.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: gets},
				NodeSelector: selector(v1.NodeSelectorTerm{MatchFields: in(metav1.ObjectNameField, p.Spec.NodeName)})}
			reserve(claim, p)
			p.Status.ExtendedResourceClaimStatus = status
			e.objects = append(e.objects, claim)
		}
	}
}

// special is the claim that the scheduler makes for the extended resource of a pod, before it
// is allocated, and what the pod's status says of it.
func special(name v1.ResourceName, p *v1.Pod) (c *resourcev1.ResourceClaim, status *v1.PodExtendedResourceClaimStatus) {
	c = &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: p.Name + "-extended-resources-0", Namespace: p.Namespace,
		UID: types.UID("claim/" + p.Name), Finalizers: []string{resourcev1.Finalizer},
		Annotations:     map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: types.UID(model.Key(p)), Controller: new(true)}}}}
	status = &v1.PodExtendedResourceClaimStatus{ResourceClaimName: c.Name}
	for i, container := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		q := container.Resources.Requests[name]
		if q.IsZero() || q.CmpInt64(resourcev1.AllocationResultsMaxSize) > 0 {
			continue
		}
		r := resourcev1.DeviceRequest{Name: numbered("container", i) + "-request-0", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: extending, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: q.Value()}}
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, r)
		status.RequestMappings = append(status.RequestMappings, v1.ContainerExtendedResourceRequest{ContainerName: container.Name, ResourceName: string(name), RequestName: r.Name})
	}
	return c, status
}
