package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/properties"
)

// event is a change of one object that the scheduler is told of, and how the cluster comes to be as it is before.
type event struct {
	kind   string // for example "Node updated: a taint less"
	object *calls.Object
	before []calls.Call
	event  calls.Call
	// label is the key of the label that changes; "" if none does.
	label string
}

func (e event) String() string { return fmt.Sprintf("%s (%s)", e.object, e.kind) }

// pods are what the pod of an event was and is; nil if there was or is none, or the object is no pod.
func (e *event) pods() (was, is *v1.Pod) { return wasAndIs[v1.Pod](e, "Pod") }

// nodes are what the node of an event was and is, as pods are.
func (e *event) nodes() (was, is *v1.Node) { return wasAndIs[v1.Node](e, "Node") }

func wasAndIs[T any](e *event, kind string) (was, is *T) {
	read := func(c calls.Call) *T {
		if o := new(T); c.Op == calls.Set && c.Object.Kind == kind && json.Unmarshal(c.Object.JSON, o) == nil {
			return o
		}
		return nil
	}
	before := calls.Call{Op: calls.Set, Object: e.object}
	if len(e.before) > 0 {
		before = e.before[len(e.before)-1]
	}
	return read(before), read(e.event)
}

// maxEvents bounds how many events a cluster is asked about.
const maxEvents = 32

// drawEvents are changes of the objects of a cluster that the API server allows: each object added, deleted, and updated in each of the ways of
// updatesOf.
func drawEvents(c *model.Cluster) (all []event) {
	for _, obj := range c.Objects() {
		of := objectOf(obj)
		if of == nil {
			continue
		}
		gone := calls.Call{Op: calls.Delete, Object: &calls.Object{APIVersion: of.APIVersion, Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}}
		if p, ok := obj.(*v1.Pod); ok && model.Key(p) == model.Key(c.Preemptor) {
			for _, u := range updatesOfPreemptor(c) {
				all = append(all, u.events(of)...)
			}
			continue
		}
		if p, ok := obj.(*v1.Pod); !ok || p.Spec.NodeName != "" {
			added := calls.Call{Op: calls.Set, Object: objectOf(asCreated(obj))}
			all = append(all, event{of.Kind + " added", of, []calls.Call{gone}, added, ""}, event{of.Kind + " deleted", of, nil, gone, ""})
		}
		for _, u := range updatesOf(obj) {
			all = append(all, u.events(of)...)
		}
	}
	if len(all) > maxEvents {
		all = someOfEachKind(c, all)[:maxEvents]
	}
	return all
}

// someOfEachKind puts events in an order that is drawn: one of each kind, then a second one of each kind, and so on. Most are of labels of nodes. Of a kind,
// those of objects and labels that the preemptor names come first.
func someOfEachKind(c *model.Cluster, all []event) (sorted []event) {
	properties.Random(c, "events").Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	objects, labels := namedBy(c), labelsOf(c)
	named := func(e event) bool { return objects[nameOf(e.object)] || labels[e.label] }
	slices.SortStableFunc(all, func(a, b event) int {
		switch isNamed := named(a); {
		case isNamed == named(b):
			return 0
		case isNamed:
			return -1
		}
		return 1
	})
	round := map[string]int{}
	type placed struct {
		event
		round int
	}
	var some []placed
	for _, e := range all {
		some = append(some, placed{e, round[e.kind]})
		round[e.kind]++
	}
	properties.Random(c, "kinds of events").Shuffle(len(some), func(i, j int) { some[i], some[j] = some[j], some[i] })
	slices.SortStableFunc(some, func(a, b placed) int { return a.round - b.round })
	for _, e := range some {
		sorted = append(sorted, e.event)
	}
	return sorted
}

func nameOf(o *calls.Object) string { return o.Kind + " " + o.Namespace + "/" + o.Name }

// labelsOf are the keys of labels of nodes that the preemptor names, or its default constraints.
func labelsOf(c *model.Cluster) map[string]bool {
	keys, p := map[string]bool{}, c.Preemptor
	for _, constraint := range configuration.Spread(c.Settings, p) {
		keys[constraint.TopologyKey] = true
	}
	for key := range p.Spec.NodeSelector {
		keys[key] = true
	}
	for _, t := range properties.NodeTerms(p) {
		for _, r := range t.MatchExpressions {
			keys[r.Key] = true
		}
	}
	for _, t := range requiredTerms(p) {
		keys[t.TopologyKey] = true
	}
	return keys
}

