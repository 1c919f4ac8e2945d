package aftermath

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/properties"
)

// ExtendedResourceClaim: a pod that gets extended resources from devices gets one claim for
// them before it is bound, and the kubelet finds in the pod's status which devices are for
// which container. A pod that gets none has no such claim.
var ExtendedResourceClaim = properties.Property{
	Name: "extended-resource-claim",
	Promise: "It is created in a namespace when there is a pod with extended resource request, and the extended resource is advertised by ResourceSlice and scheduler has fit the pod to a node with the ResourceSlice. " +
		"At most one such claim object is created per pod. Its status.allocation.devices and status.allocation.reservedFor are used. After that, Pod.Status.ExtendedResourceClaimStatus is updated.",
	Source: "KEP-5004, \"Resource Claim API\" and \"Failure handling\"; the status \"has the mapping of container name and extended resource name to request\", by which the kubelet passes devices to containers: \"Actuation for Extended Resource backed by DRA\"; " +
		"a request's count \"Must be greater than zero\": resource/v1 ExactDeviceRequest.count (resource/v1/types.go:1390@v0.37.1)",
	Lies: []string{"no claim is made", "a second claim is made", "the claim is another pod's", "the claim is like any other", "a device too few is requested", "no device is requested by one of its requests", "a device too few is allocated",
		"a device is allocated twice", "a device of another pod is allocated", "the claim is not reserved", "the pod does not name its claim", "the pod names another claim", "a container goes without",
		"the pod is bound before its status says so", "the pod is not bound", "a claim is made where the node has the resource", "a claim is made for a pod that fits nowhere"},
	Applies: func(s *properties.Subject) bool {
		// Where a volume is still to be bound, the pod waits for others.
		waiting := s.Observation.Aftermath != nil && s.Observation.ScheduledTo != "" && mayWait(s)
		return len(s.Unmodelled) == 0 && s.Observation.Aftermath != nil && !waiting && !s.Extended() && device.Backs(s.Cluster.Extra, s.Cluster.Preemptor)
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		m := &madeClaim{s: s, p: s.Cluster.Preemptor}
		for _, c := range s.Observation.Aftermath.Calls {
			if c.Failed == "" {
				m.calls = append(m.calls, c)
			}
		}
		if to := s.Observation.ScheduledTo; to != "" {
			at := slices.IndexFunc(s.Cluster.Nodes, func(n *v1.Node) bool { return n.Name == to })
			m.asks, m.devices = device.FromDevices(s.Cluster.Extra, m.p, s.Cluster.Nodes[at])
			if m.empty() && s.Assumes("claim-beside-device-plugin-fails") {
				return nil, nil
			}
			m.bound(to)
		}
		m.claim()
		return m.findings, nil
	},
}

// OneExtendedResourceClaim: a pod for which an earlier cycle has made a claim gets no second
// one beside it. Whether it is bound with that claim, or waits for the claim to be deleted, is open.
var OneExtendedResourceClaim = properties.Property{
	Name: "one-extended-resource-claim",
	Promise: "At most one such claim object is created per pod. During Prefilter phase, if the special resource claim has already been created before, it is validated, and reused if still valid. " +
		"If not valid, … the invalid resourceclaim may be picked during PostFilter phase for deletion. If not found, then a new in-memory resource claim template is created …",
	Source: "KEP-5004, \"Resource Claim API\" and \"Failure handling\"",
	Lies:   []string{"a second claim is made beside that of an earlier cycle"},
	Applies: func(s *properties.Subject) bool {
		p := s.Cluster.Preemptor
		return p != nil && s.Observation.Aftermath != nil && !s.Extended() && earlierClaim(s) != ""
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		var found findings
		for _, c := range s.Observation.Aftermath.Calls {
			if c.Failed == "" && c.Claim != nil && c.Verb == "create" && c.Claim.Special {
				found.add(c.Object, fmt.Sprintf("the pod has claim %s for its extended resources, and another one is made", earlierClaim(s)))
			}
		}
		return found, nil
	},
}

