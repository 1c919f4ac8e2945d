package device_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// parts are the objects that a test changes: the claim wants one device of any class, of
// which there is one, for the node.
type parts struct {
	claim    *resourcev1.ResourceClaim
	request  *resourcev1.ExactDeviceRequest
	slice    *resourcev1.ResourceSlice
	device   *resourcev1.Device
	counters *resourcev1.ResourceSlice // of the same pool, if it has any
	others   []resourcev1.DeviceRequestAllocationResult
}

type amounts = map[resourcev1.QualifiedName]resource.Quantity

func one(name resourcev1.QualifiedName, q string) amounts {
	return amounts{name: resource.MustParse(q)}
}

func (p *parts) has(name resourcev1.QualifiedName, q string, policy *resourcev1.CapacityRequestPolicy) {
	p.device.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{name: {Value: resource.MustParse(q), RequestPolicy: policy}}
}

func (p *parts) requests(name resourcev1.QualifiedName, q string) {
	p.request.Capacity = &resourcev1.CapacityRequirements{Requests: one(name, q)}
}

// shares lets several have the device, of whom one has so much.
func (p *parts) shares(name resourcev1.QualifiedName, q string) {
	p.device.AllowMultipleAllocations = new(true)
	p.others = append(p.others, resourcev1.DeviceRequestAllocationResult{Driver: "a", Pool: "pool", Device: "0", ShareID: new(types.UID("1")), ConsumedCapacity: one(name, q)})
}

func (p *parts) consume(of *resourcev1.Device, q string) {
	of.ConsumesCounters = counting(q)
}

func (p *parts) counts(q string) {
	p.slice.Spec.Pool.ResourceSliceCount = 2
	p.counters = p.slice.DeepCopy()
	p.counters.Name, p.counters.Spec.Devices = "counters", nil
	p.counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"c": {Value: resource.MustParse(q)}}}}
}

// another adds a device.
func (p *parts) another(change func(of *resourcev1.Device)) {
	of := *p.device.DeepCopy()
	of.Name = "1"
	change(&of)
	p.slice.Spec.Devices = append(p.slice.Spec.Devices, of)
	p.device = &p.slice.Spec.Devices[0]
}

func (p *parts) takes(name string) {
	p.others = append(p.others, resourcev1.DeviceRequestAllocationResult{Driver: "a", Pool: "pool", Device: name})
}