// namedBy are the objects that the preemptor names: its claims, and what these name.
func namedBy(c *model.Cluster) map[string]bool {
	named, p := map[string]bool{}, c.Preemptor
	for _, claim := range claims(p) {
		named["PersistentVolumeClaim "+p.Namespace+"/"+claim] = true
	}
	for _, claim := range p.Spec.ResourceClaims {
		if claim.ResourceClaimName != nil {
			named["ResourceClaim "+p.Namespace+"/"+*claim.ResourceClaimName] = true
		}
	}
	for _, claim := range p.Status.ResourceClaimStatuses {
		if claim.ResourceClaimName != nil {
			named["ResourceClaim "+p.Namespace+"/"+*claim.ResourceClaimName] = true
		}
	}
	for _, o := range c.Objects() {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			if named["PersistentVolumeClaim "+o.Namespace+"/"+o.Name] {
				named["PersistentVolume /"+o.Spec.VolumeName] = true
				if o.Spec.StorageClassName != nil {
					named["StorageClass /"+*o.Spec.StorageClassName] = true
				}
			}
		case *resourcev1.ResourceClaim:
			for i := range o.Spec.Devices.Requests {
				if exactly := o.Spec.Devices.Requests[i].Exactly; exactly != nil && named["ResourceClaim "+o.Namespace+"/"+o.Name] {
					named["DeviceClass /"+exactly.DeviceClassName] = true
				}
			}
		}
	}
	return named
}

// asCreated is an object as the API server lets it be created: a claim of devices has no status then (registry/resource/resourceclaim/strategy.go:95@v1.37.1,
// PrepareForCreate).
func asCreated(obj runtime.Object) runtime.Object {
	if claim, is := obj.(*resourcev1.ResourceClaim); is {
		return with(claim, func(c *resourcev1.ResourceClaim) { c.Status = resourcev1.ResourceClaimStatus{} })
	}
	return obj
}

// objectOf is an object as a call has it; nil if it has no kind that the scheduler knows.
func objectOf(obj runtime.Object) *calls.Object {
	kinds, _, err := scheme.Scheme.ObjectKinds(obj)
	o, accessErr := meta.Accessor(obj)
	if err != nil || accessErr != nil || !watched[kinds[0].Kind] && !isForeign(obj) {
		return nil
	}
	data, err := json.Marshal(obj)
	if err != nil {
		return nil
	}
	apiVersion, kind := kinds[0].ToAPIVersionAndKind()
	return &calls.Object{APIVersion: apiVersion, Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName(), JSON: data}
}

// isForeign tells whether an object is of a kind that is not Kubernetes' own.
func isForeign(obj runtime.Object) bool {
	_, is := obj.(*unstructured.Unstructured)
	return is
}

// watched are the kinds whose events may make a pod schedulable (kube-scheduler/framework/types.go:130@v0.37.1, EventResource).
var watched = map[string]bool{"Node": true, "Pod": true, "PersistentVolume": true, "PersistentVolumeClaim": true, "StorageClass": true, "CSINode": true,
	"CSIDriver": true, "CSIStorageCapacity": true, "VolumeAttachment": true, "ResourceClaim": true, "ResourceSlice": true, "DeviceClass": true, "Namespace": true,
	"PodDisruptionBudget": true}

// update is that an object becomes another one. There and back are two events, unless there is only one way.
type update struct {
	there, back string // what of it changes; "" if that is not allowed
	to          runtime.Object
	label       string // the key of the label that changes, if it is one of a node, or of the pod that waits
}

func (u update) events(of *calls.Object) (all []event) {
	to := objectOf(u.to)
	if to == nil {
		return nil
	}
	here, there := calls.Call{Op: calls.Set, Object: of}, calls.Call{Op: calls.Set, Object: to}
	if u.there != "" {
		all = append(all, event{of.Kind + " updated: " + u.there, of, nil, there, u.label})
	}
	if u.back != "" {
		all = append(all, event{of.Kind + " updated: " + u.back, of, []calls.Call{there}, here, u.label})
	}
	return all
}

// with is a copy of an object that was changed.
func with[T runtime.Object](obj T, change func(T)) T {
	changed := obj.DeepCopyObject().(T)
	change(changed)
	return changed
}

