package app

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/life"
	"github.com/preemptcheck/preemptcheck/reference/releases"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

func TestMatrix(t *testing.T) {
	args := []string{"check", "--reference", "careless," + inprocess.Version, "testdata/cases/preempts.yaml", "testdata/cases/order-matters.yaml", "testdata/cases/known.yaml"}
	status, out, errOut := preemptcheck(t, "", args...)
	require.Equal(t, terminal.Found, status, errOut)
	compare(t, "matrix", out)

	status, out, _ = preemptcheck(t, "", append(args, "-o", "json")...)
	require.Equal(t, terminal.Found, status)
	var m replay.Matrix
	require.NoError(t, json.Unmarshal([]byte(out), &m))
	require.Equal(t, []string{"careless", inprocess.Version}, m.References)
	require.Len(t, m.Cases, 3)
	require.Equal(t, replay.Found, m.Cases[0].Judgements[0].Result)
	require.Equal(t, replay.Agrees, m.Cases[0].Judgements[1].Result)
}

// TestMatrixOfTimelines: timelines are run with each scheduler that can, and a sentence tells of
// those that cannot.
func TestMatrixOfTimelines(t *testing.T) {
	t.Cleanup(systems.Register("v1.35.4", func() reference.System { return synchronous{life.New(), "v1.35.4"} }))
	apptest.AsModelled(t, nil, "v1.31.0", "v1.31.14")
	const rests, about = timelines + "/preempted-and-bound.yaml", timelines + "/finding-old-copy-stays-in-queue.yaml"
	ask := func(names string, files ...string) (status int, m replay.Matrix, text string) {
		args := append([]string{"check", "--reference", names}, files...)
		status, text, errOut := preemptcheck(t, "", args...)
		require.Empty(t, errOut)
		again, out, _ := preemptcheck(t, "", append(args, "-o", "json")...)
		require.Equal(t, status, again)
		require.NoError(t, json.Unmarshal([]byte(out), &m))
		return status, m, text
	}
	results := func(m replay.Matrix) (all [][]string) {
		for _, row := range m.Cases {
			var results []string
			for _, j := range row.Judgements {
				results = append(results, j.Result)
			}
			all = append(all, results)
		}
		return all
	}

	status, m, text := ask("v1.35.4,"+inprocess.Version, rests, about)
	require.Equal(t, terminal.Agrees, status)
	all := results(m)
	require.Equal(t, []string{replay.Agrees, replay.Agrees}, all[0])
	require.Equal(t, replay.Otherwise, all[1][0], "it is about those since 1.36")
	require.Contains(t, all[1][1], replay.Known)
	require.Empty(t, m.TimelinesNotRun)
	require.Contains(t, text, "\nfinding-old-copy-stays-in-queue   ok*    k\n")
	require.Contains(t, text, "\n2 timelines with 2 schedulers: 4 as expected (1 with known findings), 0 not known to the release, 0 not as expected\n")
	require.NotContains(t, text, "not run with")

	status, m, text = ask("v1.31.0,"+inprocess.Version, "testdata/cases/order-matters.yaml", rests)
	require.Equal(t, terminal.Agrees, status)
	require.Equal(t, []string{replay.NoTimelines, replay.Agrees}, results(m)[1])
	require.Equal(t, map[string]int{"v1.31.0": 1}, m.TimelinesNotRun)
	compare(t, "matrix-timelines", text)

	status, m, text = ask("v1.31.0,v1.31.14", "testdata/cases/order-matters.yaml", rests, about)
	require.Equal(t, terminal.Agrees, status)
	require.Len(t, m.Cases, 1)
	require.False(t, m.Interrupted)
	require.Contains(t, text, "1 case with 2 schedulers: ")
	require.Contains(t, text, "2 timelines were not run with v1.31.0, v1.31.14: timelines cannot be run with these.\n")

	status, m, text = ask("v1.31.0,v1.31.14", rests, about)
	require.Equal(t, terminal.CouldNot, status)
	require.Empty(t, m.Cases)
	require.Equal(t, "2 timelines were not run with v1.31.0, v1.31.14: timelines cannot be run with these.\n", text)
}

func TestReferences(t *testing.T) {
	require.Equal(t, []string{"v1.31.0"}, references("v1.31.0"))
	require.Equal(t, []string{"v1.31.0", "v1.16.15"}, references("v1.31.0,v1.16.15"))
	require.Equal(t, releases.All(), references("all"), "the oldest first, and the one linked in")
}
