package aftermath

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/properties"
)

// extendedCluster is one whose preemptor gets two devices on node-1 for an extended resource,
// of three there, of which another pod has the first: one for its container, which an init
// container has before, and one for a sidecar. For some lies node-1 has the resource itself,
// or the preemptor fits nowhere, and preempts, or an earlier cycle has made its claim.
func extendedCluster(lie string) *model.Cluster {
	c := checktest.Cluster()
	cpu := "0"
	if strings.HasSuffix(lie, "fits nowhere") {
		cpu = "2"
	}
	c.Preemptor = checktest.Pod("p", 10, cpu)
	main, sidecar, before := &c.Preemptor.Spec.Containers[0], mk.Sidecar("example.com/gpu", "1"), mk.Container("example.com/gpu", "1")
	main.Name, sidecar.Name, before.Name = "main", "sidecar", "before"
	main.Resources.Requests["example.com/gpu"] = mk.Resources("example.com/gpu", "1")["example.com/gpu"]
	c.Preemptor.Spec.InitContainers = []v1.Container{sidecar, before}
	c.Nodes = c.Nodes[:1]
	if strings.HasSuffix(lie, "has the resource") {
		c.Nodes[0].Status.Allocatable["example.com/gpu"] = mk.Resources("example.com/gpu", "4")["example.com/gpu"]
	}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice"}, Spec: resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", NodeName: &c.Nodes[0].Name,
		Pool: resourcev1.ResourcePool{Name: "pool", ResourceSliceCount: 1}, Devices: []resourcev1.Device{{Name: "a"}, {Name: "b"}, {Name: "c"}}}}
	other := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "other", Namespace: "default"}}
	other.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}}}
	other.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
		{Request: "r", Driver: "gpu.example.com", Pool: "pool", Device: "a"}}}}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: new("example.com/gpu")}}
	c.Extra = append(c.Extra, class, slice, other)
	if strings.HasSuffix(lie, "of an earlier cycle") {
		made := other.DeepCopy()
		made.Name, made.Status.Allocation = "made", nil
		made.Annotations = map[string]string{resourcev1.ExtendedResourceClaimAnnotation: "true"}
		made.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: filter.PodUID(c.Preemptor), Controller: new(true)}}
		c.Extra = append(c.Extra, made)
	}
	return c
}

// place is where the call of a kind is.
func place(a *aftermath, is func(c *model.Call) bool) int {
	return slices.IndexFunc(a.Calls, func(c model.Call) bool { return is(&c) })
}

func making(c *model.Call) bool { return c.Verb == "create" && c.Resource == "resourceclaims" }
func allocating(c *model.Call) bool {
	return c.Resource == "resourceclaims/status" && c.Claim != nil && len(c.Claim.Devices) > 0
}
func telling(c *model.Call) bool { return c.ExtendedClaim != nil }
func binding(c *model.Call) bool { return c.Verb == "bind" }

// change changes a copy of what a call writes.
func change(is func(c *model.Call) bool, to func(c *model.Call)) func(*aftermath) {
	return func(a *aftermath) {
		c := &a.Calls[place(a, is)]
		if c.Claim != nil {
			claim := *c.Claim
			claim.Requests, claim.Devices, claim.ReservedFor = slices.Clone(claim.Requests), slices.Clone(claim.Devices), slices.Clone(claim.ReservedFor)
			c.Claim = &claim
		}
		if c.ExtendedClaim != nil {
			told := *c.ExtendedClaim
			told.Mappings = slices.Clone(told.Mappings)
			c.ExtendedClaim = &told
		}
		to(c)
	}
}

func without(is func(c *model.Call) bool) func(*aftermath) {
	return func(a *aftermath) {
		a.Calls = slices.DeleteFunc(slices.Clone(a.Calls), func(c model.Call) bool { return is(&c) })
	}
}

func alsoMakes(a *aftermath) {
	a.Calls = slices.Insert(slices.Clone(a.Calls), 0, model.Call{Verb: "create", Resource: "resourceclaims", Object: "default/p-extended", Claim: &model.WrittenClaim{Special: true, Pod: "default/p"}})
}

