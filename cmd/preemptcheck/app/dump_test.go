package app

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// TestDump holds what is written, and what is told of it, against golden files.
func TestDump(t *testing.T) {
	const file = "testdata/dump/shop.yaml"
	for name, args := range map[string][]string{
		"dump":               {file},
		"dump-redacted":      {file, "--redact"},
		"dump-redacted-json": {"-f", file, "--redact", "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, errOut := preemptcheck(t, "", append([]string{"dump"}, args...)...)
			require.Equal(t, terminal.Agrees, status, errOut)
			compare(t, name, out+"--- standard error\n"+errOut)
			if strings.Contains(name, "redacted") {
				for _, secret := range []string{"acme", "payments", "ledger", "fraud", "hunter2", "eu-west", "10.1.", "10-1-", "alice", "card"} {
					require.NotContains(t, out+errOut, secret)
				}
			}
			if name == "dump-redacted" { // again
				status, rewritten, errOut := preemptcheck(t, out, "dump", "-", "--redact")
				require.Equal(t, terminal.Agrees, status, errOut)
				require.Equal(t, out, rewritten)
			}
			status, told, errOut := preemptcheck(t, out, "explain", "-")
			require.Equal(t, terminal.Agrees, status, errOut)
			require.Contains(t, told, "agrees: it nominates")
			require.Contains(t, told, "VIOLATES BUDGET")
		})
	}
}

// The dump of a live cluster tells which kinds there are none of, and so needs no more of them when it is read.
func TestDumpOfALiveCluster(t *testing.T) {
	server := httptest.NewServer(small("v1.37.1"))
	defer server.Close()
	for _, redact := range []bool{false, true} {
		args := []string{"dump", "--server", server.URL}
		if redact {
			args = append(args, "--redact")
		}
		status, out, errOut := preemptcheck(t, "", args...)
		require.Equal(t, terminal.Agrees, status, errOut)
		require.Contains(t, out, "given:\n")
		require.Contains(t, out, "  persistentvolumes: \"\"\n")
		require.Equal(t, !redact, strings.Contains(out, "name: old"))
		status, told, errOut := preemptcheck(t, out, "check", "-")
		require.Equal(t, terminal.Agrees, status, told+errOut)
		require.Contains(t, told, "2 passed")
	}
	for _, args := range []string{"dump -n shop", "dump -l app=web", "dump -A"} {
		status, out, errOut := preemptcheck(t, "", append(strings.Fields(args), "--server", server.URL)...)
		require.Equal(t, terminal.CouldNot, status)
		require.Contains(t, errOut, ": a dump is of the whole cluster")
		require.Empty(t, out)
	}
}

func TestDumpMap(t *testing.T) {
	file := filepath.Join(t.TempDir(), "names.yaml")
	args := []string{"dump", "testdata/dump/shop.yaml", "--redact", "--map", file}
	status, out, errOut := preemptcheck(t, "", args...)
	require.Equal(t, terminal.Agrees, status, errOut)
	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "Pod:\n  pod-1: fraud-check\n  pod-2: ledger-0\n")
	require.NotContains(t, string(text), "hunter2")

	status, again, errOut := preemptcheck(t, "", args...)
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "file exists")
	require.Empty(t, again)
	require.NotEmpty(t, out)
}

// A case is redacted with what is expected of it, and still meets that.
func TestDumpOfCase(t *testing.T) {
	for _, file := range []string{"testdata/cases/preempts.yaml", "../../../corpus/cases/group-in-one-rack.yaml"} {
		status, out, errOut := preemptcheck(t, "", "dump", "--redact", file)
		require.Equal(t, terminal.Agrees, status, errOut)
		require.Contains(t, errOut, "The case holds what")
		require.Contains(t, out, "kind: Case\nname: redacted\npreemptor: ")
		require.Contains(t, out, "expect:")
		require.NotContains(t, out, "description")
		status, told, errOut := preemptcheck(t, out, "check", "-")
		require.Equal(t, terminal.Agrees, status, told+errOut)
	}
}

func TestBadDump(t *testing.T) {
	for args, message := range map[string]string{
		"dump testdata/dump/shop.yaml --map x": "error: --map: without --redact there are no pseudonyms",
		"dump testdata/cases":                  "error: testdata/cases: give one file",
		"dump":                                 "error: which cluster? Give files",
		"dump testdata/cases/preempts.yaml -o json":             "error: a case is written in YAML only",
		"dump ../../../corpus/timelines/kubernetes-141694.yaml": "it is a timeline: only clusters can be pruned and redacted",
		"dump testdata/dump/shop.yaml -o text":                  "must be yaml or json",
		"dump testdata/bad/truncated.yaml":                      "error: testdata/bad/truncated.yaml",
		"dump testdata/dump/shop.yaml --redact --map ./.":       "error: open ./.: file exists",
	} {
		status, out, errOut := preemptcheck(t, "", strings.Fields(args)...)
		require.Equal(t, terminal.CouldNot, status, args)
		require.Contains(t, errOut, message, args)
		require.Empty(t, out, args)
	}
}
