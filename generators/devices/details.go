package devices

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Later are details that came later, in some clusters, whether or not they have others: fields that are left from when a
// gate was on, and devices that were prepared, or wait for it.
func Later(s draw.Source, objects []runtime.Object) {
	d := newDetailer(s, objects)
	if s.Chance(4) {
		d.outlive()
	}
	if s.Chance(20) {
		d.bind(40)
	}
}

// Last are details of devices that are allocated, which came last: operations that are skipped, and time that is left for those that
// are not ready.
func Last(s draw.Source, nodes []*v1.Node, objects []runtime.Object) {
	d := newDetailer(s, objects)
	if s.Chance(5) {
		d.skipOperations(nodes)
	}
	for _, c := range d.claims {
		waits := slices.ContainsFunc(allocated(c), func(r resourcev1.DeviceRequestAllocationResult) bool { return len(r.BindingConditions) > 0 })
		if waits && c.Status.Allocation.AllocationTimestamp == nil && s.Chance(50) {
			c.Status.Allocation.AllocationTimestamp = &later
		}
	}
}

// Details gives the devices and claims of a cluster one or two details by which devices
// differ, and returns the objects that this takes besides. Claims has made them.
func Details(s draw.Source, preemptor *v1.Pod, objects []runtime.Object) []runtime.Object {
	d := newDetailer(s, objects)
	d.preemptor = preemptor
	for i := range preemptor.Spec.ResourceClaims {
		if name := preemptor.Spec.ResourceClaims[i].ResourceClaimName; name != nil {
			d.own[preemptor.Namespace+"/"+*name] = true
		}
	}
	first := draw.Weighted(s, 19, 11, 14, 3, 3, 16, 12, 20, 5, 2, 6)
	kinds := []int{first}
	if at := s.Intn(len(details)); at != first && s.Chance(30) {
		kinds = append(kinds, at)
	}
	if kinds[0] == awaiting { // what a driver says is of what was allocated
		slices.Reverse(kinds)
	}
	for _, at := range kinds {
		details[at](d)
	}
	return d.objects
}

func newDetailer(s draw.Source, objects []runtime.Object) *detailer {
	d := &detailer{Source: s, own: map[string]bool{}, objects: objects}
	for _, o := range objects {
		switch o := o.(type) {
		case *resourcev1.ResourceSlice:
			d.slices = append(d.slices, o)
		case *resourcev1.ResourceClaim:
			d.claims = append(d.claims, o)
		}
	}
	return d
}

// detailer holds the objects that get details.
type detailer struct {
	draw.Source
	preemptor *v1.Pod
	own       map[string]bool // claims of the preemptor, by namespace and name
	slices    []*resourcev1.ResourceSlice
	claims    []*resourcev1.ResourceClaim
	objects   []runtime.Object
	// Some devices are taken by claims that are made for that, and some are administered.
	taken, administered bool
}

// details are the kinds of details. Those that exclude others leave clusters that have
// these as they are.
var details = [...]func(*detailer){
	(*detailer).taint,
	(*detailer).administer,
	(*detailer).prioritise,
	(*detailer).wantAll,
	(*detailer).selectSome,
	(*detailer).constrain,
	(*detailer).partition,
	(*detailer).share,
	(*detailer).splitPools,
	awaiting: (*detailer).awaitBinding,
	(*detailer).selectPerDevice,
}

// awaiting is where awaitBinding is among the details.
const awaiting = 9

func (d *detailer) eachDevice(percent int, change func(*resourcev1.Device)) {
	for _, s := range d.slices {
		for i := range s.Spec.Devices {
			if d.Chance(percent) {
				change(&s.Spec.Devices[i])
			}
		}
	}
}

// eachRequest visits the requests of claims for a number of devices.
func (d *detailer) eachRequest(percent int, change func(c *resourcev1.ResourceClaim, r *resourcev1.DeviceRequest)) {
	for _, c := range d.claims {
		for i := range c.Spec.Devices.Requests {
			if r := &c.Spec.Devices.Requests[i]; r.Exactly != nil && d.Chance(percent) {
				change(c, r)
			}
		}
	}
}

var added = metav1.Date(2022, 2, 1, 0, 0, 0, 0, time.UTC)

// later is a time that no clock has come to.
var later = metav1.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)

// open takes their devices from some claims of the preemptor, so that it needs some.
func (d *detailer) open(percent int) {
	for _, c := range d.claims {
		if d.own[c.Namespace+"/"+c.Name] && c.DeletionTimestamp == nil && d.Chance(percent) {
			c.Status, c.Finalizers = resourcev1.ResourceClaimStatus{}, nil
		}
	}
}

