package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/report"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
)

const witness = "../../../corpus/cases/finding-terminating-victim-violates-budget.yaml"

// What minimize prints, and what it saves, is a case that shows the same.
func TestMinimizePrintsACase(t *testing.T) {
	status, out, report := preemptcheck(t, "", "minimize", witness)
	require.Equal(t, terminal.Agrees, status, report)
	require.Contains(t, report, "from 2 nodes, 2 pods, 1 budget\nto   1 node, 1 pod, 1 budget\n")
	require.Contains(t, report, "minimal: none of the ")
	require.Contains(t, report, "smallest: none of the 50 clusters with fewer nodes, pods or budgets, and no more of any, within exhaustive bound 4 has the finding")
	require.Contains(t, report, "nearest cluster on which everything agrees: PodDisruptionBudget default/budget-1: status.disruptionsAllowed 0 -> 1\n")

	s, err := corpus.Read(strings.NewReader(out), "minimised")
	require.NoError(t, err)
	require.Len(t, s.Cases, 1)
	require.Equal(t, "minimised from "+witness, s.Cases[0].Origin)
	status, checked, _ := preemptcheck(t, out, "check", "-")
	require.Equal(t, terminal.Agrees, status, checked)
	require.Contains(t, checked, "remark: ")
	require.Contains(t, checked, "terminating-victim-violates-budget")

	dir := filepath.Join(t.TempDir(), "out")
	status, path, report := preemptcheck(t, "", "minimize", witness, "--out", dir)
	require.Equal(t, terminal.Agrees, status, report)
	require.Equal(t, filepath.Join(dir, s.Cases[0].Name+".yaml")+"\n", path)
	require.Contains(t, path, "violations-recounted-dry-run")
	saved, err := os.ReadFile(strings.TrimSpace(path))
	require.NoError(t, err)
	require.Equal(t, out, string(saved))
}

func TestMinimizeReport(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "minimize", "-o", "json", witness)
	require.Equal(t, terminal.Agrees, status, errOut)
	var m report.Report
	require.NoError(t, json.Unmarshal([]byte(out), &m))
	require.True(t, m.Minimal)
	require.Equal(t, "terminating-victim-violates-budget", m.Fingerprint.Known)
	require.Equal(t, minimize.Size{Nodes: 1, Pods: 1, Budgets: 1}, m.To)
	require.Greater(t, m.Checks, len(m.Needs))
	require.NotEmpty(t, m.Needs)
	require.True(t, m.Smallest.Complete)
	require.Positive(t, m.Smallest.Classes)
	require.NotEmpty(t, m.Explanation)
	require.Empty(t, m.Stopped)
	require.NotEmpty(t, m.Case)
}

func TestMinimizeCannot(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "minimize", "../../../corpus/cases/no-lower-pods.yaml")
	require.Equal(t, terminal.CouldNot, status)
	require.Empty(t, out)
	require.Contains(t, errOut, "nothing is found in it")

	status, _, errOut = preemptcheck(t, "", "minimize", "no-such-file.yaml")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "no-such-file.yaml")

	// A dump that leaves out what the pod depends on.
	status, _, errOut = preemptcheck(t, `{apiVersion: v1, kind: List, items: [
  {apiVersion: v1, kind: Node, metadata: {name: node-1}, status: {allocatable: {cpu: "1", pods: "5"}}},
  {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: default, annotations: {pv.kubernetes.io/bind-completed: "yes"}},
   spec: {volumeName: disk, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}},
  {apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: {schedulerName: default-scheduler, containers: [{name: c, image: i}],
   volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}, status: {phase: Pending}}]}`, "minimize", "-")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, ": not modelled: PersistentVolumeClaim default/data: spec.volumeName: the dump holds no persistentvolumes; ")
	require.Equal(t, 1, strings.Count(errOut, "not modelled"))
}

// A search that was not asked for says nothing.
func TestMinimizeSearch(t *testing.T) {
	status, _, report := preemptcheck(t, "", "minimize", witness, "--classes", "0", "--workers", "1")
	require.Equal(t, terminal.Agrees, status, report)
	require.NotContains(t, report, "smallest")
	status, _, report = preemptcheck(t, "", "minimize", witness, "--workers", "0")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, report, "--workers: must be at least 1")
}

func TestMinimizeProgress(t *testing.T) {
	p := minimize.Progress{Cluster: &model.Cluster{}, Checks: 12}
	require.Equal(t, "12 checks, down to 0 nodes, 0 pods, 0 budgets", p.String())
	p.Search = &minimize.Certificate{Classes: 900, Searched: 70}
	require.Contains(t, p.String(), "; searched 70 of 900 classes of smaller clusters")
}
