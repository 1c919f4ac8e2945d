package exhaustive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/exhaustive"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/sweep"
)

// A run that is interrupted leaves a state from which the next one completes it,
// and what it found is saved as a case.
func TestGoesOnFromItsState(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state.json")
	ctx, interrupt := context.WithCancel(t.Context())
	options := exhaustive.Options{Bound: 1, Command: "preemptcheck", Dir: filepath.Join(dir, "findings"), State: state}
	checker := &properties.Checker{System: modelsystem.New(release.Linked)}
	checks := func(interruptAt int) []sweep.Check {
		checked := 0
		return []sweep.Check{func(ctx context.Context, c *model.Cluster) (*properties.Result, error) {
			if checked++; checked == interruptAt {
				interrupt()
			}
			r, err := checker.Check(ctx, c)
			if err == nil && r.Observation.Pick != nil && len(r.Observation.Pick.Victims) == 2 {
				r.Findings = append(r.Findings, properties.Finding{Property: "never two", Stage: model.StagePick, Detail: "two victims"})
			}
			return r, err
		}}
	}
	first, err := exhaustive.New(options)
	require.NoError(t, err)
	require.NoError(t, first.Check(ctx, checks(1000), io.Discard, quietly))
	require.False(t, first.IsComplete())
	require.Positive(t, first.Sweep.Classes)
	data, err := os.ReadFile(state)
	require.NoError(t, err)
	require.True(t, json.Valid(data))

	second, err := exhaustive.New(options)
	require.NoError(t, err)
	require.Equal(t, first.Sweep.Classes, second.Sweep.Classes)
	require.NoError(t, second.Check(t.Context(), checks(-1), io.Discard, quietly))
	require.True(t, second.IsComplete())
	require.Equal(t, second.Clusters, second.Sweep.Clusters)
	require.NotEmpty(t, second.New)
	s, err := corpus.Load(second.New[0].File)
	require.NoError(t, err)
	require.Contains(t, s.Cases[0].Origin, "preemptcheck exhaustive --bound 1, class ")

	require.NoError(t, os.WriteFile(state, data, 0o600))
	options.Bound = 2
	_, err = exhaustive.New(options)
	require.ErrorContains(t, err, "is of another run")
}

func Example() {
	checker := &properties.Checker{System: modelsystem.New(release.Linked), Properties: invariant.All()}
	run, err := exhaustive.New(exhaustive.Options{Bound: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := run.Check(context.Background(), []sweep.Check{checker.Check}, io.Discard, quietly); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d clusters, %d of them up to symmetry, %d findings\n", run.Clusters, run.Classes, len(run.New))
	// Output:
	// 8706 clusters, 2220 of them up to symmetry, 0 findings
}

// quietly shows nobody how far a run is.
func quietly(share float64, line func() string) {}