// taint gives devices taints, of the slice's own or by rules, and requests tolerations.
func (d *detailer) taint() {
	d.open(50)
	drawTaint := func() resourcev1.DeviceTaint {
		return resourcev1.DeviceTaint{Key: draw.Pick(d.Source, "example.com/broken", "example.com/shaky"), Value: draw.Pick(d.Source, "", "very"),
			Effect: draw.Pick(d.Source, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoSchedule,
				resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNone), TimeAdded: &added}
	}
	if d.Chance(70) {
		d.eachDevice(50, func(device *resourcev1.Device) {
			for range 1 + draw.Weighted(d.Source, 80, 20) {
				device.Taints = append(device.Taints, drawTaint())
			}
		})
	}
	for i := range draw.Weighted(d.Source, 30, 55, 15) {
		rule := &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: numbered("rule", i)}, Spec: resourcev1.DeviceTaintRuleSpec{Taint: drawTaint()}}
		if d.Chance(95) && len(d.slices) > 0 {
			of := draw.Pick(d.Source, d.slices...)
			selector := &resourcev1.DeviceTaintSelector{}
			if d.Chance(50) {
				selector.Driver = &of.Spec.Driver
			}
			if d.Chance(50) {
				selector.Pool = &of.Spec.Pool.Name
			}
			if d.Chance(40) {
				selector.Device = new("device-0")
			}
			rule.Spec.DeviceSelector = selector
		}
		d.objects = append(d.objects, rule)
	}
	d.eachRequest(60, func(c *resourcev1.ResourceClaim, r *resourcev1.DeviceRequest) {
		r.Exactly.Tolerations = append(r.Exactly.Tolerations, d.tolerations()...)
		for i := range allocated(c) { // which has a copy of them
			if result := &c.Status.Allocation.Devices.Results[i]; result.Request == r.Name {
				result.Tolerations = r.Exactly.Tolerations
			}
		}
	})
}

func (d *detailer) tolerations() (all []resourcev1.DeviceToleration) {
	for range 1 + draw.Weighted(d.Source, 75, 25) {
		t := resourcev1.DeviceToleration{Key: draw.Pick(d.Source, "example.com/broken", "example.com/broken", "example.com/shaky"), Operator: resourcev1.DeviceTolerationOpExists,
			Effect: draw.Pick(d.Source, "", "", resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNoExecute)}
		switch draw.Weighted(d.Source, 60, 30, 10) {
		case 1:
			t.Operator, t.Value = resourcev1.DeviceTolerationOpEqual, draw.Pick(d.Source, "", "very")
		case 2:
			t.Key = ""
		}
		all = append(all, t)
	}
	return all
}

// administer makes requests ones for administration, mostly of devices that are in use.
func (d *detailer) administer() {
	if d.administered {
		return
	}
	d.administered = true
	d.open(70)
	d.takeSome()
	if d.Chance(75) {
		d.claimMore()
	}
	d.eachRequest(60, func(c *resourcev1.ResourceClaim, r *resourcev1.DeviceRequest) {
		r.Exactly.AdminAccess = new(true)
		for i := range allocated(c) {
			if result := &c.Status.Allocation.Devices.Results[i]; result.Request == r.Name {
				result.AdminAccess = new(true)
			}
		}
	})
}

// claimMore gives the preemptor another claim, named first or last, or another request
// of a claim, so that it wants devices to use and others to administer.
func (d *detailer) claimMore() {
	r := resourcev1.DeviceRequest{Name: "beside", Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: anyClass.Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(draw.Pick(d.Source, 1, 1, 2))}}
	if len(d.claims) > 0 && d.Chance(30) {
		if c := d.claims[0]; c.Status.Allocation == nil {
			c.Spec.Devices.Requests = slices.Insert(slices.Clip(c.Spec.Devices.Requests), d.Intn(1+len(c.Spec.Devices.Requests)), r)
		}
		return
	}
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim-beside", Namespace: d.preemptor.Namespace, UID: "claim/claim-beside"}}
	c.Spec.Devices.Requests = []resourcev1.DeviceRequest{r}
	d.claims, d.objects, d.own[d.preemptor.Namespace+"/"+c.Name] = append(d.claims, c), append(d.objects, c), true
	entry, all := v1.PodResourceClaim{Name: c.Name, ResourceClaimName: &c.Name}, d.preemptor.Spec.ResourceClaims
	d.preemptor.Spec.ResourceClaims = slices.Insert(slices.Clip(all), draw.Pick(d.Source, 0, len(all)), entry)
}

