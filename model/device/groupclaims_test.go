package device_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/device"
)

// What is shared goes by the gate and by all fields of an entry, and a claim that is not told apart is not modelled.
func TestClaimsOfAGroup(t *testing.T) {
	type state struct {
		gates map[string]bool
		group *schedulingv1beta1.PodGroup
		pod   *v1.Pod
		claim *resourcev1.ResourceClaim
	}
	for _, tt := range []struct {
		name   string
		change func(s *state)
		shared bool // the claim is the group's
		gated  bool // the pod waits for its claim
		group  string
		entry  string
	}{
		{name: "made for the group", change: func(*state) {}, shared: true},
		{name: "the gate is off", change: func(s *state) { s.gates = nil }, gated: true},
		{name: "another template", change: func(s *state) { s.group.Spec.ResourceClaims[0].ResourceClaimTemplateName = new("other") }, gated: true,
			entry: "a claim of a group that has no such claim"},
		{name: "another name", change: func(s *state) {
			s.group.Spec.ResourceClaims[0].Name, s.group.Status.ResourceClaimStatuses[0].Name = "d", "d"
		}, gated: true,
			entry: "a claim of a group that has no such claim"},
		{name: "a pod of another group", change: func(s *state) { s.pod.Spec.SchedulingGroup.PodGroupName = new("other") }, gated: true,
			entry: "a claim of a group that has no such claim"},
		{name: "made for the group before", change: func(s *state) { s.claim.OwnerReferences[0].UID = "before" }, shared: true, gated: true,
			group: "a claim of a group that was not made for it"},
		{name: "made for something of another API", change: func(s *state) { s.claim.OwnerReferences[0].APIVersion = "scheduling.example.com/v1" }, shared: true, gated: true,
			group: "a claim of a group that was not made for it"},
		{name: "made for something of another kind", change: func(s *state) { s.claim.OwnerReferences[0].Kind = "CompositePodGroup" }, shared: true, gated: true,
			group: "a claim of a group that was not made for it"},
		{name: "made for nobody", change: func(s *state) { s.claim.OwnerReferences = nil }, shared: true, gated: true,
			group: "a claim of a group that was not made for it"},
		{name: "the status of the group is not written", change: func(s *state) { s.group.Status.ResourceClaimStatuses = nil }, shared: true,
			group: "a claim of a group that is missing", entry: "a claim of the group of which pod and group tell otherwise"},
		{name: "it has devices", change: func(s *state) { s.claim.Status.Allocation = &resourcev1.AllocationResult{} }, shared: true,
			group: "a claim of a group that has devices or users already"},
		{name: "by its name", change: func(s *state) {
			s.pod.Spec.ResourceClaims[0].ResourceClaimName, s.pod.Spec.ResourceClaims[0].ResourceClaimTemplateName = new("made"), nil
			s.group.Spec.ResourceClaims[0].ResourceClaimName, s.group.Spec.ResourceClaims[0].ResourceClaimTemplateName = new("made"), nil
			s.claim.OwnerReferences = nil
		}, shared: true},
		{name: "a pod's own", change: func(s *state) {
			s.group.Spec.ResourceClaims = nil
			s.claim.OwnerReferences[0] = metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "default/p", Controller: new(true)}
		}},
		{name: "a pod's own that is reserved for a group", change: func(s *state) {
			s.group.Spec.ResourceClaims = nil
			s.claim.OwnerReferences[0] = metav1.OwnerReference{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "default/p", Controller: new(true)}
			s.claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{APIGroup: "scheduling.k8s.io", Resource: "podgroups", Name: "g", UID: "1"}}
		}, entry: "a claim of a group that has no such claim"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &state{gates: map[string]bool{device.GateGroupClaims: true}, group: mk.Group("g", 1), pod: mk.Pod("p", 1, mk.Member("g")), claim: &resourcev1.ResourceClaim{}}
			s.group.UID = "1"
			s.group.Spec.ResourceClaims = []schedulingv1beta1.PodGroupResourceClaim{{Name: "c", ResourceClaimTemplateName: new("template")}}
			s.group.Status.ResourceClaimStatuses = []schedulingv1beta1.PodGroupResourceClaimStatus{{Name: "c", ResourceClaimName: new("made")}}
			s.pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimTemplateName: new("template")}}
			s.pod.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "c", ResourceClaimName: new("made")}}
			s.claim.Namespace, s.claim.Name = "default", "made"
			s.claim.OwnerReferences = []metav1.OwnerReference{{APIVersion: "scheduling.k8s.io/v1beta1", Kind: "PodGroup", Name: "g", UID: "1", Controller: new(true)}}
			tt.change(s)
			objects := []runtime.Object{s.group, s.claim}
			entry := &s.pod.Spec.ResourceClaims[0]
			require.Equal(t, tt.shared, device.GroupOf(objects, s.gates, s.pod, entry) != nil, "shared")
			require.Equal(t, tt.gated, device.Gated(objects, s.gates, s.pod), "gated")
			require.Equal(t, tt.group, device.UnmodelledGroup(objects, s.group))
			require.Equal(t, tt.entry, device.UnmodelledEntry(objects, s.gates, s.pod, entry))
		})
	}
}

