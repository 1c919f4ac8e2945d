package redact_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/manifest"
	"github.com/preemptcheck/preemptcheck/corpus/redact"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
)

// dumped is a cluster written as a dump, and read.
func dumped(t *testing.T, c *model.Cluster) *model.Cluster {
	var b bytes.Buffer
	require.NoError(t, corpus.WriteDump(manifest.NewFastWriter(&b), c, corpus.AboutDump{Redacted: true}))
	text := b.String()
	s, err := corpus.Read(&b, "redacted")
	require.NoError(t, err, text)
	return s.Dump
}

// twice redacts a dump, and what comes out again: pseudonyms stay as they are.
func twice(t *testing.T, c *model.Cluster) {
	once, _, err := redact.Cluster(c)
	require.NoError(t, err)
	again, _, err := redact.Cluster(dumped(t, once))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(dumped(t, once), dumped(t, again), cmpopts.EquateEmpty()))
}

func asDump(c *model.Cluster) *model.Cluster {
	out := *c
	if c.Preemptor != nil {
		out.Pods = append([]*v1.Pod{c.Preemptor}, c.Pods...)
		out.Preemptor = nil
	}
	out.PreemptorGroup = ""
	out.Settings = model.Settings{}
	return &out
}

func TestRedactedTwice(t *testing.T) {
	s, err := corpus.Load("../cases")
	require.NoError(t, err)
	for _, c := range s.Cases {
		t.Run(c.Name, func(t *testing.T) { twice(t, asDump(c.Cluster)) })
	}
	for seed := range uint64(testsize.Times(100)) {
		twice(t, asDump(generators.OfAnyPreemptor(seed, nil)))
	}
}

// FuzzRedact redacts whatever reads as a dump: that never panics, and what comes out is one, or an error tells
// what cannot be.
func FuzzRedact(f *testing.F) {
	files, err := filepath.Glob("../testdata/*dump*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	cases, err := filepath.Glob("../cases/*devices*.yaml")
	require.NoError(f, err)
	for _, file := range append(files, cases...) {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		if _, objects, is := bytes.Cut(text, []byte("\n---\n")); is && bytes.Contains(text, []byte("kind: Case")) {
			text = objects
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := corpus.Read(bytes.NewReader(text), "fuzz")
		if err != nil || s.Dump == nil {
			t.Skip()
		}
		out, _, err := redact.Cluster(s.Dump)
		if err != nil {
			t.Skip()
		}
		again := dumped(t, out)
		require.Len(t, again.Pods, len(s.Dump.Pods))
		require.Len(t, again.Nodes, len(s.Dump.Nodes))
	})
}
