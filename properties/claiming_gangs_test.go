package properties_test

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
)

// claimingGangs are groups whose members claim devices.
var claimingGangs = []gangCase{
	{"a device for each", devices(2, nil, claims("x", "y"), member("g1", claiming("x")), member("g2", claiming("y"))), "fits", nil},
	{"a device for two", devices(1, nil, claims("x", "y"), member("g1", claiming("x")), member("g2", claiming("y"))), "nobody", nil},
	{"one claim for both", devices(1, nil, claims("x"), member("g1", claiming("x")), member("g2", claiming("x"))), "fits", nil},
	{"victims have no devices that are of use", devices(1, []any{on("n", "a", 0, mk.CPU("4"))}, claims("x", "y"), member("g1", claiming("x")), member("g2", claiming("y"))), "no help", nil},
	{"one claim for both, with victims", devices(1, []any{on("n", "a", 0, mk.CPU("3"))}, claims("x"), member("g1", claiming("x")), member("g2", claiming("x"))), "a", nil},
	{"one claim for both, after an own one", devices(2, nil, claims("x", "y"), member("g1", claiming("x")), member("g2", claiming("y", "x"))), "fits", nil},
	{"one claim for both, before an own one", devices(2, nil, claims("x", "y"), member("g1", claiming("x")), member("g2", claiming("x", "y"))), "fits", []string{"sharer-swaps-devices"}},
	{"one claim for both, before an own one, and one device", devices(1, nil, claims("x", "y"), member("g1", claiming("x")), member("g2", claiming("x", "y"))), "nobody", nil},
}

// devices are a group of two on a node that has some.
func devices(count int, more []any, parts ...any) []any {
	slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Driver: "d", NodeName: new("n"), Pool: resourcev1.ResourcePool{Name: "n", ResourceSliceCount: 1}}}
	for i := range count {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: strconv.Itoa(i)})
	}
	class := &resourcev1.DeviceClass{}
	slice.Name, class.Name = "slice", "any"
	all := append([]any{mk.Group("g", 10, gang(2)), node("n", "4", "z"), slice, class}, more...)
	for _, part := range parts {
		if several, is := part.([]any); is {
			all = append(all, several...)
		} else {
			all = append(all, part)
		}
	}
	return all
}

// claims are claims for a device each.
func claims(names ...string) (all []any) {
	for _, name := range names {
		claim := &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
			{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}}}}
		claim.Namespace, claim.Name = "default", name
		all = append(all, claim)
	}
	return all
}

func claiming(names ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		for _, name := range names {
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: &name})
		}
	}
}
