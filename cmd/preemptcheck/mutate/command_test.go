package mutate

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/mutants"
	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
)

// Bad input is told before anything is built, and loses nothing.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	l, err := mutants.Begin(dir, mutants.Begun{Hash: "h"}, nil)
	require.NoError(t, err)
	require.NoError(t, l.Add(&mutants.Result{Site: plant.Site{ID: 1, File: "f.go"}}))
	require.NoError(t, l.Close())
	before, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	for _, test := range []struct {
		want string
		args []string
	}{
		{`--columns: "x" is none of [tests corpus campaign]`, []string{"--columns", "x"}},
		{`--shard: "5/4" is no shard`, []string{"--shard", "5/4"}},
		{"--sample: must not be negative", []string{"--sample", "-1"}},
		{dir + " holds results already (1 mutant): go on with --resume", []string{"--out", dir}},
		{"there are no results in it", []string{t.TempDir()}},
		{"of 1 result none is of a mutant of this source", []string{dir}},
		{"--resume: ", []string{"--resume", "--out", t.TempDir()}},
	} {
		cmd := New()
		cmd.SetArgs(test.args)
		cmd.SetOut(io.Discard)
		cmd.SetErr(io.Discard)
		require.ErrorContains(t, cmd.Execute(), test.want, "%v", test.args)
	}
	after, err := os.ReadFile(filepath.Join(dir, "results.jsonl"))
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// Shards have no mutant in common, and together all; a sample is the beginning of the order that the seed draws.
func TestChosen(t *testing.T) {
	var sites []*plant.Site
	for i := range 100 {
		sites = append(sites, &plant.Site{ID: i + 1, File: "f.go", Line: i})
	}
	of := func(c command, shard string) []*plant.Site {
		s, err := record.ParseShard(shard)
		require.NoError(t, err)
		return c.chosen(sites, s)
	}
	c := command{options: mutants.Options{Seed: 7}}
	all := of(c, "")
	require.ElementsMatch(t, sites, all)
	require.NotEqual(t, sites, all)
	require.ElementsMatch(t, all, append(of(c, "1/2"), of(c, "2/2")...))
	c.sample = 10
	require.Equal(t, all[:10], of(c, ""))
	c.only = []string{"f.go:99:"}
	require.Len(t, of(c, ""), 1)
}