// takeSome makes claims that have devices, once, some of them for administration where that is drawn.
func (d *detailer) takeSome() {
	if d.taken {
		return
	}
	d.taken = true
	for i, s := range d.slices {
		for j := range s.Spec.Devices {
			if !d.Chance(60) {
				continue
			}
			name := fmt.Sprintf("taker-%d-%d", i, j)
			c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault, UID: types.UID("claim/" + name), Finalizers: []string{resourcev1.Finalizer}}}
			c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "devices", Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: anyClass.Name, AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}
			c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
				{Request: "devices", Driver: s.Spec.Driver, Pool: s.Spec.Pool.Name, Device: s.Spec.Devices[j].Name}}}}
			if d.administered && d.Chance(40) { // and so takes it from nobody
				c.Spec.Devices.Requests[0].Exactly.AdminAccess, allocated(c)[0].AdminAccess = new(true), new(true)
			}
			d.objects = append(d.objects, c)
		}
	}
}

func allocated(c *resourcev1.ResourceClaim) []resourcev1.DeviceRequestAllocationResult {
	if c.Status.Allocation == nil {
		return nil
	}
	return c.Status.Allocation.Devices.Results
}

// prioritise makes requests prioritised lists of requests.
func (d *detailer) prioritise() {
	d.open(70)
	d.eachRequest(70, func(c *resourcev1.ResourceClaim, r *resourcev1.DeviceRequest) {
		if r.Exactly.AdminAccess != nil || r.Exactly.AllocationMode != resourcev1.DeviceAllocationModeExactCount {
			return
		}
		was := r.Exactly
		r.Exactly = nil
		for i := range 1 + draw.Weighted(d.Source, 15, 60, 25) {
			sub := resourcev1.DeviceSubRequest{Name: numbered("choice", i), DeviceClassName: draw.Pick(d.Source, fastClass.Name, anyClass.Name, was.DeviceClassName),
				AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(draw.Pick(d.Source, 1, 2, 1, 3)),
				Selectors: was.Selectors, Tolerations: was.Tolerations, Capacity: was.Capacity}
			r.FirstAvailable = append(r.FirstAvailable, sub)
		}
		for i := range allocated(c) {
			if result := &c.Status.Allocation.Devices.Results[i]; result.Request == r.Name {
				result.Request += "/choice-0"
			}
		}
	})
}

// LoseClasses has, in some clusters, all entries of a prioritised list, or one, ask for a class that does not exist.
func LoseClasses(s draw.Source, objects []runtime.Object) {
	for _, o := range objects {
		c, ok := o.(*resourcev1.ResourceClaim)
		if !ok {
			continue
		}
		for i := range c.Spec.Devices.Requests {
			if list := c.Spec.Devices.Requests[i].FirstAvailable; len(list) > 0 && s.Chance(4) {
				if s.Chance(30) {
					list = list[s.Intn(len(list)):][:1]
				}
				for j := range list {
					list[j].DeviceClassName = "gone"
				}
			}
		}
	}
}

// wantAll makes requests ask for all devices.
func (d *detailer) wantAll() {
	d.eachRequest(60, func(_ *resourcev1.ResourceClaim, r *resourcev1.DeviceRequest) {
		r.Exactly.AllocationMode, r.Exactly.Count = resourcev1.DeviceAllocationModeAll, 0
	})
}

// selectSome gives requests selectors.
func (d *detailer) selectSome() {
	d.eachRequest(60, func(_ *resourcev1.ResourceClaim, r *resourcev1.DeviceRequest) {
		expression := draw.Pick(d.Source, `device.driver.startsWith("slow")`, `!device.driver.startsWith("slow")`, `device.driver != ""`, `size(device.capacity["example.com"]) > 0`)
		r.Exactly.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}
	})
}

// awaitBinding makes devices ones that have to be prepared before pods are bound.
func (d *detailer) awaitBinding() {
	d.eachDevice(60, func(device *resourcev1.Device) {
		device.BindingConditions, device.BindingFailureConditions = []string{"example.com/attached"}, []string{"example.com/failed"}
	})
	d.bind(60)
}

