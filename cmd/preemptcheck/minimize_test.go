package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
)

const witness = "../../corpus/cases/finding-terminating-victim-violates-budget.yaml"

// What minimize prints, and what it saves, is a case that shows the same.
func TestMinimizePrintsACase(t *testing.T) {
	status, out, report := preemptcheck(t, "", "minimize", witness)
	require.Equal(t, statusAgrees, status, report)
	require.Contains(t, report, "from 2 nodes, 2 pods, 1 budget\nto   1 node, 1 pod, 1 budget\n")
	require.Contains(t, report, "and minimal: none of the ")
	require.Contains(t, report, "nearest cluster on which everything agrees: PodDisruptionBudget default/budget-1: status.disruptionsAllowed 0 -> 1\n")

	s, err := corpus.Read(strings.NewReader(out), "minimised")
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
	require.Equal(t, "minimised from "+witness, s.Cases[0].Origin)
	status, checked, _ := preemptcheck(t, out, "check", "-")
	require.Equal(t, statusAgrees, status, checked)
	require.Contains(t, checked, "known finding")
	require.Contains(t, checked, "terminating-victim-violates-budget")

	dir := filepath.Join(t.TempDir(), "out")
	status, path, report := preemptcheck(t, "", "minimize", witness, "--out", dir)
	require.Equal(t, statusAgrees, status, report)
	require.Equal(t, filepath.Join(dir, "violations-recounted-dry-run.yaml")+"\n", path)
	saved, err := os.ReadFile(strings.TrimSpace(path))
	require.NoError(t, err)
	require.Equal(t, out, string(saved))
}

func TestMinimizeReport(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "minimize", "-o", "json", witness)
	require.Equal(t, statusAgrees, status, errOut)
	var m minimisation
	require.NoError(t, json.Unmarshal([]byte(out), &m))
	require.True(t, m.Minimal)
	require.Equal(t, "terminating-victim-violates-budget", m.Fingerprint.Known)
	require.Equal(t, size{1, 1, 1}, m.To)
	require.Greater(t, m.Checks, len(m.Needs))
	require.NotEmpty(t, m.Needs)
	require.NotEmpty(t, m.Case)
}

func TestMinimizeCannot(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "minimize", "../../corpus/cases/basic-preemption.yaml")
	require.Equal(t, statusCouldNot, status)
	require.Empty(t, out)
	require.Contains(t, errOut, "nothing is found in it")

	status, _, errOut = preemptcheck(t, "", "minimize", "no-such-file.yaml")
	require.Equal(t, statusCouldNot, status)
	require.Contains(t, errOut, "no-such-file.yaml")
}

// Without time to try each step, the result is the best so far, and says so.
func TestMinimizeOutOfTime(t *testing.T) {
	m := &minimisation{Checks: 7}
	var text strings.Builder
	m.text(&text)
	require.Contains(t, text.String(), "in 7 checks, and not proven minimal")
}
