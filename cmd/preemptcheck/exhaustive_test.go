package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

func TestExhaustiveIsComplete(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state.json")
	status, out, errOut := preemptcheck(t, "", "exhaustive", "--bound", "1", "--state", state)
	require.Equal(t, statusAgrees, status, errOut)
	require.Contains(t, out, "complete to bound 1: ")
	require.Contains(t, out, ", 0 unexplained, 0 not checked")
	require.Contains(t, out, "greedy gap: of ")
	require.NoFileExists(t, state, "nothing to go on from")
}

// A run that is interrupted leaves a state from which the next one completes it,
// and what it found is saved as a case.
func TestExhaustiveGoesOnFromItsState(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state.json")
	ctx, interrupt := context.WithCancel(t.Context())
	start := func(interruptAt int) *exhaustive {
		checker, err := newChecker("v1.37.1")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, checker.System.Close()) })
		e := &exhaustive{Bound: 1, Bounds: generators.Bounds(1), dir: filepath.Join(dir, "findings"), state: state}
		checked := 0
		e.checks = []properties.Check{func(ctx context.Context, c *model.Cluster) (*properties.Result, error) {
			if checked++; checked == interruptAt {
				interrupt()
			}
			r, err := checker.Check(ctx, c)
			if err == nil && r.Observation.Pick != nil && len(r.Observation.Pick.Victims) == 2 {
				r.Findings = append(r.Findings, properties.Finding{Property: "never two", Stage: model.StagePick, Detail: "two victims"})
			}
			return r, err
		}}
		return e
	}
	first := start(1000)
	require.NoError(t, first.run(ctx, io.Discard))
	require.False(t, first.complete())
	require.Positive(t, first.Sweep.Classes)
	data, err := os.ReadFile(state)
	require.NoError(t, err)
	require.True(t, json.Valid(data))

	second := start(-1)
	require.NoError(t, second.resume())
	require.Equal(t, first.Sweep.Classes, second.Sweep.Classes)
	require.NoError(t, second.run(t.Context(), io.Discard))
	require.True(t, second.complete())
	require.Equal(t, second.Clusters, second.Sweep.Clusters)
	require.NotEmpty(t, second.New)
	s, err := corpus.Load(second.New[0].File)
	require.NoError(t, err)
	require.Contains(t, s.Cases[0].Origin, "preemptcheck exhaustive --bound 1, class ")

	require.NoError(t, os.WriteFile(state, data, 0o600))
	other := start(-1)
	other.Bound, other.Bounds = 2, generators.Bounds(2)
	require.ErrorContains(t, other.resume(), "is of another run")
}

func TestExhaustiveRefusesBadFlags(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(bad, []byte(`{"bound":`), 0o600))
	for _, args := range [][]string{{"--bound", "0"}, {"--bound", "5"}, {"--workers", "0"}, {"--state", bad}, {"--reference", "v0"}} {
		status, _, errOut := preemptcheck(t, "", append([]string{"exhaustive"}, args...)...)
		require.Equal(t, statusCouldNot, status, args)
		require.Contains(t, errOut, args[0])
	}
}
