package report_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/report"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Without time to try each step, the result is the best so far, and says so.
func TestOutOfTime(t *testing.T) {
	pool := reference.NewPool(modelsystem.New(release.Linked), modelsystem.New(release.Linked))
	checker := &properties.Checker{System: pool, Release: release.Linked, Properties: invariant.All()}
	s, err := corpus.Load("../../cases/finding-unlabelled-pod.yaml")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	m, err := report.Minimise(ctx, checker, s.Cases[0], "preemptcheck minimize x", minimize.Options{Workers: 2, Progress: func(p minimize.Progress) {
		if p.Checks == 7 {
			cancel()
		}
	}})
	require.NoError(t, err)
	require.False(t, m.Minimal)
	require.Equal(t, 7, m.Checks)
	require.NotEmpty(t, m.Explanation)
	require.Equal(t, "minimised from "+s.Cases[0].File, m.Small.Origin)
	m.Stopped = "interrupted"
	var text strings.Builder
	m.WriteText(&text)
	require.Contains(t, text.String(), "in   7 checks")
	require.Contains(t, text.String(), "not proven minimal: interrupted, and not every further step was tried\n")
}

// A search that was cut short says how far it came.
func TestSearchCutShort(t *testing.T) {
	m := &report.Report{Minimal: true, Stopped: "--for is over", Smallest: &minimize.Certificate{Bound: 3, Classes: 900, Searched: 70}}
	var text strings.Builder
	m.WriteText(&text)
	require.Contains(t, text.String(), "not proven smallest: --for is over, and of the clusters with fewer nodes, pods or budgets, and no more of any, within exhaustive bound 3, only 70 of 900 classes were checked; none of these has the finding\n")
}
