package groups

import (
	"testing"

	"github.com/stretchr/testify/assert"
	v1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

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
