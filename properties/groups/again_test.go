package groups

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
)

// TestGoesElsewhere: only a group within the one that preempts, with a label of its own, can take another domain than its members are
// nominated to.
func TestGoesElsewhere(t *testing.T) {
	node := func(name, zone, rack string) *v1.Node {
		return mk.Node(name, "1", func(n *v1.Node) { n.Labels = map[string]string{"zone": zone, "rack": rack} })
	}
	c := mk.Cluster(nil, mk.WithGroups(), node("n", "z", "1"), node("m", "z", "2"), node("o", "y", "3"),
		mk.Composite("c", "", 10, false, func(c *schedulingv1alpha3.CompositePodGroup) {
			c.Spec.SchedulingConstraints = &schedulingv1alpha3.CompositePodGroupSchedulingConstraints{Topology: []schedulingv1alpha3.TopologyConstraint{{Key: "zone"}}}
		}),
		mk.Group("g", 10, mk.PartOf("c"), func(g *schedulingv1beta1.PodGroup) {
			g.Spec.SchedulingConstraints = &schedulingv1beta1.PodGroupSchedulingConstraints{Topology: []schedulingv1beta1.TopologyConstraint{{Key: "rack"}}}
		}),
		mk.Group("h", 10, mk.PartOf("c")),
		mk.Pod("g1", 10, mk.Member("g")), mk.Pod("h1", 10, mk.Member("h")))
	root, g := "compositepodgroup/default/c", model.PodGroupKey("default", "g")
	c.PreemptorGroup = root
	for _, tt := range []struct {
		name      string
		choices   []model.DomainChoice
		nominated map[string]string
		want      bool
	}{
		{"no group has chosen", nil, map[string]string{"default/g1": "n"}, false},
		{"it takes the rack of its member", []model.DomainChoice{{Group: g, Domain: "1"}}, map[string]string{"default/g1": "n"}, false},
		{"it takes another rack", []model.DomainChoice{{Group: g, Domain: "2"}}, map[string]string{"default/g1": "n"}, true},
		{"the whole takes another zone", []model.DomainChoice{{Group: root, Domain: "y"}}, map[string]string{"default/g1": "n"}, false},
		{"its member is not nominated", []model.DomainChoice{{Group: g, Domain: "2"}}, map[string]string{"default/h1": "n"}, false},
		{"its member is nominated to a node that is gone", []model.DomainChoice{{Group: g, Domain: "2"}}, map[string]string{"default/g1": "gone"}, false},
		{"only a pod of another group is elsewhere", []model.DomainChoice{{Group: g, Domain: "1"}}, map[string]string{"default/g1": "n", "default/h1": "m"}, false},
	} {
		assert.Equal(t, tt.want, goesElsewhere(c, &model.Observation{Group: &model.GroupCycle{FirstChoices: tt.choices}}, tt.nominated), tt.name)
	}
}

// TestClaimTakenBack: of the pods that mount a claim one has to stay, one to be taken back after it, and one to go elsewhere after that.
func TestClaimTakenBack(t *testing.T) {
	try := func(pod, node string) model.MemberTry { return model.MemberTry{Pod: "default/" + pod, Node: node} }
	f, d, moved := try("f", "n"), try("d", "n"), try("d", "m") // f and d mount one claim
	for _, tt := range []struct {
		name   string
		second []model.MemberTry
		claims map[string]string // that pods mount
		want   bool
	}{
		{"it is tried again elsewhere", []model.MemberTry{f, d, moved}, nil, true},
		{"so was the other one", []model.MemberTry{f, try("f", ""), d, moved}, nil, true},
		{"a third one is taken back", []model.MemberTry{f, try("e", "n"), moved}, map[string]string{"e": "shared"}, true},
		{"a pod with another claim is taken back", []model.MemberTry{f, try("e", "n"), moved}, nil, false},
		{"it stays", []model.MemberTry{f, moved}, nil, false},
		{"it was not placed", []model.MemberTry{f, try("d", ""), moved}, nil, false},
		{"it is taken back before the other one is placed", []model.MemberTry{d, f, moved}, nil, false},
		{"the other one is taken back, too", []model.MemberTry{try("f", "o"), try("d", "o"), f, moved}, nil, false},
		{"it is taken back after it has its place", []model.MemberTry{f, moved, d}, nil, false},
		{"it is where the other one is", []model.MemberTry{try("f", "m"), d, moved}, nil, false},
		{"it mounts another claim", []model.MemberTry{f, d, moved}, map[string]string{"d": "own"}, false},
		{"the other one mounts another claim", []model.MemberTry{f, d, moved}, map[string]string{"f": "own"}, false},
		{"the claim is bound", []model.MemberTry{f, d, moved}, map[string]string{"d": "bound", "f": "bound"}, false},
		{"no volume is made on demand", []model.MemberTry{f, d, moved}, map[string]string{"d": "there", "f": "there"}, false},
	} {
		mounts := map[string]string{"d": "shared", "e": "own", "f": "shared"}
		maps.Copy(mounts, tt.claims)
		c := mk.Cluster(nil, mk.WithGroups(), mk.Group("g", 10), mk.Class("later", "x", storagev1.VolumeBindingWaitForFirstConsumer),
			mk.Class("local", "kubernetes.io/no-provisioner", storagev1.VolumeBindingWaitForFirstConsumer),
			mk.Claim("shared", mk.Unbound("later")), mk.Claim("own", mk.Unbound("later")), mk.Claim("bound"), mk.Claim("there", mk.Unbound("local")))
		c.PreemptorGroup = model.PodGroupKey("default", "g")
		for _, name := range []string{"d", "e", "f"} {
			c.Pods = append(c.Pods, mk.Pod(name, 10, mk.Member("g"), mk.MountsSource("v", v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: mounts[name]}})))
		}
		cycle := &model.GroupCycle{Second: tt.second, Placed: []string{"default/f", "default/d"}, PlacedTo: []string{"n", "m"}}
		if tt.second[0].Node == "m" {
			cycle.PlacedTo[0] = "m"
		}
		assert.Equal(t, tt.want, claimTakenBack(c, cycle, c.Pods[0]), tt.name)
	}
}
