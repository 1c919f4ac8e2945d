package podgroups

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// sharers is a group with claim shared, of which a and b are; a has claim own besides, behind an entry for which no claim was made.
func sharers(t *testing.T, rules *answers.Rules) *Set {
	settings := mk.WithGroups()
	settings.FeatureGates[device.GateGroupClaims] = true
	c := mk.Cluster(nil, settings, mk.Node("n", "4"), mk.Group("g", 1))
	c.PreemptorGroup = "podgroup/default/g"
	shared, own := v1.PodResourceClaim{Name: "shared", ResourceClaimName: new("shared")}, v1.PodResourceClaim{Name: "own", ResourceClaimName: new("own")}
	group := c.Group(c.PreemptorGroup).(*schedulingv1beta1.PodGroup)
	group.Spec.ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{{Name: shared.Name, ResourceClaimName: shared.ResourceClaimName}}
	class := &resourcev1.DeviceClass{}
	class.Name = "any"
	c.Extra = append(c.Extra, class)
	for _, name := range []string{"shared", "own"} {
		claim := &resourcev1.ResourceClaim{}
		claim.Namespace, claim.Name = "default", name
		c.Extra = append(c.Extra, claim)
	}
	a, b := mk.Pod("a", 1, mk.Member("g")), mk.Pod("b", 1, mk.Member("g"))
	a.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "none", ResourceClaimTemplateName: new("template")}, shared, own}
	a.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "none"}}
	b.Spec.ResourceClaims = []v1.PodResourceClaim{shared}
	c.Pods = append(c.Pods, a, b)
	s, err := Decide(c, rules)
	require.NoError(t, err)
	return s
}

// TestUsersOfAGroupsClaim: the claim of a group is reserved for the group and for no pod, and that of a pod for the pod.
func TestUsersOfAGroupsClaim(t *testing.T) {
	const group = "podgroup/default/g"
	write := func(claim string, users ...string) model.Call {
		return model.Call{Verb: "update", Resource: "resourceclaims/status", Object: "default/" + claim, Claim: &model.WrittenClaim{
			Devices: []model.Device{{Request: "r", Driver: "d", Pool: "n", Name: claim}}, ReservedFor: users}}
	}
	for _, tt := range []struct {
		name  string
		calls []model.Call
		// want is what is wrong by the documents, shifted by the known finding.
		want, shifted string
	}{
		{"as it should", []model.Call{write("shared", group), write("own", "default/a"), write("shared", group)}, "", "not reserved"},
		{"for a pod", []model.Call{write("shared", "default/b"), write("own", "default/a")}, "not reserved", "not reserved"},
		{"for a pod, too", []model.Call{write("shared", group), write("own", "default/a"), write("shared", "default/b")}, "for default/b", "not reserved"},
		{"a pod's claim for the group", []model.Call{write("shared", group), write("own", group)}, "not reserved", "not reserved"},
		{"a pod's claim for the group, too", []model.Call{write("shared", group), write("own", "default/a", group)}, "for " + group, "not reserved"},
		{"shifted behind an entry without a claim", []model.Call{write("shared", "default/a"), write("own", group), write("shared", group)}, "not reserved", ""},
	} {
		for want, rules := range map[*string]*answers.Rules{&tt.want: release.Linked.Rules(), &tt.shifted: release.With(release.Linked.Rules(), release.SkippedEntryShiftsClaims)} {
			s := sharers(t, rules)
			first := podgroup.Course{}
			for _, m := range s.Members {
				devices := map[string]*resourcev1.AllocationResult{"default/shared": allocated("shared")}
				if m.Name == "a" {
					devices["default/own"] = allocated("own")
				}
				first.First = append(first.First, podgroup.Placement{Pod: m, Node: "n", Devices: devices})
			}
			dis := s.admitsAllocations(&model.Observation{Actuation: &model.Actuation{}, Aftermath: &model.Aftermath{Calls: tt.calls}}, end{binds: true, Course: first})
			if *want == "" {
				assert.Nil(t, dis, tt.name)
			} else if assert.NotNil(t, dis, tt.name) {
				assert.Contains(t, dis.Got, *want, tt.name)
			}
		}
	}
}
