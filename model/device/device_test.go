package device_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
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
		{"no device", []string{"c"}, list(claim("c", "a", 1), a), "DynamicResources (unresolvable)", nil},
		{"a device", []string{"c"}, list(claim("c", "a", 1), a, slice("a", "1")), "", nil},
		{"another driver's", []string{"c"}, list(claim("c", "a", 1), a, slice("b", "1")), "DynamicResources (unresolvable)", nil},
		{"any driver's", []string{"c"}, list(claim("c", "any", 1), anyDevice, slice("b", "1")), "", nil},
		{"any of what the others leave", []string{"c", "d"}, list(claim("c", "any", 1), claim("d", "a", 1), a, anyDevice, slice("a", "1")), "DynamicResources (unresolvable)", nil},
		{"enough for both", []string{"c", "d"}, list(claim("c", "any", 1), claim("d", "a", 1), a, anyDevice, slice("a", "1", "2")), "", nil},
		{"taken", []string{"c"}, list(claim("c", "a", 2), a, slice("a", "1", "2"), claim("d", "a", 1, allocated("2"))), "DynamicResources (unresolvable)", nil},
		{"administered", []string{"c"}, list(claim("c", "a", 2), a, slice("a", "1", "2"), claim("d", "a", 1, allocated("2"), administers)), "", nil},
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
	for field, change := range map[string]func(p parts){
		"spec.devices.constraints":                func(p parts) { p.claim.Spec.Devices.Constraints = make([]resourcev1.DeviceConstraint, 1) },
		"spec.devices.requests[0].firstAvailable": func(p parts) { p.claim.Spec.Devices.Requests[0] = resourcev1.DeviceRequest{} },
		"spec.devices.requests[0].exactly.selectors": func(p parts) {
			p.claim.Spec.Devices.Requests[0].Exactly.Selectors = make([]resourcev1.DeviceSelector, 1)
		},
		"spec.devices.requests[0].exactly.allocationMode":  func(p parts) { p.claim.Spec.Devices.Requests[0].Exactly.AllocationMode = "All" },
		"spec.devices.requests[0].exactly.adminAccess":     func(p parts) { p.claim.Spec.Devices.Requests[0].Exactly.AdminAccess = &yes },
		"spec.devices.requests":                            func(p parts) { p.claim.Spec.Devices.Requests[0].Exactly.Count = 33 },
		"spec.devices.requests[0].exactly.deviceClassName": func(p parts) { p.class.Spec.Selectors = make([]resourcev1.DeviceSelector, 1) },
		"spec.pool":                   func(p parts) { p.slice.Spec.Pool.ResourceSliceCount = 2 },
		"spec.sharedCounters":         func(p parts) { p.slice.Spec.SharedCounters = make([]resourcev1.CounterSet, 1) },
		"spec.perDeviceNodeSelection": func(p parts) { p.slice.Spec.PerDeviceNodeSelection = &yes },
		"spec.devices[0].taints":      func(p parts) { p.slice.Spec.Devices[0].Taints = make([]resourcev1.DeviceTaint, 1) },
		"spec.devices[0].consumesCounters": func(p parts) {
			p.slice.Spec.Devices[0].ConsumesCounters = make([]resourcev1.DeviceCounterConsumption, 1)
		},
		"spec.devices[0].allowMultipleAllocations": func(p parts) { p.slice.Spec.Devices[0].AllowMultipleAllocations = &yes },
		"spec.devices[0].bindingConditions":        func(p parts) { p.slice.Spec.Devices[0].BindingConditions = []string{"Ready"} },
		"":                                         func(parts) {},
	} {
		t.Run(field, func(t *testing.T) {
			p := parts{&resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", Namespace: "default"}},
				&resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "any"}}, &resourcev1.ResourceSlice{}}
			p.claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: "any", Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount}}}
			p.slice.Spec.Pool.ResourceSliceCount, p.slice.Spec.Devices = 1, make([]resourcev1.Device, 1)
			change(p)
			c := &model.Cluster{Preemptor: mk.Pod("p", 0, func(p *v1.Pod) {
				p.Spec.ResourceClaims = []v1.PodResourceClaim{{ResourceClaimName: &name}}
			}), Extra: []runtime.Object{p.claim, p.class, p.slice}}
			u := unmodelled.In(c, model.NewSnapshot(c))
			if field == "" {
				assert.Empty(t, u)
			} else if assert.Len(t, u, 1) {
				assert.Equal(t, field, u[0].Field)
			}
		})
	}
}
