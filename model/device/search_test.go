package device

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "k8s.io/api/core/v1"
)

func quantity(text string) *resource.Quantity { return new(resource.MustParse(text)) }

func TestConsumed(t *testing.T) {
	steps := &resourcev1.CapacityRequestPolicy{Default: quantity("2"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("2"), Max: quantity("8"), Step: quantity("3")}}
	halves := &resourcev1.CapacityRequestPolicy{Default: quantity("1"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("500m"), Step: quantity("500m")}}
	tiny := &resourcev1.CapacityRequestPolicy{Default: quantity("1"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("1"), Step: quantity("1m")}}
	upTo := &resourcev1.CapacityRequestPolicy{Default: quantity("2"), ValidRange: &resourcev1.CapacityRequestPolicyRange{Min: quantity("2"), Max: quantity("8")}}
	values := &resourcev1.CapacityRequestPolicy{Default: quantity("2"), ValidValues: []resource.Quantity{*quantity("2"), *quantity("5")}}
	for name, tt := range map[string]struct {
		policy    *resourcev1.CapacityRequestPolicy
		requested string
		want      string // "" is not admitted
	}{
		"no policy, nothing requested": {nil, "", "10"},
		"no policy":                    {nil, "3", "3"},
		"the default":                  {&resourcev1.CapacityRequestPolicy{Default: quantity("4")}, "", "4"},
		"a default and a request":      {&resourcev1.CapacityRequestPolicy{Default: quantity("4")}, "3", "3"},
		"the default of a range":       {steps, "", "2"},
		"below the range":              {steps, "1", "2"},
		"on a step":                    {steps, "5", "5"},
		"between steps":                {steps, "6", "8"},
		"a part of a unit":             {steps, "2100m", "5"},
		"steps of parts of a unit":     {halves, "1500m", "2"},
		"the least, a part of a unit":  {halves, "500m", "1"},
		"less than a part of a unit":   {halves, "100m", "500m"},
		"above the range":              {steps, "9", ""},
		"steps of parts":               {halves, "1100m", "2"},
		"steps of next to nothing":     {tiny, "1500m", "2"},
		"without steps":                {upTo, "7", "7"},
		"without steps, above":         {upTo, "9", ""},
		"the default of values":        {values, "", "2"},
		"a value":                      {values, "5", "5"},
		"between values":               {values, "3", "5"},
		"above the values":             {values, "6", ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, requested := &resourcev1.DeviceCapacity{Value: *quantity("10"), RequestPolicy: tt.policy}, (*resource.Quantity)(nil)
			if tt.requested != "" {
				requested = quantity(tt.requested)
			}
			takes, admitted := consumed(c, requested)
			require.Equal(t, tt.want != "", admitted)
			if admitted {
				assert.Equal(t, milli(quantity(tt.want)), takes)
			}
		})
	}
}

// capacities are what devices have of and requests ask for.
var capacities = []resourcev1.QualifiedName{"units", "memory"}

