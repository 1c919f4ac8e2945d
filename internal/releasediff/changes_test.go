package releasediff_test

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/internal/releasediff"
	"github.com/preemptcheck/preemptcheck/model"
)

var update = flag.Bool("update", false, "search for a cluster for each change that has none in testdata")

// changeFile is where the cluster of a change is kept.
func changeFile(from, to model.Release, c releasediff.Change) string {
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(fmt.Sprintf("%s %s %s", from, to, name(c))), "-")
	return filepath.Join("testdata", "changes", name[:min(len(name), 100)]+".yaml")
}

// TestEachChange: each change between neighbouring releases is seen on the cluster
// kept for it, and explained by it, by itself or with others.
func TestEachChange(t *testing.T) {
	var out strings.Builder
	all := model.Releases()
	for i := range all[1:] {
		from, to := all[i], all[i+1]
		comparer := releasediff.New(releasediff.Side{Release: from, System: modelsystem.New(from)}, releasediff.Side{Release: to, System: modelsystem.New(to)})
		if *update {
			search(t, comparer)
		}
		fmt.Fprintf(&out, "%s to %s\n", from, to)
		for _, c := range releasediff.Changes(from, to) {
			s, err := corpus.Load(changeFile(from, to, c))
			if errors.Is(err, fs.ErrNotExist) {
				assert.NotEmpty(t, unseen[name(c)], "%s to %s: %s: no cluster", from, to, name(c))
				fmt.Fprintf(&out, "  %s\n    not seen: %s\n", c.Title, unseen[name(c)])
				continue
			}
			require.NoError(t, err)
			r, err := comparer.Compare(t.Context(), s.Cases[0].Cluster)
			require.NoError(t, err)
			fmt.Fprintf(&out, "  %s\n", c.Title)
			var titles []string
			for _, e := range r.Effects {
				titles = append(titles, e.Change.Title)
				if e.Change.Title == c.Title {
					fmt.Fprintf(&out, "    %s\n", e.Kind)
				} else {
					fmt.Fprintf(&out, "    besides: %s: %s\n", e.Change.Title, e.Kind)
				}
			}
			assert.Contains(t, titles, c.Title)
		}
	}
	golden := filepath.Join("testdata", "changes.txt")
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(out.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
}

func name(c releasediff.Change) string {
	return cmp.Or(c.Known, strings.TrimPrefix(c.Title, "no longer: "))
}

// unseen are the changes for which there is no cluster, and why.
var unseen = map[string]string{
	"a node without pods of lower priority is not filtered again": "it comes to the same",
	"a rejection before any node is looked at names the plugin":   "it comes to the same",
	"a dry run tells whether what fails is resolvable":            "it comes to the same",
}

// search looks for the clusters that are missing, among generated ones.
func search(t *testing.T, comparer *releasediff.Comparer) {
	var w releasediff.Ways
	for n := range uint64(15000) {
		r, err := comparer.Compare(t.Context(), generators.FromSeed(n))
		require.NoError(t, err)
		w.Add(r, n)
	}
	s, err := corpus.Load("../../corpus/cases") // the witnesses of known findings, for example
	require.NoError(t, err)
	for i, c := range s.Cases {
		r, err := comparer.Compare(t.Context(), c.Cluster)
		require.NoError(t, err)
		w.Add(r, 1_000_000+uint64(i))
	}
	t.Log(comparer.From.Release, comparer.To.Release, w.Verdicts)
	for _, way := range w.List() {
		require.NotNil(t, way.Change)
		file := changeFile(comparer.From.Release, comparer.To.Release, *way.Change)
		if _, err := os.Stat(file); err == nil {
			continue
		}
		for _, kind := range way.Kinds[:1] {
			witness := kind.Witnesses[0]
			small, err := minimize.Minimise(t.Context(), comparer.Checker(), witness.Cluster, witness.Effect.Fingerprint(), minimize.Options{})
			require.NoError(t, err, "%d", witness.Number)
			c := &corpus.Case{
				Name:        strings.TrimSuffix(filepath.Base(file), ".yaml"),
				Description: way.Change.Title + ": " + kind.Kind,
				Origin:      "generated, minimised", Cluster: small.Cluster,
			}
			var out bytes.Buffer
			require.NoError(t, c.Write(&out))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		}
	}
}
