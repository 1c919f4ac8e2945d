package podgroups

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// claimants is a group of a, which claims what has no devices yet, and b, which has some.
func claimants(t *testing.T) *Set {
	c := mk.Cluster(nil, mk.WithGroups(), mk.Node("n", "4"), mk.Group("g", 1))
	c.PreemptorGroup = "podgroup/default/g"
	class := &resourcev1.DeviceClass{}
	class.Name = "any"
	c.Extra = append(c.Extra, class)
	for _, name := range []string{"a", "b"} {
		p := mk.Pod(name, 1, mk.Member("g"))
		p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimName: &name}}
		claim := &resourcev1.ResourceClaim{}
		claim.Namespace, claim.Name = "default", name
		if name == "b" {
			claim.Status.Allocation = allocated("2")
			claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "b", UID: "default/b"}}
		}
		c.Pods, c.Extra = append(c.Pods, p), append(c.Extra, claim)
	}
	s, err := Decide(c, release.Linked.Rules())
	require.NoError(t, err)
	return s
}

func allocated(device string) *resourcev1.AllocationResult {
	return &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
		Results: []resourcev1.DeviceRequestAllocationResult{{Request: "r", Driver: "d", Pool: "n", Device: device}}}}
}

// TestAllocationsThatAreWritten: what a got has to be written to its claim, for a, and nothing else.
func TestAllocationsThatAreWritten(t *testing.T) {
	s := claimants(t)
	first := podgroup.Course{First: []podgroup.Placement{
		{Pod: s.Members[0], Node: "n", Devices: map[string]*resourcev1.AllocationResult{"default/a": allocated("1")}}, {Pod: s.Members[1], Node: "n"}}}
	write := func(claim, device, user string) model.Call {
		return model.Call{Verb: "update", Resource: "resourceclaims/status", Object: claim, Claim: &model.WrittenClaim{
			Devices: []model.Device{{Request: "r", Driver: "d", Pool: "n", Name: device}}, ReservedFor: []string{user}}}
	}
	failed := write("default/a", "1", "default/a")
	failed.Failed = "conflict"
	unreserved := func(claim string) model.Call {
		return model.Call{Verb: "patch", Resource: "resourceclaims/status", Object: claim, Unreserved: claim}
	}
	for _, tt := range []struct {
		name  string
		binds bool
		calls []model.Call
		want  string
	}{
		{"as it should", true, []model.Call{{Verb: "update", Resource: "resourceclaims", Object: "default/a"}, write("default/a", "1", "default/a")}, ""},
		{"another device", true, []model.Call{write("default/a", "2", "default/a")}, "d/n/2"},
		{"for another pod", true, []model.Call{write("default/a", "1", "default/b")}, "not reserved"},
		{"a claim of nobody", true, []model.Call{write("default/a", "1", "default/a"), write("default/x", "1", "default/x")}, "default/x"},
		{"not at all", true, nil, "not reserved"},
		{"the call failed", true, []model.Call{failed}, "not reserved"},
		{"b, which is bound, uses its claim no more", true, []model.Call{write("default/a", "1", "default/a"), unreserved("default/b")}, "not reserved"},
		{"b does again", true, []model.Call{write("default/a", "1", "default/a"), unreserved("default/b"), write("default/b", "2", "default/b")}, ""},
		{"a does no more", true, []model.Call{write("default/a", "1", "default/a"), unreserved("default/a")}, "default/a"},
		{"nobody is bound, and nothing is written", false, nil, ""},
		{"nobody is bound", false, []model.Call{write("default/a", "1", "default/a")}, "default/a"},
		{"nobody is bound, and b uses its claim no more", false, []model.Call{unreserved("default/b")}, ""},
		{"nobody is bound, and a does, which did not", false, []model.Call{unreserved("default/a")}, "default/a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dis := s.admitsAllocations(&model.Observation{Actuation: &model.Actuation{}, Aftermath: &model.Aftermath{Calls: tt.calls}}, end{binds: tt.binds, Course: first})
			if tt.want == "" {
				assert.Nil(t, dis)
			} else if assert.NotNil(t, dis) {
				assert.Contains(t, dis.Got, tt.want)
			}
		})
	}
}

// TestDeallocations: of the claims in the way of a member that fits nowhere one loses its devices.
func TestDeallocations(t *testing.T) {
	s := claimants(t)
	inTheWay := func(placed bool, claims ...string) idle { return idle{claims: claims, placed: placed} }
	for _, tt := range []struct {
		name    string
		members []idle
		got     []string
		want    bool
	}{
		{"none is in the way", []idle{inTheWay(false)}, nil, true},
		{"none is in the way, and one is lost", []idle{inTheWay(false)}, []string{"default/b"}, false},
		{"one is", []idle{inTheWay(false, "default/b")}, []string{"default/b"}, true},
		{"one is, for two, and is lost twice", []idle{inTheWay(false, "default/b"), inTheWay(false, "default/b")}, []string{"default/b", "default/b"}, true},
		{"one is, and is kept", []idle{inTheWay(false, "default/b")}, nil, false},
		{"one is, of a member that fits, and is kept", []idle{inTheWay(true, "default/b")}, nil, true},
		{"one is, of a member that fits", []idle{inTheWay(true, "default/b")}, []string{"default/b"}, true},
		{"one that has no devices loses them", nil, []string{"default/a"}, true},
	} {
		assert.Equal(t, tt.want, s.admitsDeallocations(tt.members, tt.got) == nil, tt.name)
	}
}
