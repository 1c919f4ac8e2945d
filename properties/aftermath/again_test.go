package aftermath

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Generated pods fail again with the condition that they have, and are not patched.
func TestSaidIsNotWritten(t *testing.T) {
	checker := &properties.Checker{System: checktest.System(t), Properties: []properties.Property{SaidIsNotWritten}}
	said, dispatched := 0, 0
	for seed := range uint64(testsize.Times(1000)) {
		c := generators.FromSeed(seed)
		if seed%2 == 0 && c.Settings.FeatureGates == nil {
			c.Settings.FeatureGates = map[string]bool{"SchedulerAsyncAPICalls": true}
		}
		r, err := checker.Check(t.Context(), c)
		require.NoError(t, err)
		for _, f := range r.Unexplained() {
			if f.Property == SaidIsNotWritten.Name {
				t.Errorf("seed %d: %v", seed, f)
			}
		}
		if r.Reached[properties.SaidAlready] {
			said++
			if c.Settings.FeatureGates["SchedulerAsyncAPICalls"] {
				dispatched++
			}
		}
	}
	assert.GreaterOrEqual(t, said, testsize.Times(600))
	assert.GreaterOrEqual(t, dispatched, testsize.Times(200), "with API calls through the dispatcher")
}

// A scheduler that writes what is there already is caught.
func TestSaidIsNotWrittenCatchesLies(t *testing.T) {
	patch := func(o *model.Observation, c model.Call) {
		c.Verb, c.Resource, c.Object = "patch", "pods/status", "default/p"
		o.Aftermath.Calls = append(o.Aftermath.Calls, c)
	}
	lies := map[string]func(c *model.Cluster, o *model.Observation){
		"the same condition is written again": func(c *model.Cluster, o *model.Observation) {
			was := c.Preemptor.Status.Conditions[0]
			patch(o, model.Call{Conditions: []model.Condition{{Type: string(was.Type), Message: was.Message}}})
		},
		"the same nomination is written again": func(c *model.Cluster, o *model.Observation) {
			patch(o, model.Call{NominatedNode: &c.Preemptor.Status.NominatedNodeName})
		},
		"a patch changes nothing": func(_ *model.Cluster, o *model.Observation) { patch(o, model.Call{}) },
	}
	var caught []string
	for _, name := range SaidIsNotWritten.Lies {
		tell := lies[name]
		for _, priority := range []int32{10, 0} { // it preempts, and it may not
			c := cluster()
			c.Preemptor.Spec.Priority = &priority
			check := func(system reference.System) []properties.Finding {
				r, err := (&properties.Checker{System: system, Properties: []properties.Property{SaidIsNotWritten}}).Check(t.Context(), c)
				require.NoError(t, err)
				require.True(t, r.Reached[properties.SaidAlready])
				return r.Unexplained()
			}
			require.Empty(t, check(checktest.System(t)), "the truth")
			found := check(checktest.Liar{System: checktest.System(t), Tell: func(c *model.Cluster, o *model.Observation) {
				if slices.ContainsFunc(c.Preemptor.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodScheduled }) {
					tell(c, o)
				}
			}})
			require.Len(t, found, 1, name)
		}
		caught = append(caught, name)
	}
	require.Len(t, caught, len(lies))
}