// earlierClaim is the claim of an earlier cycle for the pod, whose name it gives as that of its owner, too; "" if there is none.
func earlierClaim(s *properties.Subject) string {
	p := s.Cluster.Preemptor
	for _, claim := range device.SpecialOf(p, s.Cluster.Extra) {
		if metav1.GetControllerOfNoCopy(claim).Name == p.Name {
			return model.Key(claim)
		}
	}
	return ""
}

// madeClaim is what is made for the extended resources of a pod.
type madeClaim struct {
	findings
	s       *properties.Subject
	p       *v1.Pod
	calls   []model.Call
	asks    []device.Ask     // of its containers
	devices map[string]int64 // that it takes, by class
}

// empty: the pod has claims of its own, the node has all resources itself, and a claim without
// any request is made for these, of which the pod's status does not tell.
func (m *madeClaim) empty() bool {
	made := slices.IndexFunc(m.calls, func(c model.Call) bool { return c.Verb == "create" && c.Resource == "resourceclaims" })
	return len(m.asks) == 0 && len(m.p.Spec.ResourceClaims) > 0 && made >= 0 && m.calls[made].Claim.Special && len(m.calls[made].Claim.Requests) == 0 &&
		!slices.ContainsFunc(m.calls, func(c model.Call) bool { return c.ExtendedClaim != nil || c.Verb == "bind" })
}

// where is the place among the calls of the only one of a kind, -1 if there is none.
func (m *madeClaim) where(what string, is func(c *model.Call) bool) int {
	at := -1
	for i := range m.calls {
		if !is(&m.calls[i]) {
			continue
		}
		if at >= 0 {
			m.add(what, what+": twice")
		}
		at = i
	}
	return at
}

// waits tells whether the pod has devices that have to be made ready before it is bound, or gets some, which nobody does here. Where one
// is ready, all claims of the pod are looked at again, and what is written to the others is not stored.
func (m *madeClaim) waits() bool {
	conditional := device.Conditional(m.s.Cluster.Extra)
	has := slices.ContainsFunc(m.s.Cluster.Extra, func(o runtime.Object) bool {
		claim, ok := o.(*resourcev1.ResourceClaim)
		return ok && slices.Contains(device.Named(m.p), filter.Key(claim)) && len(device.Conditional([]runtime.Object{claim})) > 0
	})
	return has || slices.ContainsFunc(m.calls, func(c model.Call) bool {
		return c.Claim != nil && slices.ContainsFunc(c.Claim.Devices, func(d model.Device) bool { return conditional[d.Driver+"/"+d.Pool+"/"+d.Name] })
	})
}

// bound: the pod is bound to its node, after everything else.
func (m *madeClaim) bound(to string) {
	key := model.Key(m.p)
	if m.waits() && !slices.ContainsFunc(m.calls, func(c model.Call) bool { return c.Verb == "bind" }) {
		return
	}
	if at := m.where("the pod is bound", func(c *model.Call) bool { return c.Verb == "bind" }); at < 0 || at < len(m.calls)-1 || m.calls[at].Object != key || m.calls[at].Node != to {
		m.add(key, fmt.Sprintf("the pod fits on %s, and is not bound to it in the end: %v", to, m.calls))
	}
}

// claim: the claim is made, allocated and reserved, and the pod's status tells of it, in turn.
func (m *madeClaim) claim() {
	key := model.Key(m.p)
	made := m.where("a claim is made", func(c *model.Call) bool { return c.Verb == "create" && c.Resource == "resourceclaims" })
	told := m.where("the pod's status is written", func(c *model.Call) bool { return c.ExtendedClaim != nil })
	if len(m.asks) == 0 {
		if made >= 0 || told >= 0 {
			m.add(key, fmt.Sprintf("the pod gets no devices for extended resources, and a claim is made for it: %v", m.calls))
		}
		return
	}
	if made < 0 || told < made || m.calls[told].Object != key {
		m.add(key, fmt.Sprintf("the pod gets devices for %v, and no claim is made before its status tells of it: %v", m.asks, m.calls))
		return
	}
	name := m.calls[made].Object
	if is := m.calls[made].Claim; !is.Special || is.Pod != string(filter.PodUID(m.p)) {
		m.add(name, fmt.Sprintf("the claim is made for pod %q, and marked as one for extended resources: %v", is.Pod, is.Special))
	}
	for _, r := range m.calls[made].Claim.Requests {
		if r.Count < 1 {
			m.add(name+" "+r.Name, fmt.Sprintf("the claim is made with a request for %d devices, which stands for one when it is stored", r.Count))
		}
	}
	written := m.where("the claim's status is written", func(c *model.Call) bool { return c.Object == name && c.Resource == "resourceclaims/status" })
	if written < made || told < written {
		m.add(name, fmt.Sprintf("the claim is not allocated between being made and the pod's status: %v", m.calls))
		return
	}
	m.suffices(name, m.calls[written].Claim)
	m.tells(name, m.calls[made].Claim.Requests, m.calls[told].ExtendedClaim)
}