// The group, its entry and its claim are found behind others.
func TestClaimsOfAGroupBehindOthers(t *testing.T) {
	gates := map[string]bool{device.GateGroupClaims: true}
	owned := func(namespace, name string) *resourcev1.ResourceClaim {
		c := &resourcev1.ResourceClaim{}
		c.Namespace, c.Name = namespace, name
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "scheduling.k8s.io/v1beta1", Kind: "PodGroup", Name: "g", UID: "1", Controller: new(true)}}
		return c
	}
	for _, tt := range []struct {
		name   string
		change func(g *schedulingv1beta1.PodGroup, p *v1.Pod, claim, second *resourcev1.ResourceClaim)
		group  string
	}{
		{"made from templates", func(*schedulingv1beta1.PodGroup, *v1.Pod, *resourcev1.ResourceClaim, *resourcev1.ResourceClaim) {}, ""},
		{"a group that goes by its name", func(g *schedulingv1beta1.PodGroup, _ *v1.Pod, _, _ *resourcev1.ResourceClaim) { g.UID = "" }, ""},
		{"by its name, and a status says otherwise", func(g *schedulingv1beta1.PodGroup, p *v1.Pod, _, _ *resourcev1.ResourceClaim) {
			p.Spec.ResourceClaims[0].ResourceClaimName, p.Spec.ResourceClaims[0].ResourceClaimTemplateName = new("made"), nil
			g.Spec.ResourceClaims[1].ResourceClaimName, g.Spec.ResourceClaims[1].ResourceClaimTemplateName = new("made"), nil
			g.Status.ResourceClaimStatuses[1].ResourceClaimName = new("gone")
		}, ""},
		{"one user", func(_ *schedulingv1beta1.PodGroup, _ *v1.Pod, claim, _ *resourcev1.ResourceClaim) {
			claim.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "q", UID: "q"}}
		}, "a claim of a group that has devices or users already"},
		{"it is being deleted", func(_ *schedulingv1beta1.PodGroup, _ *v1.Pod, _, second *resourcev1.ResourceClaim) {
			second.DeletionTimestamp = &metav1.Time{}
		}, "a claim of a group that is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other, g, p := mk.Group("other", 1), mk.Group("g", 1), mk.Pod("p", 1, mk.Member("g"))
			g.UID = "1"
			for _, name := range []string{"d", "c"} {
				g.Spec.ResourceClaims = append(g.Spec.ResourceClaims, schedulingv1beta1.PodGroupResourceClaim{Name: name, ResourceClaimTemplateName: new("template")})
			}
			g.Status.ResourceClaimStatuses = []schedulingv1beta1.PodGroupResourceClaimStatus{{Name: "d", ResourceClaimName: new("second")}, {Name: "c", ResourceClaimName: new("made")}}
			p.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "c", ResourceClaimTemplateName: new("template")}}
			p.Status.ResourceClaimStatuses = []v1.PodResourceClaimStatus{{Name: "c", ResourceClaimName: new("made")}}
			far, claim, second := owned("far", "made"), owned("default", "made"), owned("default", "second")
			far.Status.Allocation = &resourcev1.AllocationResult{}
			tt.change(g, p, claim, second)
			objects := []runtime.Object{other, g, far, second, claim}
			require.Equal(t, g, device.GroupOf(objects, gates, p, &p.Spec.ResourceClaims[0]))
			require.False(t, device.Gated(objects, gates, p))
			require.Equal(t, tt.group, device.UnmodelledGroup(objects, g))
			require.Empty(t, device.UnmodelledEntry(objects, gates, p, &p.Spec.ResourceClaims[0]))
		})
	}
}
