package all_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/groups"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

// beyond are the ways in which a cluster is not modelled, each with a cluster in which
// low is preempted on node-1.
var beyond = []struct {
	name    string
	cluster func() *model.Cluster
	// believed: the model covers all but one plugin, whose word is taken. chance: the
	// scheduler looks at some of the nodes only, and the model covers what follows from that.
	believed, chance bool
}{
	{name: "devices", believed: true, cluster: claimsSelected},
	{name: "extended resources", believed: true, cluster: func() *model.Cluster {
		c := checktest.Cluster()
		c.Preemptor.Spec.Containers[0].Resources.Requests["example.com/gpu"] = resource.MustParse("1")
		class, slice := classAndSlice()
		class.Spec.ExtendedResourceName = new("example.com/gpu")
		class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver.startsWith("gpu")`}}}
		c.Extra = append(c.Extra, class, slice)
		return c
	}},
	{name: "a feature gate", cluster: func() *model.Cluster {
		c := checktest.Cluster()
		c.Settings.FeatureGates = map[string]bool{"DRAListTypeAttributes": true}
		return c
	}},
	{name: "an extender of many nodes", believed: true, chance: true, cluster: func() *model.Cluster {
		c := checktest.Cluster()
		filter := &model.ExtenderFilter{}
		for len(c.Nodes) < 110 {
			n := mk.Node("n"+string(rune('a'+len(c.Nodes)/26))+string(rune('a'+len(c.Nodes)%26)), "2")
			c.Nodes, filter.Rejects = append(c.Nodes, n), append(filter.Rejects, n.Name)
		}
		c.Settings.Extenders = []model.Extender{{Name: "e", Filter: filter}}
		return c
	}},
}

// classAndSlice are two devices that both nodes of checktest.Cluster can use.
func classAndSlice() (*resourcev1.DeviceClass, *resourcev1.ResourceSlice) {
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice"}}
	slice.Spec = resourcev1.ResourceSliceSpec{Driver: "gpu.example.com", AllNodes: new(true), Pool: resourcev1.ResourcePool{Name: "pool", Generation: 1, ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: "a"}, {Name: "b"}}}
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpus"}}, slice
}

// claimsSelected gives the preemptor a claim for a device that an expression selects.
func claimsSelected() *model.Cluster {
	c := checktest.Cluster()
	class, slice := classAndSlice()
	own := "own"
	c.Preemptor.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "a", ResourceClaimName: &own}}
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: own, Namespace: "default", UID: "claim/own"}}
	claim.Spec.Devices.Requests = []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: class.Name,
		AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver.startsWith("gpu")`}}}}}}
	c.Extra = append(c.Extra, class, slice, claim)
	return c
}

// What is not modelled is asked all that needs no model of it.
func TestNotModelledIsAskedTheRest(t *testing.T) {
	for _, b := range beyond {
		t.Run(b.name, func(t *testing.T) {
			var asked []string
			checker := all.Checker(checktest.System(t))
			for i, p := range checker.Properties {
				checker.Properties[i].Applies = func(s *properties.Subject) bool {
					asked = append(asked, p.Name)
					return p.Applies == nil || p.Applies(s)
				}
			}
			r, err := checker.Check(t.Context(), b.cluster())
			require.NoError(t, err)
			require.Equal(t, b.chance, r.Unmodelled == nil)
			require.Empty(t, r.Unexplained())
			require.Equal(t, "node-1", r.Observation.Pick.Node)
			assert.Equal(t, b.believed, r.Decision != nil)
			var want []string
			for _, p := range all.Properties() {
				if p.Of != properties.OfGroups && (p.Needs != properties.NeedsModel || b.believed) && (p.Needs != properties.NeedsRepetition || !b.chance) {
					want = append(want, p.Name)
				}
			}
			assert.Equal(t, want, asked)
		})
	}
}

// Those that need no model of a cluster never look at it: TestNotModelledIsAskedTheRest
// would panic.
func TestNeeds(t *testing.T) {
	var model, repetition []string
	for _, p := range all.Properties() {
		switch p.Needs {
		case properties.NeedsModel:
			model = append(model, p.Name)
		case properties.NeedsRepetition:
			repetition = append(repetition, p.Name)
		}
	}
	assert.Equal(t, []string{"no-free-node", "waits-for-its-victims", "minimal-victims", "no-swap", "no-internal-error", "reasons-are-told", "group-enough-or-none", "group-members-are-told", "group-is-told", "preemptor-fits", "judges-agree"}, model)
	want := []string{groups.PlacedFit.Name, groups.NoWorseThanItsPod.Name, invariant.OrderDoesNotMatter.Name}
	for _, p := range append(relation.All(), relation.Circumstances()...) {
		want = append(want, p.Name)
	}
	assert.Equal(t, want, repetition)
}

// A scheduler that lies about a cluster that is not modelled is found out.
func TestLiesAboutWhatIsNotModelled(t *testing.T) {
	clears := func(_ *model.Cluster, o *model.Observation) { o.Actuation.Cleared = nil }
	lies := []struct {
		name, property string
		liar           checktest.Liar
		believed       bool // it takes the model
		repeats        bool // it takes another answer
	}{
		{name: "a victim of higher priority", property: "lower-priority-only", liar: checktest.Liar{Tell: checktest.Victims("default/high", "default/low")}},
		{name: "a victim on another node", property: "victims-on-their-node", liar: checktest.Liar{Tell: checktest.Victims("default/other", "default/low")}},
		{name: "a violation too many", property: "violations-recounted", liar: checktest.Liar{Tell: func(_ *model.Cluster, o *model.Observation) {
			o.DryRuns["node-2"] = model.DryRun{Victims: []string{"default/other"}, Violations: 2}
		}}},
		{name: "a nomination is kept", property: "lower-nominations-cleared", liar: checktest.Liar{Tell: clears}},
		{name: "no event for a victim", property: "victims-are-told", liar: checktest.Liar{Tell: func(_ *model.Cluster, o *model.Observation) { o.Aftermath.Events = nil }}},
		{name: "it panics", property: "gets-through", liar: checktest.Liar{Tell: func(_ *model.Cluster, o *model.Observation) {
			o.Crash = &model.Crash{Kind: model.Panic, Message: "oops", Where: "here", Stack: "goroutine 1"}
		}}},
		{name: "nodes are counted", property: "adding-a-useless-node", repeats: true, liar: checktest.Liar{Tell: func(c *model.Cluster, o *model.Observation) {
			if len(c.Nodes) > 2 {
				checktest.Victims("default/mid", "default/low")(c, o)
			}
		}}},
		{name: "one victim too many", property: properties.Differential, believed: true, liar: checktest.Liar{Tell: checktest.Victims("default/mid", "default/low")}},
		{name: "one victim too many", property: "minimal-victims", believed: true, liar: checktest.Liar{Tell: checktest.Victims("default/mid", "default/low")}},
	}
	for _, b := range beyond {
		for _, lie := range lies {
			if lie.believed && !b.believed || lie.repeats && b.chance {
				continue
			}
			t.Run(b.name+"/"+lie.name+"/"+lie.property, func(t *testing.T) {
				lie.liar.System = checktest.System(t)
				checker := all.Checker(lie.liar)
				checker.Properties = slices.DeleteFunc(checker.Properties, func(p properties.Property) bool { return p.Name != lie.property })
				r, err := checker.Check(t.Context(), b.cluster())
				require.NoError(t, err)
				assert.True(t, slices.ContainsFunc(r.Unexplained(), func(f properties.Finding) bool { return f.Property == lie.property }), "%v", r.Findings)
			})
		}
	}
}
