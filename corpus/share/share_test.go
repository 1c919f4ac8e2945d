package share_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/prune"
	"github.com/preemptcheck/preemptcheck/corpus/share"
	"github.com/preemptcheck/preemptcheck/internal/golden"
)

func TestPage(t *testing.T) {
	var b bytes.Buffer
	share.WritePage(&b)
	require.NotContains(t, b.String(), "|  |")
	golden.Compare(t, "../../docs/dump-fields.md", b.String())
}

// Every case is redacted, and expects the same of the same pods and nodes, by other names.
func TestCasesAreRedacted(t *testing.T) {
	s, err := corpus.Load("../cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		t.Run(c.Name, func(t *testing.T) {
			for _, redact := range []bool{false, true} {
				var b bytes.Buffer
				report, err := share.WriteCase(&b, c, share.Options{Redact: redact})
				if redact && len(c.Cluster.Settings.Configuration) > 0 {
					require.ErrorContains(t, err, "scheduler.configuration: it cannot be redacted")
					continue
				}
				require.NoError(t, err)
				require.NotEmpty(t, report.Counts)
				again, err := corpus.Read(&b, "redacted")
				require.NoError(t, err)
				got := again.Cases[0]
				require.Equal(t, c.Findings, got.Findings)
				require.Len(t, got.Expect, len(c.Expect))
				for i, e := range c.Expect {
					require.Len(t, got.Expect[i].Nominations, len(e.Nominations))
					require.Equal(t, e.Outcome, got.Expect[i].Outcome)
					require.Equal(t, e.Clears == nil, got.Expect[i].Clears == nil)
					for j, n := range e.Nominations {
						require.Len(t, got.Expect[i].Nominations[j].Victims, len(n.Victims))
					}
				}
				if !redact {
					require.Equal(t, c.Expect, got.Expect)
					require.Equal(t, c.Description, got.Description)
				} else {
					require.Empty(t, got.Description+got.Origin)
				}
			}
		})
	}
}

// Why a kind is not given names users: a redacted dump does not tell.
func TestReasonsAreRedacted(t *testing.T) {
	s, err := corpus.Read(strings.NewReader("apiVersion: preemptcheck/v1alpha1\nkind: Dump\ngiven: {csinodes: '', podgroups: 'forbidden to alice'}\n"), "dump")
	require.NoError(t, err)
	for _, redact := range []bool{false, true} {
		var b bytes.Buffer
		_, err = share.Write(&b, s, share.Options{Redact: redact, JSON: redact})
		require.NoError(t, err)
		require.Equal(t, !redact, strings.Contains(b.String(), "alice"))
		again, err := corpus.Read(&b, "again")
		require.NoError(t, err)
		require.Len(t, again.About.Given, 2)
		require.Empty(t, again.About.Given["csinodes"])
		require.NotEmpty(t, again.About.Given["podgroups"])
		require.Equal(t, redact, again.About.Redacted)
	}
}

// A map that is there is not written over, and nothing else is written then.
func TestMapIsNotOverwritten(t *testing.T) {
	s, err := corpus.Read(strings.NewReader("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"), "dump")
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "names.yaml")
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o644))
	var b bytes.Buffer
	_, err = share.Write(&b, s, share.Options{Redact: true, Map: file})
	require.ErrorIs(t, err, os.ErrExist)
	require.Zero(t, b.Len())
	_, err = share.Write(&b, s, share.Options{Map: file + "2"})
	require.ErrorContains(t, err, "is of a redacted dump")
}

// All that is kept can be told.
func TestAllKindsAreTold(t *testing.T) {
	require.Len(t, prune.All(), 22)
}
