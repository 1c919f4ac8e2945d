package device_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

func TestDynamicResources(t *testing.T) {
	type change = func(c *resourcev1.ResourceClaim)
	claim := func(name, class string, count int64, changes ...change) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}}
		c.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: class, Count: count, AllocationMode: resourcev1.DeviceAllocationModeExactCount}}}
		for _, f := range changes {
			f(c)
		}
		return c
	}
	class := func(name string, expressions ...string) *resourcev1.DeviceClass {
		c := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for _, e := range expressions {
			c.Spec.Selectors = append(c.Spec.Selectors, resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: e}})
		}
		return c
	}
	slice := func(driver string, devices ...string) *resourcev1.ResourceSlice {
		node := "n"
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: driver}}
		s.Spec = resourcev1.ResourceSliceSpec{Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: "n", ResourceSliceCount: 1}}
		for _, d := range devices {
			s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: d})
		}
		return s
	}
	allocated := func(device string) change {
		return func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
				Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "a", Pool: "n", Device: device}}}}
		}
	}
	forNode := func(name string) change {
		return func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation.NodeSelector = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
				MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{name}}}}}}
		}
	}
	administers := func(c *resourcev1.ResourceClaim) {
		yes := true
		c.Status.Allocation.Devices.Results[0].AdminAccess = &yes
	}
	deleted := func(c *resourcev1.ResourceClaim) { c.DeletionTimestamp = &metav1.Time{} }
	reserved := func(c *resourcev1.ResourceClaim) {
		c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{UID: "other"}}
	}
	admin := func(c *resourcev1.ResourceClaim) { c.Spec.Devices.Requests[0].Exactly.AdminAccess = new(true) }
	first := func(c *resourcev1.ResourceClaim, class string, count int64, other string, otherCount int64) *resourcev1.ResourceClaim {
		way := func(class string, count int64) resourcev1.DeviceSubRequest {
			return resourcev1.DeviceSubRequest{DeviceClassName: class, Count: count, AllocationMode: resourcev1.DeviceAllocationModeExactCount}
		}
		c.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{FirstAvailable: []resourcev1.DeviceSubRequest{way(class, count), way(other, otherCount)}}
		return c
	}
	tainted := func(s *resourcev1.ResourceSlice, effect resourcev1.DeviceTaintEffect) *resourcev1.ResourceSlice {
		s.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "k", Value: "v", Effect: effect}}
		return s
	}
	other := func(s *resourcev1.ResourceSlice) *resourcev1.ResourceSlice {
		s.Spec.Pool.Name = "other"
		return s
	}
	both := func(c *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
		r := c.Spec.Devices.Requests[0].DeepCopy()
		r.Exactly.AdminAccess = new(true)
		c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, *r)
		return c
	}
	copied := func(key string) change {
		return func(c *resourcev1.ResourceClaim) {
			all := []resourcev1.DeviceToleration{{Key: key, Operator: resourcev1.DeviceTolerationOpExists}}
			c.Spec.Devices.Requests[0].Exactly.Tolerations, c.Status.Allocation.Devices.Results[0].Tolerations = all, all
		}
	}
	tolerates := func(key, value string, effect resourcev1.DeviceTaintEffect) change {
		return func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{{Key: key, Operator: resourcev1.DeviceTolerationOpEqual, Value: value, Effect: effect}}
		}
	}
	rule := func(selector *resourcev1.DeviceTaintSelector) *resourcev1.DeviceTaintRule {
		return &resourcev1.DeviceTaintRule{Spec: resourcev1.DeviceTaintRuleSpec{DeviceSelector: selector, Taint: resourcev1.DeviceTaint{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}}}
	}
	a, anyDevice := class("a", `device.driver == "a"`), class("any")
	list := func(objects ...runtime.Object) []runtime.Object { return objects }

	tests := []struct {
		name    string
		claims  []string
		objects []runtime.Object
		want    string // "" fits; "rejected" by PreFilter; or the Verdict
		goes    []string
	}{
		{"no such claim", []string{"c"}, nil, "rejected", nil},
		{"no such class", []string{"c"}, list(claim("c", "a", 1)), "rejected", nil},
		{"deleted", []string{"c"}, list(claim("c", "a", 1, allocated("1"), deleted)), "rejected", nil},
		{"allocated anywhere", []string{"c"}, list(claim("c", "a", 1, allocated("1"))), "", nil},
		{"allocated here", []string{"c"}, list(claim("c", "a", 1, allocated("1"), forNode("n"))), "", nil},
		{"allocated here, for another too", []string{"c"}, list(claim("c", "a", 1, allocated("1"), forNode("n"), reserved)), "", nil},
		{"allocated elsewhere", []string{"c"}, list(claim("c", "a", 1, allocated("1"), forNode("m"))), "DynamicResources (unresolvable)", []string{"default/c"}},
		{"allocated elsewhere, for another", []string{"c"}, list(claim("c", "a", 1, allocated("1"), forNode("m"), reserved)), "DynamicResources (unresolvable)", nil},
		{"one of two elsewhere", []string{"c", "d"}, list(claim("c", "a", 1, allocated("1"), forNode("m")), a, claim("d", "a", 1)), "DynamicResources (unresolvable)", nil},
		{"the second of two elsewhere", []string{"c", "d"}, list(claim("c", "a", 1, allocated("1")), claim("d", "a", 1, allocated("2"), forNode("m"))), "DynamicResources (unresolvable)", []string{"default/d"}},
		{"no device", []string{"c"}, list(claim("c", "a", 1), a), "DynamicResources (unresolvable)", nil},
		{"a device", []string{"c"}, list(claim("c", "a", 1), a, slice("a", "1")), "", nil},
		{"another driver's", []string{"c"}, list(claim("c", "a", 1), a, slice("b", "1")), "DynamicResources (unresolvable)", nil},
		{"any driver's", []string{"c"}, list(claim("c", "any", 1), anyDevice, slice("b", "1")), "", nil},
		{"any of what the others leave", []string{"c", "d"}, list(claim("c", "any", 1), claim("d", "a", 1), a, anyDevice, slice("a", "1")), "DynamicResources (unresolvable)", nil},
		{"enough for both", []string{"c", "d"}, list(claim("c", "any", 1), claim("d", "a", 1), a, anyDevice, slice("a", "1", "2")), "", nil},
		{"taken", []string{"c"}, list(claim("c", "a", 2), a, slice("a", "1", "2"), claim("d", "a", 1, allocated("2"))), "DynamicResources (unresolvable)", nil},
		{"administered", []string{"c"}, list(claim("c", "a", 2), a, slice("a", "1", "2"), claim("d", "a", 1, allocated("2"), administers)), "", nil},
		{"to administer what is taken", []string{"c"}, list(claim("c", "a", 2, admin), a, slice("a", "1", "2"), claim("d", "a", 1, allocated("2"))), "", nil},
		{"to administer more than there is", []string{"c"}, list(claim("c", "a", 3, admin), a, slice("a", "1", "2")), "DynamicResources (unresolvable)", nil},
		{"two claims to administer the same", []string{"c", "d"}, list(claim("c", "a", 1, admin), claim("d", "a", 1, admin), a, slice("a", "1")), "", nil},
		{"to administer the one device, and to use it", []string{"c", "d"}, list(claim("c", "a", 1, admin), claim("d", "a", 1), a, slice("a", "1")), "", nil},
		{"to use the one device, and to administer it", []string{"d", "c"}, list(claim("c", "a", 1, admin), claim("d", "a", 1), a, slice("a", "1")), "", nil},
		{"to do both by one claim", []string{"c"}, list(both(claim("c", "a", 1)), a, slice("a", "1")), "DynamicResources (unresolvable)", nil},
		{"to do both by one claim with two devices", []string{"c"}, list(both(claim("c", "a", 1)), a, slice("a", "1", "2")), "", nil},
		{"another claim takes what that one administers", []string{"c", "d"}, list(both(claim("c", "a", 1)), claim("d", "a", 1), a, slice("a", "1", "2")), "", nil},
		{"another claim wants what that one uses", []string{"c", "d"}, list(both(claim("c", "a", 1)), claim("d", "a", 2), a, slice("a", "1", "2")), "DynamicResources (unresolvable)", nil},
		{"what it administers may be in use, what it uses not", []string{"c"}, list(both(claim("c", "a", 1)), a, slice("a", "1", "2"), claim("d", "a", 1, allocated("2"))), "", nil},
		{"the first of a list", []string{"c"}, list(first(claim("c", "a", 1), "a", 1, "b", 1), a, class("b", `device.driver == "b"`), slice("a", "1")), "", nil},
		{"the second of a list", []string{"c"}, list(first(claim("c", "a", 1), "a", 2, "b", 1), a, class("b", `device.driver == "b"`), slice("a", "1"), slice("b", "1")), "", nil},
		{"none of a list", []string{"c"}, list(first(claim("c", "a", 1), "a", 2, "b", 2), a, class("b", `device.driver == "b"`), slice("a", "1"), slice("b", "1")), "DynamicResources (unresolvable)", nil},
		{"a list yields to another claim", []string{"c", "d"}, list(first(claim("c", "a", 1), "a", 1, "b", 1), claim("d", "a", 1), a, class("b", `device.driver == "b"`), slice("a", "1"), slice("b", "1")), "", nil},
		{"tainted", []string{"c"}, list(claim("c", "a", 1), a, tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule)), "DynamicResources (unresolvable)", nil},
		{"tainted so that pods go", []string{"c"}, list(claim("c", "a", 1), a, tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoExecute)), "DynamicResources (unresolvable)", nil},
		{"tainted to no effect", []string{"c"}, list(claim("c", "a", 1), a, tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNone)), "", nil},
		{"tolerated", []string{"c"}, list(claim("c", "a", 1, tolerates("k", "v", "")), a, tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule)), "", nil},
		{"another value tolerated", []string{"c"}, list(claim("c", "a", 1, tolerates("k", "w", "")), a, tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule)), "DynamicResources (unresolvable)", nil},
		{"another effect tolerated", []string{"c"}, list(claim("c", "a", 1, tolerates("k", "v", resourcev1.DeviceTaintEffectNoExecute)), a, tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule)), "DynamicResources (unresolvable)", nil},
		{"one tolerates, one takes what is left", []string{"c", "d"}, list(claim("c", "a", 1, tolerates("k", "v", "")), claim("d", "a", 1), a,
			tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule), other(slice("a", "2"))), "", nil},
		{"both want what is not tainted", []string{"c", "d"}, list(claim("c", "a", 1), claim("d", "a", 1), a,
			tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule), other(slice("a", "2"))), "DynamicResources (unresolvable)", nil},
		{"tainted by a rule", []string{"c"}, list(claim("c", "a", 1), a, slice("a", "1"), rule(&resourcev1.DeviceTaintSelector{})), "DynamicResources (unresolvable)", nil},
		{"another tainted by a rule", []string{"c"}, list(claim("c", "a", 1), a, slice("a", "1"), rule(&resourcev1.DeviceTaintSelector{Device: new("2")})), "", nil},
		{"a rule for none", []string{"c"}, list(claim("c", "a", 1), a, slice("a", "1"), rule(nil)), "", nil},
		{"allocated and tainted", []string{"c"}, list(claim("c", "a", 1, allocated("1")), tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule)), "DynamicResources (unresolvable)", []string{"default/c"}},
		{"allocated and tainted so that pods go", []string{"c"}, list(claim("c", "a", 1, allocated("1"), reserved), tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoExecute)), "DynamicResources (unresolvable)", nil},
		{"allocated and tainted to no effect", []string{"c"}, list(claim("c", "a", 1, allocated("1")), tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNone)), "", nil},
		{"allocated and tolerated", []string{"c"}, list(claim("c", "a", 1, allocated("1"), copied("k")), tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoExecute)), "", nil},
		{"allocated, another taint tolerated", []string{"c"}, list(claim("c", "a", 1, allocated("1"), copied("l")), tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoExecute)), "DynamicResources (unresolvable)", []string{"default/c"}},
		{"allocated for administration and tainted", []string{"c"}, list(claim("c", "a", 1, allocated("1"), administers), tainted(slice("a", "1"), resourcev1.DeviceTaintEffectNoSchedule)), "DynamicResources (unresolvable)", []string{"default/c"}},
		{"allocated and tainted by a rule, in no slice", []string{"c"}, list(claim("c", "a", 1, allocated("1")), rule(&resourcev1.DeviceTaintSelector{Driver: new("a")})), "DynamicResources (unresolvable)", []string{"default/c"}},
		{"another one is allocated and tainted", []string{"c"}, list(claim("c", "a", 1, allocated("2")), tainted(slice("a", "1", "2"), resourcev1.DeviceTaintEffectNoSchedule)), "", nil},
		{"one claim twice", []string{"c", "c"}, list(claim("c", "a", 1), a, slice("a", "1")), "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := mk.Pod("p", 9, func(p *v1.Pod) {
				for i := range tt.claims {
					p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{ResourceClaimName: &tt.claims[i]})
				}
			})
			d, err := answers.Decide(&model.Cluster{Nodes: []*v1.Node{mk.Node("n", "2")}, Preemptor: p, Extra: tt.objects}, answers.Documented())
			assert.NoError(t, err)
			got := ""
			if v := d.Verdicts["n"]; v != nil {
				got = v.String()
			}
			if explain.PreFilterRejects(d) {
				got = "rejected"
			}
			assert.Equal(t, tt.want, got)
			if tt.want != "" {
				assert.Equal(t, tt.goes, d.Deallocatable())
			}
		})
	}
}

