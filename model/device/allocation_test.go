package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// A taint of an allocated device counts wherever it is written.
func TestTaintsBehindOthers(t *testing.T) {
	taint := resourcev1.DeviceTaint{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule}
	rule := func(name string) *resourcev1.DeviceTaintRule {
		return &resourcev1.DeviceTaintRule{Spec: resourcev1.DeviceTaintRuleSpec{DeviceSelector: &resourcev1.DeviceTaintSelector{Device: &name}, Taint: taint}}
	}
	for _, tt := range []struct {
		name   string
		change func(s *resourcev1.ResourceSlice) (more []runtime.Object)
		taints int // claims
	}{
		{"none", func(*resourcev1.ResourceSlice) []runtime.Object { return nil }, 0},
		{"the second device", func(s *resourcev1.ResourceSlice) []runtime.Object {
			s.Spec.Devices = []resourcev1.Device{{Name: "e"}, {Name: "d", Taints: []resourcev1.DeviceTaint{taint}}}
			return nil
		}, 1},
		{"the second slice", func(s *resourcev1.ResourceSlice) []runtime.Object {
			other := s.DeepCopy()
			other.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{taint}
			s.Name, s.Spec.Devices[0].Name, s.Spec.Pool.ResourceSliceCount, other.Spec.Pool.ResourceSliceCount = "first", "e", 2, 2
			return []runtime.Object{other}
		}, 1},
		{"the second rule", func(*resourcev1.ResourceSlice) []runtime.Object { return []runtime.Object{rule("e"), rule("d")} }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, _ := claiming()
			claim.Status.Allocation = &resourcev1.AllocationResult{}
			claim.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: slice.Spec.Driver, Pool: "n", Device: "d"}}
			more := tt.change(slice)
			c := mk.Cluster(p, n, claim, slice)
			c.Extra = append(c.Extra, more...)
			st, _ := device.DynamicResources{}.PreFilter(model.NewSnapshot(c))
			require.Len(t, st.(*device.State).Tainted, tt.taints)
		})
	}
}