// updatesOf are updates of an object that the API server allows.
func updatesOf(obj runtime.Object) (all []update) {
	add := func(there, back string, to runtime.Object) {
		all = append(all, update{there: there, back: back, to: to})
	}
	switch o := obj.(type) {
	case *unstructured.Unstructured:
		for _, a := range amountsOf(o.Object, nil) {
			add(a.name()+" doubled", a.name()+" halved", with(o, func(u *unstructured.Unstructured) { a.double(u.Object) }))
		}
	case *v1.Node:
		for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
			all = append(all, update{"a label less", "a label more", with(o, func(n *v1.Node) { delete(n.Labels, key) }), key},
				update{"a label of another value", "a label of another value", with(o, func(n *v1.Node) { n.Labels[key] += "-x" }), key})
		}
		for i := range o.Spec.Taints {
			add("a taint less", "a taint more", with(o, func(n *v1.Node) { n.Spec.Taints = slices.Delete(n.Spec.Taints, i, i+1) }))
		}
		add("unschedulable or not", "unschedulable or not", with(o, func(n *v1.Node) { n.Spec.Unschedulable = !n.Spec.Unschedulable }))
		for _, name := range slices.Sorted(maps.Keys(o.Status.Allocatable)) {
			add("more allocatable", "less allocatable", with(o, func(n *v1.Node) {
				q := n.Status.Allocatable[name]
				q.Add(q)
				q.Add(resource.MustParse("8"))
				n.Status.Allocatable[name] = q
			}))
			add("a resource less", "a resource more", with(o, func(n *v1.Node) { delete(n.Status.Allocatable, name) }))
		}
		if len(o.Status.DeclaredFeatures) > 0 {
			add("no declared features", "declared features", with(o, func(n *v1.Node) { n.Status.DeclaredFeatures = nil }))
		}
	case *v1.Pod:
		for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
			add("a label less", "a label more", with(o, func(p *v1.Pod) { delete(p.Labels, key) }))
		}
		if o.Spec.NodeName != "" && o.DeletionTimestamp == nil {
			end, grace := metav1.NewTime(time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)), int64(30)
			add("terminating", "", with(o, func(p *v1.Pod) { p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &end, &grace }))
		}
		for i := range o.Spec.Containers {
			for _, name := range resizable(o, i) {
				if q := o.Spec.Containers[i].Resources.Requests[name]; q.MilliValue() >= 2 && o.Spec.NodeName != "" {
					add("smaller requests", "larger requests", with(o, func(p *v1.Pod) {
						p.Spec.Containers[i].Resources.Requests[name] = *resource.NewMilliQuantity(q.MilliValue()/2, q.Format)
					}))
				}
			}
		}
	case *v1.PersistentVolumeClaim:
		if o.Spec.VolumeName != "" {
			add("", "bound", with(o, func(p *v1.PersistentVolumeClaim) {
				p.Spec.VolumeName, p.Status.Phase = "", v1.ClaimPending
				delete(p.Annotations, "pv.kubernetes.io/bind-completed")
			}))
		}
	case *v1.PersistentVolume:
		for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
			all = append(all, update{"a label less", "a label more", with(o, func(p *v1.PersistentVolume) { delete(p.Labels, key) }), key})
		}
	case *storagev1.StorageClass:
		if len(o.AllowedTopologies) > 0 {
			add("no allowed topologies", "allowed topologies", with(o, func(c *storagev1.StorageClass) { c.AllowedTopologies = nil }))
		}
	case *storagev1.CSINode:
		if o.Annotations[v1.MigratedPluginsAnnotationKey] != "" {
			add("no migrated plugins", "migrated plugins", with(o, func(n *storagev1.CSINode) { delete(n.Annotations, v1.MigratedPluginsAnnotationKey) }))
		}
		for i := range o.Spec.Drivers {
			add("a driver less", "a driver more", with(o, func(n *storagev1.CSINode) { n.Spec.Drivers = slices.Delete(n.Spec.Drivers, i, i+1) }))
			if a := o.Spec.Drivers[i].Allocatable; a != nil && a.Count != nil {
				add("more volumes allocatable", "fewer volumes allocatable", with(o, func(n *storagev1.CSINode) { *n.Spec.Drivers[i].Allocatable.Count += 5 }))
			}
		}
	case *storagev1.CSIDriver:
		if o.Spec.StorageCapacity != nil {
			add("storage capacity or not", "storage capacity or not", with(o, func(d *storagev1.CSIDriver) { *d.Spec.StorageCapacity = !*d.Spec.StorageCapacity }))
		}
	case *storagev1.CSIStorageCapacity:
		add("more capacity", "less capacity", with(o, func(c *storagev1.CSIStorageCapacity) {
			plenty := resource.MustParse("100Ti")
			c.Capacity, c.MaximumVolumeSize = &plenty, nil
		}))
		if o.Capacity != nil || o.MaximumVolumeSize != nil {
			add("no capacity", "a capacity", with(o, func(c *storagev1.CSIStorageCapacity) { c.Capacity, c.MaximumVolumeSize = nil, nil }))
		}
	case *resourcev1.ResourceClaim:
		if o.Status.Allocation != nil {
			back := "allocated"
			if ofShare(o) {
				back = ""
			}
			add("deallocated", back, with(o, func(c *resourcev1.ResourceClaim) { c.Status.Allocation, c.Status.ReservedFor = nil, nil }))
		}
		if len(o.Status.ReservedFor) > 0 {
			add("reserved for nobody", "reserved", with(o, func(c *resourcev1.ResourceClaim) { c.Status.ReservedFor = nil }))
		}
	case *resourcev1.ResourceSlice:
		for i := range o.Spec.Devices {
			add("a device less", "a device more", with(o, func(s *resourcev1.ResourceSlice) { s.Spec.Devices = slices.Delete(s.Spec.Devices, i, i+1) }))
			if len(o.Spec.Devices[i].Taints) > 0 {
				add("no taints of a device", "taints of a device", with(o, func(s *resourcev1.ResourceSlice) { s.Spec.Devices[i].Taints = nil }))
			}
		}
	case *resourcev1.DeviceClass:
		if o.Spec.ExtendedResourceName != nil {
			add("no name of a resource", "a name of a resource", with(o, func(c *resourcev1.DeviceClass) { c.Spec.ExtendedResourceName = nil }))
		}
		if len(o.Spec.Selectors) > 0 {
			add("no selectors", "selectors", with(o, func(c *resourcev1.DeviceClass) { c.Spec.Selectors = nil }))
		}
	case *v1.Namespace:
		for _, key := range slices.Sorted(maps.Keys(o.Labels)) {
			if key != v1.LabelMetadataName {
				add("a label less", "a label more", with(o, func(n *v1.Namespace) { delete(n.Labels, key) }))
			}
		}
	}
	return all
}

