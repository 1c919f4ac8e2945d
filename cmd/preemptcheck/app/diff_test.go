package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/life"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// TestDiff holds the output against golden files.
func TestDiff(t *testing.T) {
	emptyCache(t)
	apptest.AsModelled(t, nil, "v1.31.0", "v1.31.14", "v1.32.13", "v1.34.4", "v1.35.4")
	for _, test := range []struct {
		name   string
		status int
		args   string
	}{
		{"diff-dump", 1, "--from v1.31.0 --to v1.31.14 testdata/diff/dump.yaml"},
		{"diff-dump-json", 1, "--from v1.31.0 --to v1.31.14 testdata/diff/dump.yaml -o json"},
		{"diff-dump-alike", 2, "--from v1.31.14 --to v1.32.13 testdata/diff/dump.yaml"},
		{"diff-pod-alike", 0, "--from v1.31.14 --to v1.32.13 testdata/diff/dump.yaml --pod shop/web"},
		{"diff-generated", 1, "--from v1.34.4 --to v1.35.4 --cases 600 --seed 1"},
		{"diff-markdown", 1, "--from v1.31.0 --to v1.32.13 --each --cases 300 --seed 1 -o markdown"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out, errOut := preemptcheck(t, "", append([]string{"diff"}, strings.Fields(test.args)...)...)
			require.Equal(t, test.status, status, "exit status; %s", errOut)
			compare(t, test.name, out)
		})
	}
}

// synchronous is the linked scheduler with synchronous preemption, in the place of an older one.
type synchronous struct {
	life.System
	name string
}

func (s synchronous) Name() string { return s.name }

func (s synchronous) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	if t.Cluster.Settings.FeatureGates[model.GateWorkload] {
		return nil, &reference.Refusal{System: s.name, What: "pod groups in timelines: its driver does not watch them"}
	}
	t = t.Clone()
	gates := maps.Clone(t.Cluster.Settings.FeatureGates)
	if gates == nil {
		gates = map[string]bool{}
	}
	gates["SchedulerAsyncPreemption"] = false
	t.Cluster.Settings.FeatureGates = gates
	trace, err := s.System.Live(ctx, t)
	if err == nil {
		trace.System = s.name
	}
	return trace, err
}

// TestDiffTimelines holds what is told of timelines against golden files.
func TestDiffTimelines(t *testing.T) {
	emptyCache(t)
	defer systems.Register("v1.35.4", func() reference.System { return synchronous{life.New(), "v1.35.4"} })()
	apptest.AsModelled(t, nil, "v1.31.0")
	for _, test := range []struct {
		name   string
		status int
		args   string
	}{
		{"diff-timelines", 1, "--from v1.35.4 --to v1.37.1 " + timelines},
		{"diff-timelines-json", 1, "--from v1.35.4 --to v1.37.1 -o json " + vainPreemption},
		{"diff-timeline-alike", 0, "--from v1.35.4 --to v1.37.1 " + timelines + "/preempted-and-bound.yaml"},
		{"diff-timelines-not-run", 2, "--from v1.31.0 --to v1.37.1 " + vainPreemption},
		{"diff-timelines-generated", 1, "--from v1.35.4 --to v1.37.1 --cases 60 --seed 1 --timelines 100"},
		{"diff-timelines-markdown", 1, "--from v1.35.4 --to v1.37.1 --cases 60 --seed 1 --timelines 100 -o markdown"},
		{"diff-timelines-left-out", 1, "--from v1.31.0 --to v1.37.1 --cases 20 --seed 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out, errOut := preemptcheck(t, "", append([]string{"diff"}, strings.Fields(test.args)...)...)
			require.Equal(t, test.status, status, "exit status; %s", errOut)
			compare(t, test.name, out)
		})
	}
	status, out, errOut := preemptcheck(t, "", "diff", "--from", "v1.31.0", "--to", "v1.37.1", "--cases", "20", "--timelines", "50")
	require.Equal(t, terminal.CouldNot, status)
	require.Empty(t, out)
	require.Contains(t, errOut, "error: --timelines: v1.31.0 cannot be run through timelines; v1.34.4, v1.35.4, v1.36.3, v1.37.0, v1.37.1 can")
}

// TestDiffTimelinesOut: the small timelines that are saved show the same again.
func TestDiffTimelinesOut(t *testing.T) {
	emptyCache(t)
	defer systems.Register("v1.35.4", func() reference.System { return synchronous{life.New(), "v1.35.4"} })()
	dir := t.TempDir()
	status, out, errOut := preemptcheck(t, "", "diff", "--from", "v1.35.4", "--to", "v1.37.1", "--cases", "30", "--seed", "1", "--timelines", "100", "--out", dir, "-o", "json")
	require.Equal(t, terminal.Found, status, errOut)
	var r diff.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	kinds := r.Comparisons[0].Timelines.Kinds
	require.NotEmpty(t, kinds)
	for _, k := range kinds {
		status, out, errOut := preemptcheck(t, "", "diff", "--from", "v1.35.4", "--to", "v1.37.1", k.Example.Saved)
		require.Equal(t, terminal.Found, status, errOut)
		require.Contains(t, out, k.Kind)
		require.Contains(t, out, "Of 1 timeline, 1 could be compared. 1 of them go otherwise")
	}
}