// suffices: the claim requests what the pod asks for, has that in devices that are free, and
// is the pod's.
func (m *madeClaim) suffices(name string, claim *model.WrittenClaim) {
	requested := map[string]int64{}
	for _, r := range claim.Requests {
		requested[r.Class] += r.Count
		if got := len(slices.DeleteFunc(slices.Clone(claim.Devices), func(d model.Device) bool { return d.Request != r.Name })); int64(got) != r.Count {
			m.add(name+" "+r.Name, fmt.Sprintf("%d devices are requested, and %d allocated", r.Count, got))
		}
	}
	if !maps.Equal(requested, m.devices) {
		m.add(name, fmt.Sprintf("the pod asks for %v devices, and the claim requests %v", m.devices, requested))
	}
	free := m.free()
	for _, d := range claim.Devices {
		d.Request = ""
		times, exists := free[d]
		if !exists || times == 0 {
			m.add(name, fmt.Sprintf("the claim gets device %s/%s/%s, which there is not, or which is not free", d.Driver, d.Pool, d.Name))
		}
		free[d] = times - 1
	}
	if !slices.Contains(claim.ReservedFor, string(filter.PodUID(m.p))) {
		m.add(name, fmt.Sprintf("the claim is reserved for %v, and not for the pod", claim.ReservedFor))
	}
}

// free says of each device for how many requests it is free, below 0 if there is no limit.
func (m *madeClaim) free() map[model.Device]int {
	free := map[model.Device]int{}
	for _, o := range m.s.Cluster.Extra {
		slice, ok := o.(*resourcev1.ResourceSlice)
		if !ok {
			continue
		}
		for i := range slice.Spec.Devices {
			d := &slice.Spec.Devices[i]
			count := 1
			if d.AllowMultipleAllocations != nil && *d.AllowMultipleAllocations {
				count = -1
			}
			free[model.Device{Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name, Name: d.Name}] = count
		}
	}
	for _, o := range m.s.Cluster.Extra {
		claim, ok := o.(*resourcev1.ResourceClaim)
		if !ok || claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.ShareID == nil && (r.AdminAccess == nil || !*r.AdminAccess) {
				free[model.Device{Driver: r.Driver, Pool: r.Pool, Name: r.Device}] = 0
			}
		}
	}
	return free
}

// tells: by the pod's status each container finds as many devices in the claim as it asks for.
func (m *madeClaim) tells(name string, requests []model.DeviceRequest, is *model.ExtendedClaim) {
	if m.p.Namespace+"/"+is.Name != name {
		m.add(name, fmt.Sprintf("the pod's status names claim %s", is.Name))
	}
	for _, ask := range m.asks {
		found := int64(0)
		for _, r := range requests {
			if r.Class == ask.Class && slices.Contains(is.Mappings, model.RequestMapping{Container: ask.Container, Resource: ask.Resource, Request: r.Name}) {
				found += r.Count
			}
		}
		if found < ask.Count {
			m.add(name+" "+ask.Container, fmt.Sprintf("container %s asks for %d of %s, and finds %d devices by the pod's status: %v", ask.Container, ask.Count, ask.Resource, found, is.Mappings))
		}
	}
}
