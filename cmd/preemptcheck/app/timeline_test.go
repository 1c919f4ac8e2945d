package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	minimised "github.com/preemptcheck/preemptcheck/corpus/minimize/report"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	ids "github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
)

const (
	timelines      = "../../../corpus/timelines"
	vainPreemption = timelines + "/kubernetes-141694.yaml"
)

// TestCheckTimelines: each timeline of the corpus goes as it says.
func TestCheckTimelines(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "check", "-o", "json", timelines)
	require.Empty(t, errOut)
	require.Equal(t, terminal.Agrees, status)
	var r replay.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	for _, j := range r.Cases {
		require.Empty(t, j.Reproduce, "%s: %s: %s", j.Name, j.Result, j.Details)
	}
	files, err := filepath.Glob(timelines + "/*.yaml")
	require.NoError(t, err)
	require.Equal(t, len(files), r.Passed)
}

// TestUnmetExpectation: a timeline that expects something else fails, and says at which step.
func TestUnmetExpectation(t *testing.T) {
	text, err := os.ReadFile(timelines + "/preempted-and-bound.yaml")
	require.NoError(t, err)
	wrong := strings.Replace(string(text), "expect: {pod: p, node: node-1}", "expect: {pod: p, node: node-2}", 1)
	status, out, errOut := preemptcheck(t, wrong, "check", "-")
	require.Equal(t, terminal.Found, status, errOut)
	require.Contains(t, out, "step 6: expected that default/p is bound to node-2, but it is bound to node-1")
	require.Contains(t, out, "\n  reproduce: preemptcheck check -\n")
}

// TestGenerateTimeline: what generate writes is a timeline that check reads and runs.
func TestGenerateTimeline(t *testing.T) {
	for _, n := range []string{"0", "1", "2"} {
		args := []string{"generate", "--timeline", "--seed", "7", "--first", n}
		status, text, errOut := preemptcheck(t, "", args...)
		require.Equal(t, terminal.Agrees, status, errOut)
		require.Contains(t, text, "\nkind: Timeline\n")
		_, again, _ := preemptcheck(t, "", args...)
		require.Equal(t, text, again)
		status, out, errOut := preemptcheck(t, text, "check", "-")
		require.Equal(t, terminal.Agrees, status, out+errOut)
		require.Regexp(t, ` pending| did not come to rest`, out)
	}
	dir := t.TempDir()
	status, out, errOut := preemptcheck(t, "", "generate", "--timeline", "-n", "3", "--out", dir)
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Len(t, strings.Fields(out), 3)
	s, err := corpus.Load(dir)
	require.NoError(t, err)
	require.Len(t, s.Cases, 3)
}

// TestMinimizeTimeline: what minimize prints, and what it saves, is a timeline that shows the
// same, and is no larger.
func TestMinimizeTimeline(t *testing.T) {
	status, out, report := preemptcheck(t, "", "minimize", vainPreemption)
	require.Equal(t, terminal.Agrees, status, report)
	require.Contains(t, report, "no-wait-for-the-flush: ")
	require.Contains(t, report, "from 1 node, 3 pods, 0 budgets, 15 steps\nto   1 node, ")
	require.Regexp(t, `\nminimal: none of the [1-9]\d+ further reductions tried at last keeps the finding\n`, report)
	s, err := corpus.Read(strings.NewReader(out), "minimised")
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
	require.Equal(t, []string{ids.VainPreemption}, s.Cases[0].Findings)
	require.Less(t, len(s.Cases[0].Timeline.Steps), 12)
	status, checked, _ := preemptcheck(t, out, "check", "-")
	require.Equal(t, terminal.Agrees, status, checked)
	require.Contains(t, checked, ids.VainPreemption)

	dir := filepath.Join(t.TempDir(), "out")
	status, path, report := preemptcheck(t, "", "minimize", vainPreemption, "--out", dir)
	require.Equal(t, terminal.Agrees, status, report)
	saved, err := os.ReadFile(strings.TrimSpace(path))
	require.NoError(t, err)
	require.Equal(t, out, string(saved))

	status, told, report := preemptcheck(t, "", "minimize", vainPreemption, "-o", "json")
	require.Equal(t, terminal.Agrees, status, report)
	var m minimised.Report
	require.NoError(t, json.Unmarshal([]byte(told), &m))
	require.True(t, m.Minimal)
	require.Equal(t, "no-wait-for-the-flush", m.Fingerprint.Property)
	require.Equal(t, ids.VainPreemption, m.Fingerprint.Known)
	require.Equal(t, out, m.Case)
	require.Equal(t, 15, m.From.Steps)
	require.Equal(t, len(s.Cases[0].Timeline.Steps), m.To.Steps)
	require.Positive(t, m.Reductions)
	require.Less(t, m.Reductions, m.Checks)
	require.Empty(t, m.Stopped)

	// Without time to run it once, it is not minimised.
	status, told, report = preemptcheck(t, "", "minimize", vainPreemption, "-o", "json", "--for", "1ns")
	require.Equal(t, terminal.CouldNot, status, told+report)

	status, _, report = preemptcheck(t, "", "minimize", timelines+"/preempted-and-bound.yaml")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, report, "nothing is found in it")
}

// TestExplainTimelineAsJSON: the story is data, too.
func TestExplainTimelineAsJSON(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "explain", "-o", "json", vainPreemption)
	require.Equal(t, terminal.Agrees, status, errOut)
	var told story.Story
	require.NoError(t, json.Unmarshal([]byte(out), &told))
	require.Equal(t, "kubernetes-141694", told.Name)
	require.NotEmpty(t, told.Told)
	require.NotEmpty(t, told.Findings)
}
