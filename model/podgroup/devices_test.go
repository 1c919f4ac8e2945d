package podgroup_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// TestDevicesOfMembers: a and b claim devices of a node that has two, and were placed there in turn. Each claim has to get one of its own, and
// a claim of both just one.
func TestDevicesOfMembers(t *testing.T) {
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

// claims has a pod use claims.
func claims(names ...string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		for _, name := range names {
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: name, ResourceClaimName: &name})
		}
	}
}

// allocations are what an observation says of claims of one device each.
func allocations(t *testing.T, of map[string]string) map[string]string {
	all := map[string]string{}
	for claim, device := range of {
		text, err := json.Marshal(allocation(device))
		require.NoError(t, err)
		all["default/"+claim] = string(text)
	}
	return all
}

// allocation is one device for a claim.
func allocation(name string) *resourcev1.AllocationResult {
	return &resourcev1.AllocationResult{
		Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "n", Device: name}}}}
}

// TestReadDevices: what is no allocation is an error that names the claim.
func TestReadDevices(t *testing.T) {
	_, err := podgroup.Read(map[string]string{"default/c": "{"})
	assert.ErrorContains(t, err, "claim default/c")
}

// sharing is a group whose pods a and b share claim shared, of which a has claim own, and b claim had, which has devices already.
func sharing() *podgroup.Cycle {
	settings := mk.WithGroups()
	settings.FeatureGates[device.GateGroupClaims] = true
	claim := func(name string, change ...func(*resourcev1.ResourceClaim)) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{}
		c.Namespace, c.Name = "default", name
		for _, f := range change {
			f(c)
		}
		return c
	}
	return cycleOf(model.PodGroupKey("default", "g"), settings, mk.Pod("a", 1, mk.Member("g"), claims("own", "shared")), mk.Pod("b", 1, mk.Member("g"), claims("shared", "had")),
		mk.Pod("c", 1, mk.Member("g")), claim("own"), claim("shared"), claim("had", func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation = allocation("9")
			c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "b", UID: "default/b"}}
		}), mk.Group("g", 1, func(g *schedulingv1beta1.PodGroup) {
			g.Spec.ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{{Name: "shared", ResourceClaimName: new("shared")}}
		}))
}

// As a member is bound, its devices are written to its claims, and these are reserved for it or for its group.
func TestWriteClaims(t *testing.T) {
	cy := sharing()
	got := map[string]*resourcev1.AllocationResult{"default/own": allocation("1"), "default/shared": allocation("2"), "default/had": allocation("3")}
	for _, tt := range []struct {
		name   string
		member int
		claim  string
		device string
		user   types.UID
	}{
		{"its own", 0, "default/own", "1", "default/a"},
		{"its group's", 0, "default/shared", "2", "podgroup/default/g"},
		{"its group's, of another", 1, "default/shared", "2", "podgroup/default/g"},
		{"one that has devices already", 1, "default/had", "9", "default/b"},
		{"one that no entry names", 2, "default/own", "1", "default/c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			at := podgroup.Placement{Pod: cy.Members[tt.member], Node: "n1", Devices: got}
			written, known := cy.Written(cy, nil, at, tt.claim)
			assert.True(t, known)
			assert.Equal(t, allocation(tt.device), written)
			assert.True(t, cy.Reserved(cy, at, tt.claim))
			assert.Equal(t, tt.user, cy.User(cy, at, tt.claim))
		})
	}
}

func TestUsersOfClaims(t *testing.T) {
	cy := sharing()
	a, b := cy.Members[0], cy.Members[1]
	assert.True(t, podgroup.Uses(cy.Cluster.Extra, b, "default/had"))
	assert.False(t, podgroup.Uses(cy.Cluster.Extra, a, "default/had"), "it is reserved for another")
	assert.False(t, podgroup.Uses(cy.Cluster.Extra, b, "default/shared"), "another claim is reserved for it")
	assert.False(t, podgroup.UsedBy(cy.Cluster.Extra, "podgroup/default/g", "default/shared"))
}

// The devices of all members that are placed are gone for the next one; the cluster itself stays as it is.
func TestDevicesOfMembersBefore(t *testing.T) {
	cy := sharing()
	placed := []podgroup.Placement{
		{Pod: cy.Members[0], Node: "n1", Devices: map[string]*resourcev1.AllocationResult{"default/own": allocation("1"), "default/shared": allocation("2")}},
		{Pod: cy.Members[1], Node: "n1", Devices: map[string]*resourcev1.AllocationResult{"default/shared": allocation("2")}},
	}
	world := cy.World(cy, cy.Members[2], placed, nil)
	for _, at := range placed {
		for claim, devices := range at.Devices {
			assert.Equal(t, devices, podgroup.Allocated(world.Extra, claim), claim)
			assert.True(t, podgroup.Uses(world.Extra, at.Pod, claim), "%s of %s", claim, at.Pod.Name)
			assert.Nil(t, podgroup.Allocated(cy.Cluster.Extra, claim), claim)
		}
	}
	ways, exact := podgroup.Allocations(cy.OfPods.NewCycle(world), "n1", 10)
	assert.Equal(t, []map[string]*resourcev1.AllocationResult{nil}, ways, "a member without claims needs no devices")
	assert.True(t, exact)
}