func TestDevicesInPart(t *testing.T) {
	const fits, fails = true, false
	step := &resourcev1.CapacityRequestPolicy{Default: new(resource.MustParse("1")), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: new(resource.MustParse("1")), Step: new(resource.MustParse("2"))}}
	socket := func(of *resourcev1.Device, name resourcev1.QualifiedName, n int64) {
		of.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{name: {IntValue: &n}}
	}
	about, yes := resourcev1.FullyQualifiedName("a/socket"), true
	for name, tt := range map[string]struct {
		change func(p *parts)
		want   bool
	}{
		"a device of capacity enough": {func(p *parts) { p.has("units", "4", nil); p.requests("units", "4") }, fits},
		"a device of less":            {func(p *parts) { p.has("units", "4", nil); p.requests("units", "5") }, fails},
		"a device behind two of less": {func(p *parts) {
			p.another(func(of *resourcev1.Device) { of.Name = "2" })
			p.another(func(*resourcev1.Device) {})
			p.device = &p.slice.Spec.Devices[2]
			p.has("units", "4", nil)
			p.requests("units", "4")
		}, fits},
		"a device without":                   {func(p *parts) { p.requests("units", "1") }, fails},
		"of another domain":                  {func(p *parts) { p.has("b/units", "4", nil); p.requests("units", "1") }, fails},
		"by its full name":                   {func(p *parts) { p.has("units", "4", nil); p.requests("a/units", "1") }, fits},
		"by its short name":                  {func(p *parts) { p.has("a/units", "4", nil); p.requests("units", "1") }, fits},
		"by its full name, too large":        {func(p *parts) { p.has("units", "4", nil); p.requests("a/units", "5") }, fails},
		"enough left":                        {func(p *parts) { p.has("units", "4", nil); p.shares("units", "3"); p.requests("units", "1") }, fits},
		"not enough left":                    {func(p *parts) { p.has("units", "4", nil); p.shares("units", "3"); p.requests("units", "2") }, fails},
		"not enough left, by another name":   {func(p *parts) { p.has("units", "4", nil); p.shares("a/units", "3"); p.requests("units", "2") }, fails},
		"nothing said is all":                {func(p *parts) { p.has("units", "4", nil); p.shares("units", "1") }, fails},
		"nothing said is the default":        {func(p *parts) { p.has("units", "4", step); p.shares("units", "3") }, fits},
		"rounded up to what is left":         {func(p *parts) { p.has("units", "4", step); p.shares("units", "1"); p.requests("units", "2") }, fits},
		"rounded up to more than is left":    {func(p *parts) { p.has("units", "4", step); p.shares("units", "2"); p.requests("units", "2") }, fails},
		"without a capacity, for any number": {func(p *parts) { p.shares("units", "1") }, fits},
		"it was given whole": {func(p *parts) {
			p.has("units", "4", nil)
			p.requests("units", "1")
			p.takes("0")
			p.device.AllowMultipleAllocations = &yes
		}, fails},
		"it is no longer shared": {func(p *parts) {
			p.has("units", "4", nil)
			p.shares("units", "1")
			p.requests("units", "1")
			p.device.AllowMultipleAllocations = nil
		}, fails},
		"administration of what is used up": {func(p *parts) {
			p.has("units", "4", nil)
			p.shares("units", "4")
			p.requests("units", "4")
			p.request.AdminAccess = &yes
		}, fits},
		"administration of a device of less": {func(p *parts) { p.has("units", "4", nil); p.requests("units", "5"); p.request.AdminAccess = &yes }, fails},
		"two requests for one device, shared": {func(p *parts) {
			p.has("units", "4", nil)
			p.requests("units", "2")
			p.device.AllowMultipleAllocations = &yes
			p.claim.Spec.Devices.Requests = append(p.claim.Spec.Devices.Requests, p.claim.Spec.Devices.Requests[0])
		}, fits},
		"two requests for more than one device, shared": {func(p *parts) {
			p.has("units", "4", nil)
			p.requests("units", "3")
			p.device.AllowMultipleAllocations = &yes
			p.claim.Spec.Devices.Requests = append(p.claim.Spec.Devices.Requests, p.claim.Spec.Devices.Requests[0])
		}, fails},
		"two requests for one device, shared but to be unlike": {func(p *parts) {
			socket(p.device, "socket", 0)
			p.device.AllowMultipleAllocations = &yes
			p.claim.Spec.Devices.Requests = append(p.claim.Spec.Devices.Requests, p.claim.Spec.Devices.Requests[0])
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &about}}
		}, fails},

		"counters enough":  {func(p *parts) { p.consume(p.device, "2"); p.counts("2") }, fits},
		"counters too few": {func(p *parts) { p.consume(p.device, "3"); p.counts("2") }, fails},
		"counters of the pool in use": {func(p *parts) {
			p.consume(p.device, "2")
			p.another(func(*resourcev1.Device) {})
			p.counts("3")
			p.takes("1")
		}, fails},
		"counters of the pool in use by a device of its second slice": {func(p *parts) {
			p.consume(p.device, "2")
			p.another(func(*resourcev1.Device) {})
			p.counts("3")
			p.slice, p.counters = p.counters, p.slice
			p.takes("1")
		}, fails},
		"counters of the pool left": {func(p *parts) {
			p.consume(p.device, "2")
			p.another(func(*resourcev1.Device) {})
			p.counts("4")
			p.takes("1")
		}, fits},
		"counters of a shared device once": {func(p *parts) { p.consume(p.device, "2"); p.counts("2"); p.shares("units", "1") }, fits},
		"two devices with counters enough": {func(p *parts) {
			p.consume(p.device, "2")
			p.another(func(*resourcev1.Device) {})
			p.counts("4")
			p.request.Count = 2
		}, fits},
		"two devices, counters for one": {func(p *parts) {
			p.consume(p.device, "2")
			p.another(func(*resourcev1.Device) {})
			p.counts("3")
			p.request.Count = 2
		}, fails},
		"counters in use elsewhere": {func(p *parts) {
			p.consume(p.device, "2")
			p.another(func(of *resourcev1.Device) { of.NodeName = new("elsewhere") })
			p.device.AllNodes = &yes
			p.slice.Spec.NodeName, p.slice.Spec.PerDeviceNodeSelection = nil, &yes
			p.counts("3")
			p.takes("1")
		}, fails},
		"administration of a part in use": {func(p *parts) { p.consume(p.device, "2"); p.counts("2"); p.takes("0"); p.request.AdminAccess = &yes }, fits},
		"administration takes no counters": {func(p *parts) {
			p.consume(p.device, "2")
			p.another(func(*resourcev1.Device) {})
			p.counts("2")
			more := *p.claim.Spec.Devices.Requests[0].Exactly.DeepCopy()
			more.AdminAccess = &yes
			p.claim.Spec.Devices.Requests = append(p.claim.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: "more", Exactly: &more})
		}, fits},

		"a slice is missing": {func(p *parts) { p.slice.Spec.Pool.ResourceSliceCount = 2 }, fails},
		"newer slices are elsewhere": {func(p *parts) {
			p.counts("1")
			p.counters.Spec.Pool.Generation, p.counters.Spec.Pool.ResourceSliceCount, p.slice.Spec.Pool.ResourceSliceCount = 1, 1, 1
		}, fails},
		"older slices are left over": {func(p *parts) {
			p.counts("1")
			p.slice.Spec.Pool.Generation, p.slice.Spec.Pool.ResourceSliceCount = 1, 1
		}, fits},
		"a device for the node": {func(p *parts) {
			p.slice.Spec.NodeName, p.slice.Spec.PerDeviceNodeSelection, p.device.NodeName = nil, &yes, new("n")
		}, fits},
		"a device for another node": {func(p *parts) {
			p.slice.Spec.NodeName, p.slice.Spec.PerDeviceNodeSelection, p.device.NodeName = nil, &yes, new("m")
		}, fails},
		"a device for all nodes": {func(p *parts) {
			p.slice.Spec.NodeName, p.slice.Spec.PerDeviceNodeSelection, p.device.AllNodes = nil, &yes, &yes
		}, fits},
		"a device for nodes by label": {func(p *parts) {
			p.slice.Spec.NodeName, p.slice.Spec.PerDeviceNodeSelection = nil, &yes
			p.device.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchExpressions: []v1.NodeSelectorRequirement{{Key: "no", Operator: v1.NodeSelectorOpDoesNotExist}}}}}
		}, fits},

		"alike": {func(p *parts) {
			socket(p.device, "socket", 1)
			p.another(func(of *resourcev1.Device) { socket(of, "a/socket", 1) })
			p.request.Count = 2
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about}}
		}, fits},
		"not alike": {func(p *parts) {
			socket(p.device, "socket", 1)
			p.another(func(of *resourcev1.Device) { socket(of, "a/socket", 2) })
			p.request.Count = 2
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about}}
		}, fails},
		"not alike, in requests that need not be": {func(p *parts) {
			socket(p.device, "socket", 1)
			p.another(func(of *resourcev1.Device) { socket(of, "a/socket", 2) })
			p.request.Count = 2
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about, Requests: []string{"others"}}}
		}, fits},
		"not alike, behind a constraint of other requests": {func(p *parts) {
			socket(p.device, "socket", 1)
			p.another(func(of *resourcev1.Device) { socket(of, "a/socket", 2) })
			p.request.Count = 2
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about, Requests: []string{"others"}}, {MatchAttribute: &about}}
		}, fails},
		"alike, and not behind that": {func(p *parts) {
			p.device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"socket": {IntValue: new(int64(1))}, "model": {StringValue: new("x")}}
			p.another(func(of *resourcev1.Device) {
				of.Attributes["model"] = resourcev1.DeviceAttribute{StringValue: new("y")}
			})
			p.request.Count = 2
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about}, {MatchAttribute: new(resourcev1.FullyQualifiedName("a/model"))}}
		}, fails},
		"without the attribute": {func(p *parts) {
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about}}
		}, fails},
		"the entry of a list is named": {func(p *parts) {
			p.claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "list", FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "entry", DeviceClassName: "any", Count: 1, AllocationMode: "ExactCount"}}}}
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &about, Requests: []string{"list/entry"}}}
		}, fails},
		"the other entry of a list will do": {func(p *parts) {
			entry := resourcev1.DeviceSubRequest{Name: "entry", DeviceClassName: "any", Count: 1, AllocationMode: "ExactCount"}
			other := entry
			other.Name = "other"
			p.claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "list", FirstAvailable: []resourcev1.DeviceSubRequest{entry, other}}}
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &about, Requests: []string{"list/entry"}}}
		}, fits},
	} {
		t.Run(name, func(t *testing.T) {
			p := parts{claim: &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}}, slice: &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice"}}}
			p.request = &resourcev1.ExactDeviceRequest{DeviceClassName: "any", Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount}
			p.claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "devices", Exactly: p.request}}
			p.slice.Spec = resourcev1.ResourceSliceSpec{Driver: "a", NodeName: new("n"), Pool: resourcev1.ResourcePool{Name: "pool", ResourceSliceCount: 1}, Devices: []resourcev1.Device{{Name: "0"}}}
			p.device = &p.slice.Spec.Devices[0]
			tt.change(&p)
			objects := []runtime.Object{&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "any"}}, p.claim, p.slice}
			if p.counters != nil {
				objects = append(objects, p.counters)
			}
			if p.others != nil {
				taken := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "taken", Namespace: "default"}, Status: resourcev1.ResourceClaimStatus{
					Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: p.others}}}}
				objects = append(objects, taken)
			}
			preemptor := mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.ResourceClaims = []v1.PodResourceClaim{{ResourceClaimName: new("c")}} })
			d, err := answers.Decide(&model.Cluster{Nodes: []*v1.Node{mk.Node("n", "2")}, Preemptor: preemptor, Extra: objects}, answers.Documented())
			require.NoError(t, err)
			assert.Equal(t, tt.want, d.Verdicts["n"] == nil)
		})
	}
}
