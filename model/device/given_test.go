package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// What is allocated names the node to which its device is bound.
func TestNodeSelectorOfAnAllocation(t *testing.T) {
	p, n, claim, slice, class := claiming()
	c := mk.Cluster(p, n, mk.Node("m", "1"), slice, class, claim)
	for _, tt := range []struct {
		name  string
		of    *v1.NodeSelector
		wrong string
	}{
		{"its node", onNode("n"), ""},
		{"another node", onNode("m"), "its node selector says of node"},
		{"none", nil, "its node selector says of node"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := model.NewSnapshot(c)
			st, _ := device.DynamicResources{}.PreFilter(s)
			got := &resourcev1.AllocationResult{NodeSelector: tt.of}
			got.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: slice.Spec.Driver, Pool: "n", Device: "d"}}
			wrong := st.(*device.State).Wrong(s, c.Nodes[0], map[string]*resourcev1.AllocationResult{"default/c": got})
			if tt.wrong == "" {
				require.Empty(t, wrong)
				return
			}
			require.Contains(t, wrong, tt.wrong)
		})
	}
}

// gift is a claim of a pod, and what it gets on node n. Slices that come before and claims of others are in more.
type gift struct {
	class   *resourcev1.DeviceClass
	claim   *resourcev1.ResourceClaim
	request *resourcev1.ExactDeviceRequest
	slice   *resourcev1.ResourceSlice
	device  *resourcev1.Device
	got     *resourcev1.AllocationResult
	result  *resourcev1.DeviceRequestAllocationResult
	more    []any
}

// another adds a device that is as the first one, and gives it to a request, too, unless that is "".
func (g *gift) another(name, request string) *resourcev1.Device {
	of := *g.device.DeepCopy()
	of.Name = name
	g.slice.Spec.Devices = append(g.slice.Spec.Devices, of)
	g.device = &g.slice.Spec.Devices[0]
	if request != "" {
		r := *g.result.DeepCopy()
		r.Request, r.Device = request, name
		g.got.Devices.Results = append(g.got.Devices.Results, r)
		g.result = &g.got.Devices.Results[0]
	}
	return &g.slice.Spec.Devices[len(g.slice.Spec.Devices)-1]
}

// share lets several have the device, which has two capacities, and has the claim consume some of them.
func (g *gift) share(consumed amounts) {
	g.device.AllowMultipleAllocations, g.device.Capacity = new(true), map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{
		"units": {Value: resource.MustParse("4")}, "memory": {Value: resource.MustParse("8")}}
	if consumed != nil {
		g.result.ShareID, g.result.ConsumedCapacity = new(types.UID("1")), consumed
	}
}

// onNode is a selector of a node by its name.
func onNode(name string) *v1.NodeSelector {
	return &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{MatchFields: []v1.NodeSelectorRequirement{{Key: "metadata.name", Operator: v1.NodeSelectorOpIn, Values: []string{name}}}}}}
}

