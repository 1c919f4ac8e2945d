package corpus_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
)

// Clusters with extenders are written and read back as they are.
func TestExtendersSurviveWriting(t *testing.T) {
	checked := 0
	for seed := uint64(0); checked < 50; seed++ {
		c := generators.FromSeed(seed)
		if c.Settings.Extenders == nil {
			continue
		}
		checked++
		var buf bytes.Buffer
		require.NoError(t, (&corpus.Case{Name: "extended", Cluster: c}).Write(&buf))
		s, err := corpus.Read(&buf, "text")
		require.NoError(t, err)
		require.Empty(t, cmp.Diff(c.Settings, s.Cases[0].Cluster.Settings))
	}
}

func TestBadExtenders(t *testing.T) {
	for extenders, want := range map[string]string{
		"[{}]":                                  "extenders[0].name",
		"[{name: a}, {name: a}]":                `two extenders are called "a"`,
		"[{name: a, managedResources: [cpu]}]":  `"cpu" is no extended resource`,
		"[{name: a, preempt: {fails: always}}]": "preempt.fails",
		"[{name: a, preempt: {changes: [{node: n1, keeps: -1}]}}]":                     "keeps: -1 is negative",
		"[{name: a, preempt: {changes: [{node: n1}, {node: n1}]}}]":                    `two changes are of node "n1"`,
		"[{name: a, filter: {accepts: [n]}}]":                                          "accepts",
		"[{name: a, managedResources: [x.y/z]}, {name: b, managedResources: [x.y/z]}]": "managed by two extenders",
	} {
		_, err := corpus.Read(strings.NewReader("apiVersion: preemptcheck/v1alpha1\nkind: Case\nname: x\npreemptor: default/p\nscheduler: {extenders: "+extenders+"}\n"), "text")
		require.ErrorContains(t, err, want, extenders)
	}
}
