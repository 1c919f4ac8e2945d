package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

const cases = "../../../corpus/cases"

func TestCheckCorpus(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "check", "-o", "json", cases)
	require.Empty(t, errOut)
	var r replay.Report
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	for _, j := range r.Cases {
		require.Empty(t, j.Reproduce, "%s: %s: %s", j.Name, j.Result, j.Details)
	}
	require.Equal(t, terminal.Agrees, status)
	files, err := filepath.Glob(cases + "/*.yaml")
	require.NoError(t, err)
	require.Equal(t, len(files), r.Passed)
}

// TestWitnesses: each known finding has a case on which it has to occur, or
// upstream has changed and the ledger must.
func TestWitnesses(t *testing.T) {
	for _, entry := range ledger.Linked() {
		s, err := corpus.Load(filepath.Join(cases, entry.Witness+".yaml"))
		require.NoError(t, err, entry.ID)
		require.Contains(t, s.Cases[0].Findings, entry.ID)
	}
}

func TestCheckReadsStandardInput(t *testing.T) {
	text, err := os.ReadFile("testdata/cases/unexpected.yaml")
	require.NoError(t, err)
	status, out, _ := preemptcheck(t, string(text), "check", "-")
	require.Equal(t, terminal.Found, status)
	require.Contains(t, out, "reproduce: preemptcheck check -\n")
}

func TestBadInput(t *testing.T) {
	for file, message := range map[string]string{
		"truncated.yaml":             "document 3, line 15: did not find expected node content",
		"unknown-kind.yaml":          "document 4, line 17: kind: unknown kind Nod of v1",
		"no-preemptor.yaml":          "document 1, line 1: Case bad: preemptor: a Case needs a preemptor",
		"two-nodes-of-one-name.yaml": "document 3, line 13: Node node-1: metadata.name: Duplicate value",
		"missing-node.yaml":          `document 4, line 19: Pod default/bound: spec.nodeName: Not found: "node-2"`,
		"negative-quantity.yaml":     `document 3, line 14: Pod default/web: spec.containers[0].resources.requests[cpu]: Invalid value: "-2"`,
		"binary.yaml":                "line 1: this is no text",
		"empty.yaml":                 "there is no object in it",
	} {
		t.Run(file, func(t *testing.T) {
			path := "testdata/bad/" + file
			for _, command := range []string{"check", "explain"} {
				status, out, errOut := preemptcheck(t, "", command, path)
				require.Equal(t, terminal.CouldNot, status)
				require.Empty(t, out)
				require.True(t, strings.HasPrefix(errOut, "error: "+path+": "+message), errOut)
				require.Equal(t, 1, strings.Count(errOut, "\n"), errOut)
			}
		})
	}
}

func TestLargeFileIsRefusedBeforeItIsParsed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.yaml")
	require.NoError(t, os.WriteFile(path, []byte("a: "+strings.Repeat("b", 100<<20)), 0o644))
	status, _, errOut := preemptcheck(t, "", "check", path)
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "error: "+path+": document 1, line 1: ")
}

// TestBadFileDoesNotStopTheOthers: and what is found outranks what is bad.
func TestBadFileDoesNotStopTheOthers(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "check", "testdata/bad/binary.yaml", "testdata/cases/fits.yaml", "testdata/bad/empty.yaml")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, out, "1 passed, 0 failed")
	require.Equal(t, 2, strings.Count(errOut, "error: "))

	status, _, _ = preemptcheck(t, "", "check", "testdata/bad/binary.yaml", "testdata/cases/unexpected.yaml")
	require.Equal(t, terminal.Found, status)
}

// TestGoneIsNoFailure: it is told, and counted, but the exit status is 0.
func TestGoneIsNoFailure(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "check", "testdata/cases/saved-gone.yaml", "testdata/cases/saved-known.yaml", "testdata/cases/fits.yaml")
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Contains(t, out, "it was found by: preemptcheck fuzz --seed 1 --first 815 --cases 1\n")
	require.True(t, strings.HasSuffix(out, "\n2 passed (1 with known findings), 0 failed, 1 no longer reproduces\n"), out)
}
