package podgroup_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// TestDevicesOfMembers: a and b claim devices of a node that has two, and were placed there in turn. Each claim has to get one of its own, and
// a claim of both just one.
func TestDevicesOfMembers(t *testing.T) {
	claims := func(names ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			for _, name := range names {
				p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: &name})
			}
		}
	}
	for _, tt := range []struct {
		name     string
		of       [2][]string          // a's claims, and b's
		got      [2]map[string]string // which device each claim got
		want     string               // what is wrong with b's
		upstream string               // and what is with sharer-swaps-devices
	}{
		{name: "one each", of: [2][]string{{"x"}, {"y"}}, got: [2]map[string]string{{"x": "1"}, {"y": "2"}}},
		{name: "the same device for both", of: [2][]string{{"x"}, {"y"}}, got: [2]map[string]string{{"x": "1"}, {"y": "1"}},
			want: "is not free", upstream: "is not free"},
		{name: "one for both", of: [2][]string{{"x"}, {"x"}}, got: [2]map[string]string{{"x": "1"}, {"x": "1"}}},
		{name: "one for both is allocated twice", of: [2][]string{{"x"}, {"x"}}, got: [2]map[string]string{{"x": "1"}, {"x": "2"}},
			want: "has other devices than", upstream: "has other devices than"},
		{name: "a claim gets nothing", of: [2][]string{{"x"}, {"y"}}, got: [2]map[string]string{{"x": "1"}, {}}, want: "gets no devices", upstream: "gets no devices"},
		{name: "what nobody claims gets a device", of: [2][]string{{"x"}, {"y"}}, got: [2]map[string]string{{"x": "1"}, {"y": "2", "z": "2"}},
			want: "2 claims get devices", upstream: "2 claims get devices"},
		{name: "a device that is not there", of: [2][]string{{"x"}, {"y"}}, got: [2]map[string]string{{"x": "1"}, {"y": "9"}}, want: "is not offered", upstream: "is not offered"},
		{name: "one for both, after an own one", of: [2][]string{{"x"}, {"y", "x"}}, got: [2]map[string]string{{"x": "1"}, {"y": "2", "x": "1"}}},
		{name: "one for both, before an own one", of: [2][]string{{"x"}, {"x", "y"}}, got: [2]map[string]string{{"x": "1"}, {"x": "1", "y": "2"}},
			upstream: "does not have the devices of claim default/x"},
		{name: "one for both, before an own one, which gets it, too", of: [2][]string{{"x"}, {"x", "y"}}, got: [2]map[string]string{{"x": "1"}, {"x": "1", "y": "1"}},
			want: "is not free"},
		{name: "one for both, after an own one, which gets it, too", of: [2][]string{{"x"}, {"y", "x"}}, got: [2]map[string]string{{"x": "1"}, {"y": "1", "x": "1"}},
			want: "is not free", upstream: "is not free"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mk.Cluster(nil, mk.WithGroups(), mk.Node("n", "4"), mk.Group("g", 1), mk.Pod("a", 1, mk.Member("g"), claims(tt.of[0]...)), mk.Pod("b", 1, mk.Member("g"), claims(tt.of[1]...)))
			c.PreemptorGroup = "podgroup/default/g"
			slice := &resourcev1.ResourceSlice{Spec: resourcev1.ResourceSliceSpec{Driver: "d", NodeName: new("n"), Pool: resourcev1.ResourcePool{Name: "n", ResourceSliceCount: 1},
				Devices: []resourcev1.Device{{Name: "1"}, {Name: "2"}}}}
			class := &resourcev1.DeviceClass{}
			slice.Name, class.Name = "slice", "any"
			c.Extra = append(c.Extra, slice, class)
			for _, name := range []string{"x", "y"} {
				claim := &resourcev1.ResourceClaim{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
					{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "any", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}}}}
				claim.Namespace, claim.Name = "default", name
				c.Extra = append(c.Extra, claim)
			}
			for want, rules := range map[*string]*answers.Rules{&tt.want: release.Linked.Rules(), &tt.upstream: release.With(release.Linked.Rules(), release.SharerSwapsDevices)} {
				s, err := podgroups.Decide(c, rules)
				require.NoError(t, err)
				var placed []podgroup.Placement
				wrong := ""
				for i, m := range s.Members {
					trial := s.CycleOf(s.OfPods, s.World(s.Cycle, m, placed, nil), placed, nil, nil)
					at := podgroup.Placement{Pod: m, Node: "n"}
					at.Devices, err = podgroup.Read(allocations(t, tt.got[i]))
					require.NoError(t, err)
					wrong = s.Devices(s.Cycle, trial, at)
					if i == 0 {
						require.Empty(t, wrong)
						ways, exact := podgroup.Allocations(trial, "n", 10)
						assert.Len(t, ways, 1, "the devices are alike")
						assert.True(t, exact)
						assert.Empty(t, s.Devices(s.Cycle, trial, podgroup.Placement{Pod: m, Node: "n", Devices: ways[0]}), "what the model would allocate")
					}
					placed = append(placed, at)
				}
				if *want == "" {
					assert.Empty(t, wrong)
				} else {
					assert.Contains(t, wrong, *want)
				}
			}
		})
	}
}

// allocations are what an observation says of claims of one device each.
func allocations(t *testing.T, of map[string]string) map[string]string {
	all := map[string]string{}
	for claim, device := range of {
		text, err := json.Marshal(&resourcev1.AllocationResult{
			Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "n", Device: device}}}})
		require.NoError(t, err)
		all["default/"+claim] = string(text)
	}
	return all
}

// TestReadDevices: what is no allocation is an error that names the claim.
func TestReadDevices(t *testing.T) {
	_, err := podgroup.Read(map[string]string{"default/c": "{"})
	assert.ErrorContains(t, err, "claim default/c")
}
