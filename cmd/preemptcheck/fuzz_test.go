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
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// forgetful is a scheduler with a bug: of several victims, it does not delete the
// last.
type forgetful struct{ reference.System }

func (f forgetful) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	o, err := f.System.Observe(ctx, c)
	if err == nil && o.Actuation != nil && len(o.Actuation.Deleted) > 1 {
		o.Actuation.Deleted = o.Actuation.Deleted[:len(o.Actuation.Deleted)-1]
	}
	return o, err
}

// TestFuzzSavesWhatCheckReproduces: many clusters with one cause are saved as few
// cases; what is saved is small and shows the same finding.
func TestFuzzSavesWhatCheckReproduces(t *testing.T) {
	right, err := newChecker("v1.37.1")
	require.NoError(t, err)
	defer right.System.Close()
	wrong := &properties.Checker{System: forgetful{right.System}}
	c := &campaign{checker: wrong, seed: 1, dir: filepath.Join(t.TempDir(), "findings")}
	require.NoError(t, c.run(t.Context(), 200, newProgress(io.Discard)))
	require.Greater(t, c.summary.Stats.Findings, 10)
	require.NotEmpty(t, c.summary.New)
	require.Less(t, len(c.summary.New), 5)

	for i, f := range c.summary.New {
		require.Equal(t, model.StageActuate, f.Stage)
		s, err := corpus.Load(f.File)
		require.NoError(t, err)
		saved := s.Cases[0]
		require.Contains(t, saved.Origin, "preemptcheck generate --seed 1 --first ")
		if i == 0 {
			require.Len(t, saved.Cluster.Nodes, 1)
			require.Len(t, saved.Cluster.Pods, 2)
		}
		j := judge(t.Context(), wrong, saved)
		require.Equal(t, found, j.Result)
		require.Contains(t, j.Details, f.Detail)
		require.Equal(t, f.Reproduce, j.Reproduce)
		require.Equal(t, agrees, judge(t.Context(), right, saved).Result)
	}
}

func TestFuzzSavesPanics(t *testing.T) {
	checker, err := newChecker("v1.37.1")
	require.NoError(t, err)
	defer checker.System.Close()
	checker.Decide = func(c *model.Cluster) (*model.Decision, error) {
		if len(c.Nodes) > 0 {
			panic("a bug")
		}
		return model.Decide(c, model.Documented())
	}
	dir := t.TempDir()
	c := &campaign{checker: checker, seed: 1, dir: dir}
	require.NoError(t, c.run(t.Context(), 20, newProgress(io.Discard)))
	require.Positive(t, c.summary.Errors)
	require.NotEmpty(t, c.summary.New)
	require.Equal(t, filepath.Join(dir, "error.yaml"), c.summary.New[0].File)
	require.Equal(t, "finding: error: : panic: a bug", c.summary.New[0].Detail)
}

func TestFuzzIsReproducible(t *testing.T) {
	fuzz := func() (s summary) {
		status, out, errOut := preemptcheck(t, "", "fuzz", "--seed", "5", "--cases", "200", "-o", "json", "--out", filepath.Join(t.TempDir(), "none"))
		require.Equal(t, statusAgrees, status, errOut)
		require.Contains(t, errOut, "seed 5\n")
		require.NoError(t, json.Unmarshal([]byte(out), &s))
		return s
	}
	a, b := fuzz(), fuzz()
	require.Equal(t, 200, a.Stats.Clusters)
	require.Equal(t, a.Stats, b.Stats)
}

func TestFuzzStopsWhenInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	in, out := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"fuzz", "--for", "0"}, nil, io.Discard, out)
	}()
	_, err := in.Read(make([]byte, 100)) // the seed: it has begun
	require.NoError(t, err)
	go io.Copy(io.Discard, in)
	interrupt()
	require.Equal(t, statusAgrees, <-done)
}

func TestGeneratedFilesCheck(t *testing.T) {
	dir := t.TempDir()
	status, out, _ := preemptcheck(t, "", "generate", "-n", "3", "--seed", "9", "--first", "4", "--out", dir)
	require.Equal(t, statusAgrees, status)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 3)
	require.Contains(t, out, filepath.Join(dir, "generated-9-6.yaml"))
	status, out, _ = preemptcheck(t, "", "check", dir)
	require.Equal(t, statusAgrees, status, out)
	require.Contains(t, out, "3 passed")

	_, alone, _ := preemptcheck(t, "", "generate", "--seed", "9", "--first", "6")
	file, err := os.ReadFile(filepath.Join(dir, "generated-9-6.yaml"))
	require.NoError(t, err)
	require.Equal(t, string(file), alone)
}
