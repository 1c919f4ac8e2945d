package properties_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/reference"
)

const oops = "panic: oops"

// errorLies are told about clusters on which an error is expected, or known: it is
// another one, or shows elsewhere.
var errorLies = []struct {
	name, witness string
	tell          func(*model.Observation)
	// noticed by the differential at this stage, and by no-internal-error or not.
	stage    model.Stage
	internal bool
}{
	{"without nodes, another error", "no-nodes-left", func(o *model.Observation) { o.CycleError = oops }, model.StageFilter, false},
	{"without nodes, nobody is told", "no-nodes-left", func(o *model.Observation) { o.Actuation.Nomination = model.NominationUntold }, model.StageActuate, false},
	{"nobody is told that preemption does not help", "contradictory-affinity-preempts-nobody", func(o *model.Observation) {
		o.Actuation.Nomination = model.NominationUntold
	}, model.StageActuate, false},
	{"a filter's error is another", "finding-foreign-ephemeral-claim", func(o *model.Observation) { o.CycleError = oops }, model.StageFilter, true},
	{"a filter's error is about another claim", "finding-foreign-ephemeral-claim", func(o *model.Observation) {
		o.CycleError = strings.Replace(o.CycleError, "default/a-scratch", "default/b-scratch", 1)
	}, model.StageFilter, true},
	{"PostFilter's error is another", "contradictory-affinity-preempts-nobody", func(o *model.Observation) { o.PostFilterMessage = oops }, model.StagePick, true},
	{"a dry run's error is another", "finding-extender-rejection-is-error", func(o *model.Observation) {
		o.DryRuns["node-1"] = model.DryRun{Error: oops}
	}, model.StageDryRun, true},
	{"a dry run's error names another node", "finding-extender-rejection-is-error", func(o *model.Observation) {
		o.DryRuns["node-1"] = model.DryRun{Error: strings.Replace(o.DryRuns["node-1"].Error, "node-1", "node-2", 1)}
	}, model.StageDryRun, true},
	{"PostFilter's error is none of the dry runs'", "finding-extender-rejection-is-error", func(o *model.Observation) { o.PostFilterMessage = oops }, model.StagePick, true},
	{"no error after dry runs that failed", "finding-extender-rejection-is-error", func(o *model.Observation) { o.PostFilterCode = "Unschedulable" }, model.StagePick, false},
	{"a success that is none", "basic-preemption", func(o *model.Observation) { o.PostFilterCode = "Unschedulable" }, model.StagePick, false},
}

func TestErrorsOfAnotherKindAreNoticed(t *testing.T) {
	system := checktest.System(t)
	for _, lie := range errorLies {
		t.Run(lie.name, func(t *testing.T) {
			file, err := corpus.Load("../corpus/cases/" + lie.witness + ".yaml")
			require.NoError(t, err)
			check := func(system reference.System) (found []properties.Finding) {
				r, err := (&properties.Checker{System: system, Properties: []properties.Property{invariant.NoInternalError}}).Check(t.Context(), file.Cases[0].Cluster)
				require.NoError(t, err)
				return r.Unexplained()
			}
			assert.Empty(t, check(system), "the truth")
			found := check(checktest.Liar{System: system, Tell: func(_ *model.Cluster, o *model.Observation) { lie.tell(o) }})
			want := map[string]model.Stage{properties.Differential: lie.stage}
			got := map[string]model.Stage{}
			for _, f := range found {
				if got[f.Property] = f.Stage; f.Property == invariant.NoInternalError.Name {
					got[f.Property] = lie.stage
				}
			}
			if lie.internal {
				want[invariant.NoInternalError.Name] = lie.stage
			}
			assert.Equal(t, want, got)
		})
	}
}

// misquoting tells another error than that of a filter that is asked alone.
type misquoting struct{ reference.FilterSystem }

func (m misquoting) Filters(ctx context.Context, c *model.Cluster, plugins []string, report func(model.FilterRun)) error {
	return m.FilterSystem.Filters(ctx, c, plugins, func(r model.FilterRun) {
		if r.Error != "" {
			r.Error = oops
		}
		report(r)
	})
}

func TestFiltersAloneCatchesAnotherError(t *testing.T) {
	require.Contains(t, filtersAlone.Lies, "a known error is another")
	file, err := corpus.Load("../corpus/cases/finding-foreign-ephemeral-claim.yaml")
	require.NoError(t, err)
	for system, unexplained := range map[reference.System]bool{checktest.System(t): false, misquoting{checktest.System(t)}: true} {
		findings, err := filtersAlone.Findings(checktest.Subject(t, system, file.Cases[0].Cluster))
		require.NoError(t, err)
		require.NotEmpty(t, findings)
		r := properties.Result{Findings: findings}
		assert.Equal(t, unexplained, len(r.Unexplained()) > 0, "%v", findings)
	}
}

func TestGetsThroughCatchesLies(t *testing.T) {
	known := model.Crash{Kind: model.Panic, Where: "volumebinding.(*VolumeBinding).Score (volume_binding.go:503)", Message: "runtime error: invalid memory address or nil pointer dereference"}
	lies := map[string]struct {
		crash   model.Crash
		witness string
	}{
		"a plugin panics":                     {model.Crash{Kind: model.Panic, Where: "noderesources.(*Fit).Score (fit.go:1)", Message: known.Message}, "basic-preemption"},
		"a deletion never returns":            {model.Crash{Kind: model.Hang, Where: "preemption.(*Executor).prepareCandidate (executor.go:1)"}, "basic-preemption"},
		"another panic where one is known":    {model.Crash{Kind: model.Panic, Where: known.Where, Message: "index out of range"}, "finding-class-annotation-crashes-score"},
		"it hangs where it is known to panic": {model.Crash{Kind: model.Hang, Where: known.Where, Message: known.Message}, "finding-class-annotation-crashes-score"},
		"the known panic on another cluster":  {known, "basic-preemption"},
	}
	through := properties.GetsThrough()
	system := checktest.System(t)
	for name, lie := range lies {
		assert.Contains(t, through.Lies, name)
		file, err := corpus.Load("../corpus/cases/" + lie.witness + ".yaml")
		require.NoError(t, err)
		checker := &properties.Checker{System: checktest.Liar{System: system, Tell: func(_ *model.Cluster, o *model.Observation) { o.Crash = &lie.crash }}}
		r, err := checker.Check(t.Context(), file.Cases[0].Cluster)
		require.NoError(t, err)
		require.Len(t, r.Unexplained(), 1, name)
		assert.Equal(t, through.Name, r.Findings[0].Property)
	}
	assert.Len(t, through.Lies, len(lies))
}