// What a claim gets is what it asks for, of devices that nobody has, and is written down as it is.
func TestWhatIsGiven(t *testing.T) {
	const its = "claim default/c: request r: device gpu.example.com/n/d "
	const notFree, inPart, consumes = "is not free, or not what is requested", "is allocated in part where it should be as a whole, or the other way round", "has other capacity consumed than is requested"
	about, exists := resourcev1.FullyQualifiedName("gpu.example.com/socket"), []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
	list := func(g *gift) {
		entry := resourcev1.DeviceSubRequest{Name: "a", DeviceClassName: g.class.Name, Count: 1, AllocationMode: resourcev1.DeviceAllocationModeExactCount}
		other := entry
		other.Name = "b"
		g.claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", FirstAvailable: []resourcev1.DeviceSubRequest{entry, other}}}
	}
	elsewhere := func(g *gift, node string) *resourcev1.ResourceSlice {
		s := g.slice.DeepCopy()
		s.Name, s.Spec.Pool.Name, s.Spec.NodeName = "other", "other", &node
		g.more = append(g.more, s)
		return s
	}
	everywhere := func(g *gift) { g.slice.Spec.NodeName, g.slice.Spec.AllNodes, g.got.NodeSelector = nil, new(true), nil }
	for _, tt := range []struct {
		name   string
		change func(g *gift)
		wrong  string
	}{
		{"as requested", func(*gift) {}, ""},
		{"nothing", func(g *gift) { g.got.Devices.Results = nil }, "claim default/c: request r gets nothing"},
		{"one of two", func(g *gift) { g.request.Count = 2; g.another("e", "") }, "claim default/c: request r gets 1 devices of 2"},
		{"both of two", func(g *gift) { g.request.Count = 2; g.another("e", "r") }, ""},
		{"one that is not requested", func(g *gift) { g.another("e", "other") }, "claim default/c: request other is none of its own, or another entry is met"},
		{"two requests, the second one first", func(g *gift) {
			g.claim.Spec.Devices.Requests = append(g.claim.Spec.Devices.Requests, *g.claim.Spec.Devices.Requests[0].DeepCopy())
			g.claim.Spec.Devices.Requests[1].Name = "s"
			g.another("e", "r")
			g.result.Request = "s"
		}, ""},
		{"the second entry of a list", func(g *gift) { list(g); g.result.Request = "r/b" }, ""},
		{"both entries of a list", func(g *gift) { list(g); g.result.Request = "r/a"; g.another("e", "r/b") }, "claim default/c: request r/b is none of its own, or another entry is met"},
		{"a device that is not there", func(g *gift) { g.result.Device = "gone" }, "claim default/c: request r: device gpu.example.com/n/gone is not offered to the node"},
		{"a device that is taken", func(g *gift) {
			taken := g.claim.DeepCopy()
			taken.Name, taken.Status.Allocation = "taken", g.got.DeepCopy()
			g.more = append(g.more, taken)
		}, its + notFree},
		{"a device that is not of the class", func(g *gift) {
			g.class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "other.example.com"`}}}
		}, its + notFree},
		{"devices that are not alike", func(g *gift) {
			g.request.Count = 2
			g.device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"socket": {IntValue: new(int64(1))}}
			g.another("e", "r").Attributes["socket"] = resourcev1.DeviceAttribute{IntValue: new(int64(2))}
			g.claim.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &about}}
		}, "claim default/c: request r: device gpu.example.com/n/e " + notFree},
		{"one of another pool has its name, and is taken", func(g *gift) {
			elsewhere(g, "n")
			taken := g.claim.DeepCopy()
			taken.Name, taken.Status.Allocation = "taken", g.got.DeepCopy()
			taken.Status.Allocation.Devices.Results[0].Pool = "other"
			g.more = append(g.more, taken)
		}, ""},
		{"administration that is not requested", func(g *gift) { g.result.AdminAccess = new(true) }, its + "has other access than is requested"},
		{"use where administration is requested", func(g *gift) { g.request.AdminAccess = new(true) }, its + "has other access than is requested"},
		{"a part of a whole", func(g *gift) { g.result.ShareID = new(types.UID("1")) }, its + inPart},
		{"the whole where a part is due", func(g *gift) { g.device.AllowMultipleAllocations = new(true) }, its + inPart},
		{"a whole that has capacity", func(g *gift) { g.share(nil); g.device.AllowMultipleAllocations = nil }, ""},
		{"all of what is shared", func(g *gift) {
			g.share(amounts{"units": resource.MustParse("4"), "gpu.example.com/memory": resource.MustParse("8")})
		}, ""},
		{"too little of what is shared", func(g *gift) { g.share(amounts{"units": resource.MustParse("4"), "memory": resource.MustParse("7")}) }, its + consumes},
		{"nothing of a second capacity", func(g *gift) { g.share(one("units", "4")) }, its + consumes},
		{"administration of what is shared", func(g *gift) {
			g.share(nil)
			g.request.AdminAccess, g.result.AdminAccess = new(true), new(true)
		}, ""},
		{"no copy of tolerations", func(g *gift) { g.request.Tolerations = exists }, its + "does not have a copy of the tolerations of the request"},
		{"a copy of tolerations", func(g *gift) { g.request.Tolerations, g.result.Tolerations = exists, exists }, ""},
		{"no copy of conditions", func(g *gift) {
			g.device.BindingConditions, g.device.BindingFailureConditions, g.result.BindingFailureConditions = []string{"Ready"}, []string{"Broken"}, []string{"Broken"}
		}, its + "does not have a copy of the binding conditions of the device"},
		{"no copy of conditions of failure", func(g *gift) {
			g.device.BindingConditions, g.device.BindingFailureConditions, g.result.BindingConditions = []string{"Ready"}, []string{"Broken"}, []string{"Ready"}
		}, its + "does not have a copy of the binding conditions of the device"},
		{"one of another pool has its name, elsewhere", func(g *gift) { elsewhere(g, "m") }, ""},
		{"one of the second slice of its pool", func(g *gift) {
			g.slice.Spec.Pool.ResourceSliceCount = 2
			first := g.slice.DeepCopy()
			first.Name, first.Spec.Devices[0].Name = "first", "e"
			g.more = append(g.more, first)
		}, ""},
		{"the second device of all nodes", func(g *gift) { everywhere(g); g.another("e", ""); g.result.Device = "e" }, ""},
		{"bound to its node", func(g *gift) { everywhere(g); g.device.BindsToNode, g.got.NodeSelector = new(true), onNode("n") }, ""},
		{"bound to its node, and not said", func(g *gift) { everywhere(g); g.device.BindsToNode = new(true) }, "claim default/c: its node selector says of node m that the devices can be used there: true"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, class := claiming()
			g := &gift{class: class, claim: claim, request: claim.Spec.Devices.Requests[0].Exactly, slice: slice, device: &slice.Spec.Devices[0], got: &resourcev1.AllocationResult{NodeSelector: onNode("n")}}
			g.got.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: slice.Spec.Driver, Pool: "n", Device: "d"}}
			g.result = &g.got.Devices.Results[0]
			tt.change(g)
			s := model.NewSnapshot(mk.Cluster(p, append([]any{n, mk.Node("m", "1")}, append(g.more, claim, slice, class)...)...))
			st, _ := device.DynamicResources{}.PreFilter(s)
			require.Equal(t, tt.wrong, st.(*device.State).Wrong(s, n, map[string]*resourcev1.AllocationResult{"default/c": g.got}))
		})
	}
}

// Each claim that is open gets devices, unless nobody has seen what it gets, and no other does.
func TestWhoIsGiven(t *testing.T) {
	p, n, claim, slice, class := claiming()
	slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: "e"})
	second := claim.DeepCopy()
	second.Name, second.UID = "d", "d"
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "d", ResourceClaimName: new("d")})
	got := func(name string) *resourcev1.AllocationResult {
		a := &resourcev1.AllocationResult{}
		a.Devices.Results = []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: slice.Spec.Driver, Pool: "n", Device: name}}
		return a
	}
	for _, tt := range []struct {
		name   string
		given  map[string]*resourcev1.AllocationResult
		unseen []string
		wrong  string
	}{
		{"both", map[string]*resourcev1.AllocationResult{"default/c": got("d"), "default/d": got("e")}, nil, ""},
		{"both the same", map[string]*resourcev1.AllocationResult{"default/c": got("d"), "default/d": got("d")}, nil,
			"claim default/d: request r: device gpu.example.com/n/d is not free, or not what is requested"},
		{"not the second", map[string]*resourcev1.AllocationResult{"default/c": got("d")}, nil, "claim default/d gets no devices"},
		{"not the second, and the first is unseen", nil, []string{"default/c"}, "claim default/d gets no devices"},
		{"both are unseen", nil, []string{"default/c", "default/d"}, ""},
		{"the first is unseen", map[string]*resourcev1.AllocationResult{"default/d": got("d")}, []string{"default/c"}, ""},
		{"another one, too", map[string]*resourcev1.AllocationResult{"default/c": got("d"), "default/d": got("e"), "default/e": got("e")}, nil, "3 claims get devices, and 2 need some"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := model.NewSnapshot(mk.Cluster(p, n, claim, second, slice, class))
			st, _ := device.DynamicResources{}.PreFilter(s)
			require.Equal(t, tt.wrong, st.(*device.State).Wrong(s, n, tt.given, tt.unseen...))
		})
	}
}

// Nothing is wrong with the ways that are found, which are as many as there are devices that differ.
func TestAllocations(t *testing.T) {
	skips := func(g *gift) *resourcev1.ResourceSlice {
		s := g.slice.DeepCopy()
		s.Name, s.Spec.Devices[0].Name = "other", "e"
		g.more = append(g.more, s)
		return s
	}
	for _, tt := range []struct {
		name    string
		change  func(g *gift)
		ways    int
		devices int // of a claim
		all     bool
	}{
		{"one device", func(*gift) {}, 1, 1, false},
		{"one of two that are alike", func(g *gift) { g.another("e", "") }, 1, 1, false},
		{"two", func(g *gift) { g.another("e", ""); g.request.Count = 2 }, 1, 2, false},
		{"one of two that differ", func(g *gift) {
			g.another("e", "").Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"socket": {IntValue: new(int64(2))}}
		}, 2, 1, false},
		{"one of three of which two are alike", func(g *gift) {
			g.device.Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"socket": {IntValue: new(int64(2))}}
			for _, name := range []string{"e", "f"} {
				g.another(name, "").Attributes = nil
			}
		}, 2, 1, false},
		{"one of two pools", func(g *gift) { skips(g).Spec.Pool.Name = "other" }, 2, 1, false},
		{"one of two of which one skips operations", func(g *gift) {
			g.slice.Spec.Pool.ResourceSliceCount = 2
			skips(g).Spec.SkipNodeOperations = []resourcev1.SkipNodeOperation{"Prepare"}
		}, 2, 1, false},
		{"for all nodes", func(g *gift) { g.slice.Spec.NodeName, g.slice.Spec.AllNodes = nil, new(true) }, 1, 1, true},
		{"bound to its node", func(g *gift) {
			g.slice.Spec.NodeName, g.slice.Spec.AllNodes, g.device.BindsToNode = nil, new(true), new(true)
		}, 1, 1, false},
		{"shared", func(g *gift) { g.share(nil) }, 1, 1, false},
		{"to administer", func(g *gift) { g.share(nil); g.request.AdminAccess = new(true) }, 1, 1, false},
		{"with all there is to copy", func(g *gift) {
			g.request.Tolerations = []resourcev1.DeviceToleration{{Operator: resourcev1.DeviceTolerationOpExists}}
			g.device.BindingConditions, g.device.BindingFailureConditions = []string{"Ready"}, []string{"Broken"}
		}, 1, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, n, claim, slice, class := claiming()
			n.Status.DeclaredFeatures = []string{"DRAOptionalNodeOperations"}
			g := &gift{class: class, claim: claim, request: claim.Spec.Devices.Requests[0].Exactly, slice: slice, device: &slice.Spec.Devices[0]}
			tt.change(g)
			c := mk.Cluster(p, append([]any{mk.Node("m", "1"), n}, append(g.more, claim, slice, class)...)...)
			c.Settings.FeatureGates = map[string]bool{device.GateOptionalOperations: true}
			s := model.NewSnapshot(c)
			state, _ := device.DynamicResources{}.PreFilter(s)
			st := state.(*device.State)
			ways, exact := st.Allocations(s, n, tt.ways)
			require.Len(t, ways, tt.ways)
			require.True(t, exact)
			for _, way := range ways {
				require.Empty(t, st.Wrong(s, n, way))
				require.Len(t, way["default/c"].Devices.Results, tt.devices)
				require.Equal(t, tt.all, way["default/c"].NodeSelector == nil)
			}
			fewer, exact := st.Allocations(s, n, tt.ways-1)
			require.Len(t, fewer, tt.ways-1)
			require.False(t, exact)
		})
	}
}

// Each claim gets devices, and a selector of all nodes from which they can be used.
func TestAllocationsOfTwoClaims(t *testing.T) {
	p, n, claim, slice, class := claiming()
	second := claim.DeepCopy()
	second.Name, second.UID = "d", "d"
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, v1.PodResourceClaim{Name: "d", ResourceClaimName: new("d")})
	other := mk.Node("other", "1")
	n.Labels, other.Labels = map[string]string{"has": "devices"}, map[string]string{"has": "devices"}
	slice.Spec.NodeName, slice.Spec.NodeSelector = nil, &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{{
		MatchExpressions: []v1.NodeSelectorRequirement{{Key: "has", Operator: v1.NodeSelectorOpExists}}}}}
	slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: "e"})
	s := model.NewSnapshot(mk.Cluster(p, n, mk.Node("m", "1"), other, claim, second, slice, class))
	state, _ := device.DynamicResources{}.PreFilter(s)
	ways, _ := state.(*device.State).Allocations(s, n, 1)
	require.Len(t, ways, 1)
	require.Len(t, ways[0], 2)
	require.Empty(t, state.(*device.State).Wrong(s, n, ways[0]))
}