// ofShare tells whether a claim has a share of a device. To be given one helps no other pod, unless the device's counters were used up before: then the others
// may have shares, too. No scheduler gives a device beyond its counters (KEP-4815), so that this is no event.
func ofShare(c *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(c.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool { return r.ShareID != nil })
}

// resizable are the resources of a container of which a pod may come to request more or less. A resize may not change the QoS class (docs:
// tasks/configure-pod-container/resize-container-resources, "Limitations").
func resizable(p *v1.Pod, container int) (names []v1.ResourceName) {
	_, mirrors := p.Annotations[v1.MirrorPodAnnotationKey]
	if mirrors || p.Spec.OS != nil || p.Spec.Resources != nil || len(p.Status.ContainerStatuses) > 0 {
		return nil
	}
	r := p.Spec.Containers[container].Resources
	for _, name := range []v1.ResourceName{v1.ResourceCPU, v1.ResourceMemory} {
		q, requested := r.Requests[name]
		if _, limited := r.Limits[name]; requested && !limited && !q.IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// updatesOfPreemptor are updates of the pod that waits that the API server allows.
func updatesOfPreemptor(c *model.Cluster) (all []update) {
	p := c.Preemptor
	add := func(there, back string, to runtime.Object) {
		all = append(all, update{there: there, back: back, to: to})
	}
	var taints []v1.Taint
	for _, n := range c.Nodes {
		for _, t := range n.Spec.Taints {
			if !slices.ContainsFunc(taints, func(o v1.Taint) bool { return o.MatchTaint(&t) && o.Value == t.Value }) {
				taints = append(taints, t)
			}
		}
	}
	for _, t := range taints {
		tolerated := slices.ContainsFunc(p.Spec.Tolerations, func(o v1.Toleration) bool {
			return o.Key == t.Key && o.Effect == t.Effect && o.Operator == v1.TolerationOpExists
		})
		if !tolerated {
			add("the pod itself, a toleration more", "", with(p, func(p *v1.Pod) {
				p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: t.Key, Operator: v1.TolerationOpExists, Effect: t.Effect})
			}))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(p.Labels)) {
		all = append(all, update{"the pod itself, a label less", "the pod itself, a label more", with(p, func(p *v1.Pod) { delete(p.Labels, key) }), key})
	}
	for i := range p.Spec.Containers {
		for _, name := range resizable(p, i) {
			if q := p.Spec.Containers[i].Resources.Requests[name]; q.MilliValue() < 1<<53 {
				add("", "the pod itself, smaller requests", with(p, func(p *v1.Pod) {
					p.Spec.Containers[i].Resources.Requests[name] = *resource.NewMilliQuantity(q.MilliValue()*100, q.Format)
				}))
			}
		}
	}
	if len(p.Status.ResourceClaimStatuses) > 0 {
		add("", "the pod itself, its claims exist", with(p, func(p *v1.Pod) { p.Status.ResourceClaimStatuses = nil }))
	}
	return all
}