func TestClaimNames(t *testing.T) {
	made, template := "made", "template"
	entry := &v1.PodResourceClaim{Name: "a", ResourceClaimTemplateName: &template}
	for name, tt := range map[string]struct {
		status    []v1.PodResourceClaimStatus
		want, why string
	}{
		"not made yet":        {nil, "", "the claim is not created yet from its template"},
		"made":                {[]v1.PodResourceClaimStatus{{Name: "b"}, {Name: "a", ResourceClaimName: &made}}, "made", ""},
		"nothing to be made":  {[]v1.PodResourceClaimStatus{{Name: "a"}}, "", ""},
		"made for other name": {[]v1.PodResourceClaimStatus{{Name: "b", ResourceClaimName: &made}}, "", "the claim is not created yet from its template"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := device.ClaimName(mk.Pod("p", 0, func(p *v1.Pod) { p.Status.ResourceClaimStatuses = tt.status }), entry)
			assert.Equal(t, tt.want, got)
			assert.Equal(t, tt.why, why)
		})
	}
}

// TestDevicesNotCovered: each thing by which devices differ is named.
func TestDevicesNotCovered(t *testing.T) {
	yes, name := true, "c"
	type parts struct {
		claim *resourcev1.ResourceClaim
		class *resourcev1.DeviceClass
		slice *resourcev1.ResourceSlice
	}
	tainted := func(p parts) {
		p.slice.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Effect: resourcev1.DeviceTaintEffectNoExecute}}
		p.claim.Status.Allocation = &resourcev1.AllocationResult{}
		p.claim.Status.Allocation.Devices.Results = make([]resourcev1.DeviceRequestAllocationResult, 1)
	}
	for field, change := range map[string]func(p parts){
		"spec.devices.requests[0].firstAvailable[0].allocationMode": func(p parts) {
			p.claim.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{FirstAvailable: []resourcev1.DeviceSubRequest{{DeviceClassName: "any", AllocationMode: "All"}}}
		},
		"spec.devices.requests[0].firstAvailable[0].deviceClassName": func(p parts) {
			p.claim.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{FirstAvailable: []resourcev1.DeviceSubRequest{{DeviceClassName: "gone", AllocationMode: "ExactCount"}, {DeviceClassName: "any", AllocationMode: "ExactCount"}}}
		},
		"spec.devices.requests[0].firstAvailable[1].allocationMode": func(p parts) {
			p.claim.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{FirstAvailable: []resourcev1.DeviceSubRequest{{DeviceClassName: "any", AllocationMode: "ExactCount"}, {DeviceClassName: "any", AllocationMode: "All"}}}
		},
		"spec.devices.requests[0].exactly.tolerations": func(p parts) {
			p.claim.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{{TolerationSeconds: new(int64)}}
		},
		"spec.resourceClaims": func(p parts) {
			r := p.claim.Spec.Devices.Requests[0].Exactly
			r.AdminAccess, r.Count = &yes, 10
			p.claim.Spec.Devices.Requests = append(p.claim.Spec.Devices.Requests, resourcev1.DeviceRequest{Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: "any", Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount}})
			p.slice.Spec.AllNodes, p.slice.Spec.Devices = &yes, nil
			for i := range 30 {
				p.slice.Spec.Devices = append(p.slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint(i)})
			}
		},
		"status.allocation.devices.results[0]": func(p parts) {
			tainted(p)
			p.claim.Status.Allocation.Devices.Results[0].Tolerations = []resourcev1.DeviceToleration{{TolerationSeconds: new(int64)}}
		},
		"status.allocation.devices.results[0] in a pool of two": func(p parts) {
			tainted(p)
			p.slice.Spec.Pool.ResourceSliceCount = 2
		},
		"status.allocation.devices.results[0] of an older release": func(p parts) {
			tainted(p)
			p.claim.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
		},
		"status.allocation.devices.results[0] of an older release, of a list": func(p parts) {
			tainted(p)
			p.claim.Status.Allocation.Devices.Results[0].Request = "one/other"
			p.claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "one", FirstAvailable: []resourcev1.DeviceSubRequest{
				{Name: "first"}, {Name: "other", Tolerations: []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}}}}}
		},
		"spec.devices.requests[0].exactly.selectors": func(p parts) {
			p.claim.Spec.Devices.Requests[0].Exactly.Selectors = make([]resourcev1.DeviceSelector, 1)
		},
		"spec.devices.requests[0].exactly.allocationMode":  func(p parts) { p.claim.Spec.Devices.Requests[0].Exactly.AllocationMode = "All" },
		"spec.devices.requests":                            func(p parts) { p.claim.Spec.Devices.Requests[0].Exactly.Count = 33 },
		"spec.devices.requests[0].exactly.deviceClassName": func(p parts) { p.class.Spec.Selectors = make([]resourcev1.DeviceSelector, 1) },
		"spec.resourceClaims of one device twice": func(p parts) {
			p.slice.Spec.AllNodes, p.slice.Spec.Devices[0].AllowMultipleAllocations = &yes, &yes
			p.claim.Spec.Devices.Requests[0].Exactly.Count = 2
		},
		"spec.resourceClaims of too many": func(p parts) {
			p.slice.Spec.AllNodes, p.slice.Spec.Devices = &yes, nil
			for i := range 20 {
				p.slice.Spec.Devices = append(p.slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint(i), ConsumesCounters: []resourcev1.DeviceCounterConsumption{{
					CounterSet: "set", Counters: map[string]resourcev1.Counter{"units": {Value: *resource.NewQuantity(int64(100+i), resource.DecimalSI)}}}}})
			}
			p.slice.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"units": {Value: *resource.NewQuantity(1009, resource.DecimalSI)}}}}
			p.claim.Spec.Devices.Requests[0].Exactly.Count = 10
		},
		"spec.pool":                            func(p parts) { p.slice.Spec.Pool.ResourceSliceCount = 0 },
		"spec.pool of two devices of one name": func(p parts) { p.slice.Spec.Devices = []resourcev1.Device{{Name: "0"}, {Name: "0"}} },
		"spec.pool of two sets of one name":    func(p parts) { p.slice.Spec.SharedCounters = make([]resourcev1.CounterSet, 2) },
		"spec.pool without the counters": func(p parts) {
			p.slice.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "gone", Counters: map[string]resourcev1.Counter{"units": {}}}}
		},
		"spec.sharedCounters[0]": func(p parts) {
			p.slice.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"units": {Value: resource.MustParse("1Ei")}}}}
		},
		"spec.devices[0].consumesCounters[0].compatibilityGroups": func(p parts) {
			p.slice.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CompatibilityGroups: []string{"a"}}}
		},
		"spec.devices[0].capacity": func(p parts) {
			p.slice.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {Value: resource.MustParse("1u")}}
		},
		"spec.devices[0].capacity of which the second is tiny": func(p parts) {
			p.slice.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"a": {Value: resource.MustParse("1")}, "b": {Value: resource.MustParse("1u")}}
		},
		"spec.devices[0].capacity.requestPolicy": func(p parts) {
			p.slice.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {RequestPolicy: &resourcev1.CapacityRequestPolicy{}}}
		},
		"spec.devices[0].attributes": func(p parts) {
			p.slice.Spec.Devices[0].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"sockets": {IntValues: []int64{1}}}
			p.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: new(resourcev1.FullyQualifiedName("a/b"))}}
		},
		"spec.devices.requests[0].exactly.capacity": func(p parts) {
			p.claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"units": resource.MustParse("1Ei")}}
		},
		" of attributes and no constraints": func(p parts) {
			p.slice.Spec.Devices[0].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"sockets": {IntValues: []int64{1}}}
		},
		" of a pool in part": func(p parts) { p.slice.Spec.Pool.ResourceSliceCount = 2 },
		"status.allocation.devices.results[0].bindingConditions": func(p parts) {
			p.claim.Status.Allocation = &resourcev1.AllocationResult{}
			p.claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{BindingConditions: []string{"Ready"}}}
		},
		" of devices to be made ready": func(p parts) { p.slice.Spec.Devices[0].BindingConditions = []string{"Ready"} },
		"":                             func(parts) {},
	} {
		t.Run(field, func(t *testing.T) {
			p := parts{&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}},
				&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "any"}}, &resourcev1.ResourceSlice{}}
			p.claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: "any", Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount}}}
			p.slice.Spec.Pool.ResourceSliceCount, p.slice.Spec.Devices = 1, make([]resourcev1.Device, 1)
			change(p)
			c := &model.Cluster{Nodes: []*v1.Node{mk.Node("n", "2")}, Preemptor: mk.Pod("p", 0, func(p *v1.Pod) {
				p.Spec.ResourceClaims = []v1.PodResourceClaim{{ResourceClaimName: new("another")}, {ResourceClaimName: &name}}
			}), Extra: []runtime.Object{p.claim, p.class, p.slice}}
			u := unmodelled.In(c, model.NewSnapshot(c))
			field, _, _ := strings.Cut(field, " ") // the rest tells why
			if field == "" {
				assert.Empty(t, u)
			} else if assert.Len(t, u, 1) {
				assert.Equal(t, field, u[0].Field)
				assert.NotEmpty(t, u[0].Why)
			}
		})
	}
}
