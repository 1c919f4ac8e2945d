package corpus

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/model"
)

// A dump that is written reads back as the same cluster, in both formats, with what its
// cluster was asked for.
func TestDumpsRoundTrip(t *testing.T) {
	dumps := map[string]string{"kubectl": string(kubectlDump(3, 7, 2)), "everything": testdata(t, "everything-dump.yaml")}
	for name, text := range dumps {
		s, err := Read(strings.NewReader(text), "dump")
		require.NoError(t, err)
		about := AboutDump{Redacted: true, Given: Given{"csinodes": "", "podgroups": "forbidden"}}
		for format, writer := range map[string]func(*bytes.Buffer) ObjectWriter{
			"YAML": func(b *bytes.Buffer) ObjectWriter { return manifest.NewWriter(b) },
			"fast": func(b *bytes.Buffer) ObjectWriter { return manifest.NewFastWriter(b) },
			"JSON": func(b *bytes.Buffer) ObjectWriter { return manifest.NewJSONWriter(b) },
		} {
			t.Run(name+" "+format, func(t *testing.T) {
				before := s.Dump.DeepCopy()
				var b bytes.Buffer
				require.NoError(t, WriteDump(writer(&b), s.Dump, about))
				require.Empty(t, cmp.Diff(before, s.Dump), "written to")
				again, err := Read(&b, "again")
				require.NoError(t, err)
				require.Empty(t, cmp.Diff(s.Dump, again.Dump, cmpopts.EquateEmpty()))
				require.Equal(t, about, again.About)
				require.Equal(t, s.Notes, again.Notes)
				require.Len(t, again.Cases, len(s.Cases))
			})
		}
	}
}

func TestEmptyDump(t *testing.T) {
	for _, format := range []func(*bytes.Buffer) ObjectWriter{
		func(b *bytes.Buffer) ObjectWriter { return manifest.NewWriter(b) },
		func(b *bytes.Buffer) ObjectWriter { return manifest.NewJSONWriter(b) },
	} {
		var b bytes.Buffer
		require.NoError(t, WriteDump(format(&b), &model.Cluster{}, AboutDump{Given: Given{"csinodes": ""}}))
		s, err := Read(&b, "again")
		require.NoError(t, err)
		require.Equal(t, Given{"csinodes": ""}, s.About.Given)
	}
	_, err := Read(strings.NewReader("apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n---\napiVersion: preemptcheck/v1alpha1\nkind: Dump\n"), "f")
	require.ErrorContains(t, err, "a Dump must be the first document of its stream")
	_, err = Read(strings.NewReader("apiVersion: preemptcheck/v2\nkind: Dump\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"), "f")
	require.ErrorContains(t, err, "no version of a Dump")
	_, err = Read(strings.NewReader("apiVersion: preemptcheck/v1alpha1\nkind: Dump\nnews: 1\n---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"), "f")
	require.NoError(t, err, "a later version may tell more")
}