// outlive leaves on devices a field of the alpha gate DRANodeAllocatableResources, as from a time when it was on: the
// API server keeps what is stored. With the gate off it counts for nothing.
func (d *detailer) outlive() {
	many := resourcev1.NodeAllocatableResource{Mapping: &resourcev1.NodeAllocatableMapping{DeviceMultiplier: resource.NewQuantity(100, resource.DecimalSI)}}
	d.eachDevice(60, func(device *resourcev1.Device) {
		device.NodeAllocatableResources = map[v1.ResourceName]resourcev1.NodeAllocatableResource{v1.ResourceCPU: many}
	})
}

// skipOperations has operations of some allocated devices be left out, which some nodes declare that they know.
func (d *detailer) skipOperations(nodes []*v1.Node) {
	skipped := false
	for _, c := range d.claims {
		for i := range allocated(c) {
			if d.Chance(40) {
				c.Status.Allocation.Devices.Results[i].SkipNodeOperations = []resourcev1.SkipNodeOperation{draw.Pick(d.Source, resourcev1.SkipNodeOperationAll, resourcev1.SkipNodeOperationNodeUnprepareResources)}
				skipped = true
			}
		}
	}
	if skipped {
		d.declareSkips(nodes)
	}
}

// declareSkips has some nodes declare that they know of operations that are left out.
func (d *detailer) declareSkips(nodes []*v1.Node) {
	for _, n := range nodes {
		if d.Chance(60) && !slices.Contains(n.Status.DeclaredFeatures, filter.FeatureSkipOperations) {
			n.Status.DeclaredFeatures = append(slices.Clone(n.Status.DeclaredFeatures), filter.FeatureSkipOperations)
			slices.Sort(n.Status.DeclaredFeatures)
		}
	}
}

// SkipOperations has, in some clusters, operations of nodes be left out for the devices of some slices, and tells whether it has.
func SkipOperations(s draw.Source, nodes []*v1.Node, objects []runtime.Object) (skipped bool) {
	d := newDetailer(s, objects)
	if len(d.slices) == 0 || !s.Chance(8) {
		return false
	}
	for _, slice := range d.slices {
		if d.Chance(60) {
			slice.Spec.SkipNodeOperations = []resourcev1.SkipNodeOperation{draw.Pick(d.Source, resourcev1.SkipNodeOperationAll, resourcev1.SkipNodeOperationNodeUnprepareResources)}
			skipped = true
		}
	}
	if skipped {
		d.declareSkips(nodes)
	}
	return skipped
}

// bind gives most devices that are allocated to so many of 100 claims conditions.
func (d *detailer) bind(percent int) {
	for _, c := range d.claims {
		if !d.Chance(percent) {
			continue
		}
		if c.Status.Allocation != nil && d.Chance(40) { // else nobody knows for how long is waited
			c.Status.Allocation.AllocationTimestamp = &added
		}
		for i := range allocated(c) {
			r := &c.Status.Allocation.Devices.Results[i]
			if len(r.BindingConditions) > 0 || !d.Chance(85) {
				continue
			}
			r.BindingConditions, r.BindingFailureConditions = []string{"example.com/attached"}, []string{"example.com/failed"}
			d.prepare(c, r)
			if r.ShareID != nil && d.Chance(40) {
				d.shareAgain(c, *r)
			}
		}
	}
}

// shareAgain gives a claim one more share of an allocated device, which is prepared by itself.
func (d *detailer) shareAgain(c *resourcev1.ResourceClaim, r resourcev1.DeviceRequestAllocationResult) {
	r.ShareID = new((*r.ShareID)[:len(*r.ShareID)-1] + "9")
	c.Status.Allocation.Devices.Results = append(c.Status.Allocation.Devices.Results, r)
	d.prepare(c, &r)
}

// prepare draws how far an allocated device was prepared: it is ready, it failed, or neither yet.
func (d *detailer) prepare(c *resourcev1.ResourceClaim, r *resourcev1.DeviceRequestAllocationResult) {
	status := resourcev1.AllocatedDeviceStatus{Driver: r.Driver, Pool: r.Pool, Device: r.Device}
	if r.ShareID != nil {
		status.ShareID = new(string(*r.ShareID))
	}
	is := func(condition string, is metav1.ConditionStatus) {
		status.Conditions = append(status.Conditions, metav1.Condition{Type: condition, Status: is, Reason: "Prepared", LastTransitionTime: added})
	}
	switch draw.Weighted(d.Source, 40, 35, 15, 10) {
	case 0:
		is("example.com/attached", metav1.ConditionTrue)
	case 1:
		is("example.com/failed", metav1.ConditionTrue)
	case 2:
		is("example.com/attached", metav1.ConditionFalse)
	default:
		return
	}
	c.Status.Devices = append(c.Status.Devices, status)
}
