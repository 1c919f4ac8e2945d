package properties_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// The differential catches a scheduler that lies at a stage, and names that stage.
// TestDifferentialCatchesMutants shows the other way round that it catches a model that is wrong.
func TestDifferentialCatchesLies(t *testing.T) {
	lies := map[string]struct {
		stage model.Stage
		tell  func(*model.Cluster, *model.Observation)
	}{
		"another victim": {model.StageDryRun, checktest.Victims("default/mid")},
		"no node helps": {model.StageDryRun, func(_ *model.Cluster, o *model.Observation) {
			for node := range o.DryRuns {
				o.DryRuns[node] = model.DryRun{Failed: &model.Verdict{Plugin: "NodeResourcesFit"}}
			}
		}},
		"another pod is deleted": {model.StageActuate, func(_ *model.Cluster, o *model.Observation) {
			o.Actuation.Deleted = []string{"default/mid"}
		}},
	}
	system := checktest.System(t)
	truth, err := (&properties.Checker{System: system}).Check(t.Context(), checktest.Cluster())
	require.NoError(t, err)
	require.Empty(t, truth.Findings)
	promise := properties.AllowedAnswer()
	for name, lie := range lies {
		assert.Contains(t, promise.Lies, name)
		checker := &properties.Checker{System: checktest.Liar{System: system, Tell: lie.tell}}
		r, err := checker.Check(t.Context(), checktest.Cluster())
		require.NoError(t, err)
		require.Len(t, r.Findings, 1, name)
		assert.Equal(t, lie.stage, r.Findings[0].Stage, name)
		assert.Empty(t, r.Findings[0].Known, name)

		s := checktest.Subject(t, checker.System, checktest.Cluster())
		s.Decision = truth.Decision
		found, err := promise.Check(s)
		require.NoError(t, err)
		assert.Equal(t, r.Findings, found, "by itself it finds the same")
	}
	assert.Len(t, slices.DeleteFunc(slices.Clone(promise.Lies), func(l string) bool { return l == "every mutant of the model" }), len(lies))
}
