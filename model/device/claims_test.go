package device_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// A pod waits for each claim that is still to be made, and for none that is not to be made.
func TestClaimsStillToBeMade(t *testing.T) {
	for _, tt := range []struct {
		name     string
		statuses []v1.PodResourceClaimStatus
		gated    bool
	}{
		{"nothing is said yet", nil, true},
		{"the first is not to be made, and nothing is said of the second", []v1.PodResourceClaimStatus{{Name: "a"}}, true},
		{"the first is not to be made, and the second is gone", []v1.PodResourceClaimStatus{{Name: "a"}, {Name: "b", ResourceClaimName: new("gone")}}, true},
		{"none is to be made", []v1.PodResourceClaimStatus{{Name: "a"}, {Name: "b"}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mk.Pod("p", 1, func(p *v1.Pod) {
				p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "a", ResourceClaimTemplateName: new("template")}, {Name: "b", ResourceClaimTemplateName: new("template")}}
				p.Status.ResourceClaimStatuses = tt.statuses
			})
			require.Equal(t, tt.gated, device.Gated(nil, nil, p))
		})
	}
}

// Each node without devices is rejected.
func TestDevicesOfEachNode(t *testing.T) {
	p, n, claim, slice, class := claiming()
	s := model.NewSnapshot(mk.Cluster(p, mk.Node("l", "1"), mk.Node("m", "1"), n, claim, slice, class))
	st, _ := device.DynamicResources{}.PreFilter(s)
	for i, of := range s.Nodes {
		require.Equal(t, of.Name == "n", st.(*device.State).Verdicts[i] == nil, of.Name)
	}
}

// A pod that has a claim and gets a resource from devices needs a device for each.
func TestClaimBesideResource(t *testing.T) {
	for count := range 3 {
		p, n, claim, slice, class := claiming()
		class.Spec.ExtendedResourceName = new(gpu)
		p.Spec.Containers = []v1.Container{mk.Container(gpu, "1")}
		slice.Spec.Devices = devicesOf("", count).Spec.Devices
		st, _ := device.DynamicResources{}.PreFilter(model.NewSnapshot(mk.Cluster(p, n, claim, slice, class)))
		require.NotNil(t, st)
		require.Equal(t, count == 2, st.(*device.State).Verdicts[0] == nil, count)
	}
}

// Whichever of two claims comes first, what one administers is withheld from the other as the documents are read, unless that administers, too.
// It makes no difference whether the device consumes counters.
func TestAdministrationBesideAnotherClaim(t *testing.T) {
	withheld := func(int, int) bool { return true }
	fromLater := func(admin, other int) bool { return admin <= other }
	for _, tt := range []struct {
		first, second bool
		withholds     func(admin, other int) bool // nil as the documents say
		enough        bool
	}{
		{false, false, nil, false}, {true, false, nil, true}, {false, true, nil, true}, {true, true, nil, true},
		{false, false, withheld, false}, {true, false, withheld, false}, {false, true, withheld, false}, {true, true, withheld, true},
		{false, false, fromLater, false}, {true, false, fromLater, false}, {false, true, fromLater, true}, {true, true, fromLater, true},
	} {
		for _, counts := range []bool{false, true} {
			p, n, claim, slice, class := claiming()
			other := claim.DeepCopy()
			other.Name, other.UID = "d", "d"
			p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "d", ResourceClaimName: new("d")})
			claim.Spec.Devices.Requests[0].Exactly.AdminAccess, other.Spec.Devices.Requests[0].Exactly.AdminAccess = &tt.first, &tt.second
			if counts {
				counters := map[string]resourcev1.Counter{"c": {Value: resource.MustParse("1")}}
				slice.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: counters}}
				slice.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: counters}}
			}
			enough, known := device.Enough([]runtime.Object{claim, other, slice, class}, nil, n, func(r *device.Reading) {
				if tt.withholds != nil {
					r.Withholds = tt.withholds
				}
			}, p)
			require.True(t, known)
			require.Equal(t, tt.enough, enough, "%v and %v, counters: %v", tt.first, tt.second, counts)
		}
	}
}

// Administration needs a capacity, of which a share leaves a part, only where it is read as needing what is free.
func TestAdministrationOfShared(t *testing.T) {
	for _, tt := range []struct {
		units        string
		pays, enough bool
	}{{"1", false, true}, {"1", true, true}, {"2", false, true}, {"2", true, false}, {"5", false, false}} {
		p, n, claim, slice, class := claiming()
		of := parts{device: &slice.Spec.Devices[0], request: claim.Spec.Devices.Requests[0].Exactly}
		of.has("units", "4", nil)
		of.shares("units", "3")
		of.requests("units", tt.units)
		of.request.AdminAccess = new(true)
		of.others[0].Driver, of.others[0].Pool, of.others[0].Device = slice.Spec.Driver, "n", "d"
		has := &resourcev1.ResourceClaim{}
		has.Name, has.Status.Allocation = "has", &resourcev1.AllocationResult{}
		has.Status.Allocation.Devices.Results = of.others
		enough, known := device.Enough([]runtime.Object{claim, has, slice, class}, nil, n, func(r *device.Reading) { r.AdminPays = tt.pays }, p)
		require.True(t, known)
		require.Equal(t, tt.enough, enough, tt)
	}
}

// A device that may no longer be shared is not free while a claim has a share. Where it is read as free, it has what the share leaves.
func TestNoLongerShared(t *testing.T) {
	for _, tt := range []struct {
		units        string
		free, enough bool
	}{{"1", false, false}, {"1", true, true}, {"2", true, false}} {
		p, n, claim, slice, class := claiming()
		claim.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: one("units", tt.units)}
		slice.Spec.Devices[0].Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"units": {Value: resource.MustParse("4")}}
		has := claim.DeepCopy()
		has.Name, has.Status.Allocation = "has", &resourcev1.AllocationResult{}
		has.Status.Allocation.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: slice.Spec.Driver, Pool: "n", Device: "d", ShareID: new(types.UID("1")), ConsumedCapacity: one("units", "3")}}
		enough, known := device.Enough([]runtime.Object{claim, has, slice, class}, nil, n, func(r *device.Reading) { r.SharesAreFree = tt.free }, p)
		require.True(t, known)
		require.Equal(t, tt.enough, enough, tt)
	}
}

// Whichever counter of a device its pool does not have, the pool is not modelled.
func TestEachCounterIsThere(t *testing.T) {
	for missing := range 10 {
		p, n, claim, slice, class := claiming()
		has, consumes := map[string]resourcev1.Counter{}, map[string]resourcev1.Counter{}
		for i := range 10 {
			consumes[fmt.Sprint(i)] = resourcev1.Counter{Value: resource.MustParse("1")}
			if i != missing {
				has[fmt.Sprint(i)] = consumes[fmt.Sprint(i)]
			}
		}
		slice.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: has}}
		slice.Spec.Devices[0].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: consumes}}
		require.Equal(t, []string{"spec.pool"}, fieldsOf(mk.Cluster(p, n, claim, slice, class)), missing)
	}
}