var ofExtendedClaims = []lie{
	{"extended-resource-claim", "no claim is made", without(making)},
	{"extended-resource-claim", "a second claim is made", alsoMakes},
	{"extended-resource-claim", "the claim is another pod's", change(making, func(c *model.Call) { c.Claim.Pod = "default/low" })},
	{"extended-resource-claim", "the claim is like any other", change(making, func(c *model.Call) { c.Claim.Special = false })},
	{"extended-resource-claim", "a device too few is requested", change(allocating, func(c *model.Call) {
		c.Claim.Requests, c.Claim.Devices = c.Claim.Requests[:1], c.Claim.Devices[:1]
	})},
	{"extended-resource-claim", "no device is requested by one of its requests", change(making, func(c *model.Call) {
		c.Claim.Requests = append(slices.Clone(c.Claim.Requests), model.DeviceRequest{Name: "none", Class: c.Claim.Requests[0].Class})
	})},
	{"extended-resource-claim", "a device too few is allocated", change(allocating, func(c *model.Call) { c.Claim.Devices = c.Claim.Devices[:1] })},
	{"extended-resource-claim", "a device is allocated twice", change(allocating, func(c *model.Call) { c.Claim.Devices[0].Name = c.Claim.Devices[1].Name })},
	{"extended-resource-claim", "a device of another pod is allocated", change(allocating, func(c *model.Call) { c.Claim.Devices[0].Name = "a" })},
	{"extended-resource-claim", "the claim is not reserved", change(allocating, func(c *model.Call) { c.Claim.ReservedFor = nil })},
	{"extended-resource-claim", "the pod does not name its claim", without(telling)},
	{"extended-resource-claim", "the pod names another claim", change(telling, func(c *model.Call) { c.ExtendedClaim.Name = "other" })},
	{"extended-resource-claim", "a container goes without", change(telling, func(c *model.Call) {
		c.ExtendedClaim.Mappings = slices.DeleteFunc(c.ExtendedClaim.Mappings, func(m model.RequestMapping) bool { return m.Container == "before" })
	})},
	{"extended-resource-claim", "the pod is bound before its status says so", func(a *aftermath) {
		told, bound := place(a, telling), place(a, binding)
		a.Calls = slices.Clone(a.Calls)
		a.Calls[told], a.Calls[bound] = a.Calls[bound], a.Calls[told]
	}},
	{"extended-resource-claim", "the pod is not bound", without(binding)},
	{"extended-resource-claim", "a claim is made where the node has the resource", alsoMakes},
	{"extended-resource-claim", "a claim is made for a pod that fits nowhere", alsoMakes},
}

// A claim beside a device plugin is a known finding only where it has no request, and the pod
// is not told of it.
func TestEmptyClaimIsRecognised(t *testing.T) {
	s, err := corpus.Load("../../corpus/cases/finding-claim-beside-device-plugin-fails.yaml")
	require.NoError(t, err)
	system := checktest.System(t)
	for _, tt := range []struct {
		name  string
		tell  func(a *aftermath)
		known bool
	}{
		{"as it is", func(*aftermath) {}, true},
		{"with a request", change(making, func(c *model.Call) { c.Claim.Requests = []model.DeviceRequest{{Name: "r", Class: "gpu", Count: 1}} }), false},
		{"a claim like any other", change(making, func(c *model.Call) { c.Claim.Special = false }), false},
		{"the pod is told", func(a *aftermath) {
			a.Calls = append(slices.Clone(a.Calls), model.Call{Verb: "patch", Resource: "pods/status", Object: "default/p", ExtendedClaim: &model.ExtendedClaim{Name: "x"}})
		}, false},
		{"the pod is bound", func(a *aftermath) {
			a.Calls = append(slices.Clone(a.Calls), model.Call{Verb: "bind", Resource: "pods/binding", Object: "default/p", Node: "node-1"})
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			checker := &properties.Checker{System: checktest.Liar{System: system, Tell: func(_ *model.Cluster, o *model.Observation) { tt.tell(o.Aftermath) }},
				Properties: []properties.Property{ExtendedResourceClaim}}
			r, err := checker.Check(t.Context(), s.Cases[0].Cluster)
			require.NoError(t, err)
			require.NotEmpty(t, r.Findings)
			assert.Equal(t, tt.known, len(r.Unexplained()) == 0, "%v", r.Findings)
		})
	}
}