// drawn draws devices of one pool, of which claims have some, and claims for more.
func drawn(r *rand.Rand) (objects []runtime.Object, wanting []*resourcev1.ResourceClaim) {
	units := func(n int) resource.Quantity { return *resource.NewQuantity(int64(n), resource.DecimalSI) }
	s := &resourcev1.ResourceSlice{}
	s.Spec.Driver, s.Spec.AllNodes, s.Spec.Pool.ResourceSliceCount = "a", new(true), 2
	taken := &resourcev1.ResourceClaim{}
	taken.Name, taken.Status.Allocation = "taken", &resourcev1.AllocationResult{}
	for i := range 1 + r.IntN(4) {
		of := resourcev1.Device{Name: fmt.Sprint(i)}
		result := resourcev1.DeviceRequestAllocationResult{Driver: "a", Device: of.Name}
		if r.IntN(2) == 0 {
			of.AllowMultipleAllocations = new(true)
			result.ShareID, result.ConsumedCapacity = new(types.UID), map[resourcev1.QualifiedName]resource.Quantity{}
			for _, name := range capacities {
				result.ConsumedCapacity["a/"+name] = units(1 + r.IntN(3))
			}
		}
		of.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}
		for _, name := range capacities {
			if r.IntN(3) > 0 {
				of.Capacity[name] = resourcev1.DeviceCapacity{Value: units(2 + r.IntN(4))}
			}
		}
		if r.IntN(3) > 0 {
			of.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"socket": {IntValue: new(int64(r.IntN(2)))}}
		}
		if r.IntN(2) == 0 {
			of.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"c": {Value: units(1 + r.IntN(3))}, "d": {Value: units(1 + r.IntN(3))}}}}
		}
		if r.IntN(4) == 0 {
			taken.Status.Allocation.Devices.Results = append(taken.Status.Allocation.Devices.Results, result)
		}
		s.Spec.Devices = append(s.Spec.Devices, of)
	}
	counters := s.DeepCopy()
	counters.Spec.Devices, counters.Spec.SharedCounters = nil, []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"c": {Value: units(2 + r.IntN(4))}, "d": {Value: units(2 + r.IntN(4))}}}}
	objects = []runtime.Object{&resourcev1.DeviceClass{}, s, counters, taken}
	for i := range 1 + r.IntN(2) {
		c := &resourcev1.ResourceClaim{}
		c.Name = fmt.Sprint(i)
		for j := range 1 + r.IntN(2) {
			e := &resourcev1.ExactDeviceRequest{Count: int64(1 + r.IntN(2))}
			if r.IntN(5) == 0 {
				e.AdminAccess = new(true)
			}
			e.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{}}
			for i, name := range capacities {
				if r.IntN(2+2*i) == 0 {
					e.Capacity.Requests["a/"+name] = units(1 + r.IntN(3))
				}
			}
			c.Spec.Devices.Requests = append(c.Spec.Devices.Requests, resourcev1.DeviceRequest{Name: fmt.Sprint(j), Exactly: e})
		}
		switch about := resourcev1.FullyQualifiedName("a/socket"); r.IntN(5) {
		case 0:
			c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about}}
		case 1:
			c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &about}}
		case 2:
			c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &about, Requests: []string{"1"}}}
		}
		wanting = append(wanting, c)
	}
	return objects, wanting
}

// What is found agrees with trying all devices for all requests, and with adding up what
// all of them take at the end.
func TestSearchTriesEverything(t *testing.T) {
	r, found := rand.New(rand.NewPCG(1, 2)), map[bool]int{}
	for range 8000 {
		objects, wanting := drawn(r)
		d := newDevices(objects, nil)
		var wanted []wanted
		for i, c := range wanting {
			d.want(c)
			for j := range c.Spec.Devices.Requests {
				for range c.Spec.Devices.Requests[j].Exactly.Count {
					wanted = append(wanted, newWanted(c, i, j))
				}
			}
		}
		s := newSearch(d, d.offeredTo(&v1.Node{}))
		want := assign(objects, wanted, nil)
		require.Equal(t, want, s.complete(), "%v", objects)
		assert.False(t, s.exhausted())
		found[want]++
	}
	assert.Greater(t, found[true], 1200)
	assert.Greater(t, found[false], 1200)
}

// As many devices as may be tried are, and nothing is found after that.
func TestSearchGivesUp(t *testing.T) {
	for _, left := range []int{1, 0} {
		s := newSearch(newDevices(nil, nil), []offer{{parts: &parts{of: &resourcev1.Device{}, pool: &pool{}}}})
		s.wanted, s.steps = [][]wish{{{count: 1}}}, maxSteps-left
		require.Equal(t, left > 0, s.complete())
		require.Equal(t, left == 0, s.exhausted())
	}
}

// wanted is one device that a request asks for.
type wanted struct {
	claim, request int
	admin          bool
	takes          map[resourcev1.QualifiedName]int64 // of capacities; what is missing is not said
	alike, unalike bool
}

