package releases

import (
	"go/parser"
	"go/token"
	"path"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLifeEdits: what the drivers that run timelines are made of can be edited, and is Go. An
// edit that does not find its place is an error.
func TestLifeEdits(t *testing.T) {
	n := 0
	for _, version := range All() {
		if !Lives(version) {
			continue
		}
		n++
		names := map[string]bool{}
		require.NoError(t, walkLife(version, func(name string, content []byte) error {
			require.False(t, names[name], name)
			names[name] = true
			if path.Ext(name) != ".go" {
				return nil
			}
			_, err := parser.ParseFile(token.NewFileSet(), name, content, 0)
			return err
		}))
		for _, e := range lifeEdits {
			require.True(t, names[e.file], e.file)
		}
		require.True(t, names["reference/life/run.go"])
		require.False(t, names["reference/life/run_test.go"])
	}
	require.Equal(t, 4, n)
	_, err := editLife(35, "model/cluster.go", "package model\n")
	require.ErrorContains(t, err, "0 times, want once")
	_, err = editLife(35, "reference/life/scheduler.go", "package life\n")
	require.ErrorContains(t, err, "want once")
}

func TestLivesOfOthers(t *testing.T) {
	require.False(t, Lives("v1.33.13"))
	require.False(t, Lives("v1.99.0"))
	_, err := BuildLife(t.Context(), "v1.33.13", nil)
	require.EqualError(t, err, "the scheduler of v1.33.13 cannot be run through timelines")
}