func TestBadDiff(t *testing.T) {
	emptyCache(t)
	apptest.AsModelled(t, nil, "v1.31.0", "v1.31.14")
	for _, test := range []struct{ args, message string }{
		{"", "error: --from: which release?"},
		{"--from v1.31.0", "error: --to: which release?"},
		{"--from 1.31 --to v1.31.14", `error: --from: "1.31" is no release: want v1.31.0, for example`},
		{"--from v1.31.0 --to v1.24.3", `error: --to: this binary cannot run "v1.24.3", see "preemptcheck references"`},
		{"--from v1.31.0 --to v1.31.0", "error: --to: v1.31.0 is also what it is compared with"},
		{"--from v1.29.6 --to v1.31.0", `error: the scheduler of v1.29.6 is not built: run "preemptcheck references --build v1.29.6"`},
		{"--from v1.29.6 --to v1.31.14 --each", `error: the scheduler of v1.30.14 is not built: run "preemptcheck references --build v1.30.14"`},
		{"--from v1.31.0 --to v1.31.14 --workers 0", "error: --workers: must be at least 1"},
		{"--from v1.31.0 --to v1.31.14 --cases 5 testdata/diff", "error: --cases: is for clusters that are generated, but there are files"},
		{"--from v1.31.0 --to v1.31.14 --pod shop/web", "error: --pod: is for files and live clusters, and there are none"},
		{"--from v1.31.0 --to v1.31.14 testdata/diff --pod shop/gone", "error: --pod: no pod shop/gone waits"},
		{"--from v1.31.0 --to v1.31.14 testdata/nowhere.yaml", "error: stat testdata/nowhere.yaml: no such file or directory"},
		{"--from v1.31.0 --to v1.31.14 testdata/bad/truncated.yaml", "error: testdata/bad/truncated.yaml"},
		{"--from v1.31.0 --to v1.31.14 -o xml", "must be text, json, yaml, markdown or html"},
	} {
		t.Run(test.args, func(t *testing.T) {
			status, out, errOut := preemptcheck(t, "", append([]string{"diff"}, strings.Fields(test.args)...)...)
			require.Equal(t, terminal.CouldNot, status)
			require.Contains(t, errOut, test.message)
			require.Empty(t, out)
		})
	}
}

// TestDiffUnexplained: what nothing explains is said to be so.
func TestDiffUnexplained(t *testing.T) {
	apptest.AsModelled(t, nil, "v1.31.14")
	apptest.AsModelled(t, func(s *modelsystem.System) {
		s.Lie = func(_ *model.Cluster, o *model.Observation) {
			if o.Pick != nil {
				o.Actuation.Cleared = []string{"shop/nobody"}
			}
		}
	}, "v1.32.13")
	status, out, _ := preemptcheck(t, "", "diff", "--from", "v1.31.14", "--to", "v1.32.13", "testdata/diff/dump.yaml", "--pod", "shop/web")
	require.Equal(t, terminal.Found, status)
	compare(t, "diff-unexplained", out)
}

// TestDiffInterrupted: an interrupt shows what was found until then.
func TestDiffInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	apptest.AsModelled(t, func(s *modelsystem.System) {
		s.Lie = func(*model.Cluster, *model.Observation) {
			if asked.Add(1) == 200 {
				cancel()
			}
		}
	}, "v1.31.0", "v1.31.14")
	var out, errOut bytes.Buffer
	status := Run(ctx, []string{"diff", "--from", "v1.31.0", "--to", "v1.31.14", "--for", "1h", "--seed", "1", "--workers", "1"}, nil, &out, &errOut)
	require.Equal(t, terminal.Found, status)
	require.Contains(t, out.String(), "fixed: A victim gets the preemptor's status")
	require.Contains(t, out.String(), "(not the smallest: interrupted)")
	require.Contains(t, errOut.String(), "error: interrupted: there may be more")
}

// TestDiffFails: a scheduler that cannot be asked is no difference, and no
// agreement either.
func TestDiffFails(t *testing.T) {
	apptest.AsModelled(t, nil, "v1.31.14")
	defer systems.Register("v1.32.13", func() reference.System { return unreachable{} })()
	status, out, _ := preemptcheck(t, "", "diff", "--from", "v1.31.14", "--to", "v1.32.13", "testdata/diff/dump.yaml", "--pod", "shop/web")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, out, "shop/web   v1.32.13: gone fishing")
}

type unreachable struct{}

func (unreachable) Name() string { return "v1.32.13" }
func (unreachable) Close() error { return nil }
func (unreachable) Observe(context.Context, *model.Cluster) (*model.Observation, error) {
	return nil, errors.New("gone fishing")
}

// TestDiffOut: the clusters are saved as cases that show the same again.
func TestDiffOut(t *testing.T) {
	apptest.AsModelled(t, nil, "v1.31.0", "v1.31.14")
	dir := t.TempDir()
	status, _, errOut := preemptcheck(t, "", "diff", "--from", "v1.31.0", "--to", "v1.31.14", "testdata/diff/dump.yaml", "--out", dir)
	require.Equal(t, terminal.Found, status, errOut)
	status, out, errOut := preemptcheck(t, "", "diff", "--from", "v1.31.0", "--to", "v1.31.14", dir)
	require.Equal(t, terminal.Found, status, errOut)
	require.Contains(t, out, "kubernetes#128307")
	require.Contains(t, out, "of 1 case, 1 could be compared")
}