func newWanted(c *resourcev1.ResourceClaim, claim, request int) wanted {
	e := c.Spec.Devices.Requests[request].Exactly
	w := wanted{claim: claim, request: request, admin: e.AdminAccess != nil, takes: map[resourcev1.QualifiedName]int64{}}
	for _, name := range capacities {
		if q, said := e.Capacity.Requests["a/"+name]; said {
			w.takes[name] = q.Value()
		}
	}
	for _, constraint := range c.Spec.Devices.Constraints {
		if len(constraint.Requests) == 0 || constraint.Requests[0] == fmt.Sprint(request) {
			w.alike, w.unalike = constraint.MatchAttribute != nil, constraint.DistinctAttribute != nil
		}
	}
	return w
}

// assign tries all devices for what is left, and then adds everything up.
func assign(objects []runtime.Object, all []wanted, got []int) bool {
	of := objects[1].(*resourcev1.ResourceSlice).Spec.Devices
	if len(got) == len(all) {
		return addsUp(objects, all, got)
	}
	for i := range of {
		if assign(objects, all, append(slices.Clip(got), i)) {
			return true
		}
	}
	return false
}

func addsUp(objects []runtime.Object, all []wanted, got []int) bool {
	of := objects[1].(*resourcev1.ResourceSlice).Spec.Devices
	whole := objects[2].(*resourcev1.ResourceSlice).Spec.SharedCounters[0].Counters
	results := objects[3].(*resourcev1.ResourceClaim).Status.Allocation.Devices.Results
	counters, used := map[string]int64{}, make([]bool, len(of))
	for i := range of {
		shared, left := of[i].AllowMultipleAllocations != nil, map[resourcev1.QualifiedName]int64{}
		for name, c := range of[i].Capacity {
			left[name] = c.Value.Value()
		}
		at := slices.IndexFunc(results, func(r resourcev1.DeviceRequestAllocationResult) bool { return r.Device == of[i].Name })
		if at >= 0 {
			used[i] = true
			for name := range left {
				q := results[at].ConsumedCapacity["a/"+name]
				left[name] -= q.Value()
			}
		}
		for n, w := range all {
			if got[n] != i {
				continue
			}
			for name, takes := range w.takes {
				if c, has := of[i].Capacity[name]; !has || takes > c.Value.Value() {
					return false
				}
			}
			for m := range n {
				other := all[m]
				distinct := other.claim == w.claim && (other.request == w.request || !shared) || !shared && !other.admin && !w.admin
				if got[m] == i && distinct {
					return false
				}
			}
			if w.admin {
				continue
			}
			if !shared && at >= 0 {
				return false
			}
			for name, c := range of[i].Capacity {
				takes, said := w.takes[name]
				if !said {
					takes = c.Value.Value()
				}
				if left[name] -= takes; shared && left[name] < 0 {
					return false
				}
			}
			used[i] = true
		}
		if used[i] && len(of[i].ConsumesCounters) > 0 {
			for name, c := range of[i].ConsumesCounters[0].Counters {
				counters[name] += c.Value.Value()
			}
		}
	}
	adds := false
	for n := range all {
		adds = adds || !all[n].admin && len(of[got[n]].ConsumesCounters) > 0 && !slices.ContainsFunc(results, func(r resourcev1.DeviceRequestAllocationResult) bool { return r.Device == of[got[n]].Name })
	}
	for name, c := range whole {
		if adds && counters[name] > c.Value.Value() { // what is allocated already may be more
			return false
		}
	}
	socket := func(n int) *int64 { return of[got[n]].Attributes["socket"].IntValue }
	for n, w := range all {
		if (w.alike || w.unalike) && socket(n) == nil {
			return false
		}
		for m := range n {
			if other := all[m]; other.claim == w.claim && (w.alike && other.alike && *socket(n) != *socket(m) || w.unalike && other.unalike && *socket(n) == *socket(m)) {
				return false
			}
		}
	}
	return true
}

func TestChoices(t *testing.T) {
	for _, tt := range []struct{ devices, some, want int }{
		{5, 0, 1}, {5, 1, 5}, {5, 2, 10}, {5, 3, 10}, {5, 5, 1}, {6, 3, 20}, {1000, 500, maxPlacements + 1},
	} {
		assert.Equal(t, tt.want, choices(tt.devices, tt.some), "%d of %d", tt.some, tt.devices)
	}
}
