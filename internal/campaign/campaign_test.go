package campaign

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

func careless(s reference.System) reference.System {
	return checktest.Liar{System: s, Tell: checktest.Careless}
}

func honest(s reference.System) reference.System { return s }

// options are those of a campaign against a system that misbehaves as wrap says,
// with only the differential.
func options(t *testing.T, dir string, wrap func(reference.System) reference.System) Options {
	checker := func() (*properties.Checker, error) {
		return &properties.Checker{System: wrap(inprocess.New())}, nil
	}
	c := &properties.Checker{System: wrap(reference.NewPool(inprocess.New(), inprocess.New(), inprocess.New()))}
	t.Cleanup(func() { c.System.Close() })
	return Options{Dir: dir, Workers: 2, Launch: inProcess(checker), Checker: c, MinimiseFor: MinimiseFor}
}

func run(t *testing.T, config record.Config, o Options) *record.State {
	t.Helper()
	s, err := Run(t.Context(), config, o)
	require.NoError(t, err)
	kept, err := record.Load(o.Dir)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(text(t, kept), text(t, s)), "what is kept is what is returned")
	return s
}

func text(t *testing.T, v any) string {
	data, err := json.MarshalIndent(v, "", " ")
	require.NoError(t, err)
	return string(data)
}

// differences are those between two campaigns, but for how long they took, and for
// what depends on which of equally good nodes the scheduler happened to pick.
func differences(t *testing.T, a, b *record.State) string {
	reproducible := func(s *record.State) string {
		var c record.State
		require.NoError(t, json.Unmarshal([]byte(text(t, s)), &c))
		c.Sessions, c.Samples, c.Deaths = nil, nil, 0
		for _, f := range append(c.Findings, c.Canary.Findings...) {
			f.FoundAfter, f.Minimised.Seconds = 0, 0
		}
		c.Stats = reproducibleStats(&c.Stats)
		return text(t, c)
	}
	return cmp.Diff(reproducible(a), reproducible(b))
}

func reproducibleStats(s *probe.Stats) probe.Stats {
	return probe.Stats{
		Clusters: s.Clusters, Scheduled: s.Scheduled, Ineligible: s.Ineligible, NotHelpful: s.NotHelpful, Preempted: s.Preempted, Broken: s.Broken, InError: s.InError,
		SeveralCandidates: s.SeveralCandidates, DecidedBy: s.DecidedBy, Findings: s.Findings, Exercised: s.Exercised,
	}
}

func TestNothingFound(t *testing.T) {
	dir := t.TempDir()
	killed := filepath.Join(dir, ".tmp-"+record.StateFile+"123")
	require.NoError(t, os.WriteFile(killed, []byte("{"), 0o600))
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck"}, func() Options {
		o := options(t, dir, honest)
		o.Cases = 300
		return o
	}())
	require.Equal(t, 300, s.Stats.Clusters)
	require.Empty(t, s.Findings)
	require.Equal(t, 1, s.Canary.Lies)
	require.Equal(t, 1, s.Canary.Caught)
	require.Len(t, s.Canary.Findings, 1)
	require.Equal(t, minimize.Size{Nodes: 1, Pods: 1, Budgets: 0}, s.Canary.Findings[0].Minimised.To)
	require.NoFileExists(t, killed, "nobody is writing it any more")
}

// Many clusters with one cause are one finding, which is small, and a case that
// shows it.
func TestEachCauseOnce(t *testing.T) {
	o := options(t, t.TempDir(), careless)
	o.Cases = 4 * record.BlockSize
	// A victim that is overlooked is another finding where it should go with others.
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck", FeatureGates: record.Ungrouped}, o)
	require.Len(t, s.Findings, 2)
	require.Greater(t, s.Stats.Findings, 30)
	require.Equal(t, s.Stats.Findings, s.Findings[0].Count+s.Findings[1].Count)
	for _, f := range s.Findings {
		require.True(t, f.Minimised.Minimal)
		require.Equal(t, 1, f.Minimised.To.Nodes)
		require.LessOrEqual(t, f.Minimised.To.Pods, 2)
		stream, err := corpus.Load(filepath.Join(o.Dir, f.File))
		require.NoError(t, err)
		c := stream.Cases[0]
		require.Equal(t, f.Explanation, c.Description)
		require.Contains(t, c.Finding.Found, "preemptcheck generate --feature-gates GenericWorkload=false --seed 1 --first ")
		r, err := o.Checker.Check(t.Context(), c.Cluster)
		require.NoError(t, err)
		require.Equal(t, f.Identity.Stage, r.Unexplained()[0].Stage)
		require.Contains(t, f.Detail, r.Unexplained()[0].Detail)
	}
}

// What comes out does not depend on the workers, or on interruptions.
func TestResumedCampaignIsTheSame(t *testing.T) {
	config := record.Config{Seed: 7, Command: "preemptcheck"}
	o := options(t, t.TempDir(), careless)
	o.Cases, o.Workers = 4*record.BlockSize, 1
	want := run(t, config, o)

	o = options(t, t.TempDir(), careless)
	o.Cases, o.Workers = 4*record.BlockSize, 3
	for {
		ctx, interrupt := context.WithCancel(t.Context())
		o.Progress = func(*record.State) { interrupt() }
		got, err := Run(ctx, config, o)
		require.NoError(t, err)
		interrupt()
		if o.Resume = true; got.Next == o.Cases {
			require.Empty(t, differences(t, want, got))
			require.Greater(t, len(got.Sessions), 2)
			break
		}
	}
}

// A crash after the state was written and before its cases were, or while they
// were, loses nothing and saves nothing twice.
func TestCrashWhileSaving(t *testing.T) {
	o := options(t, t.TempDir(), careless)
	o.Cases = 2 * record.BlockSize
	s := run(t, record.Config{Seed: 1, Command: "preemptcheck", FeatureGates: record.Ungrouped}, o)
	require.Len(t, s.Findings, 2)
	files := entries(t, o.Dir)

	crashed := *s
	crashed.Findings = nil
	for i, f := range s.Findings {
		before := *f
		before.File = ""
		crashed.Findings = append(crashed.Findings, &before)
		if i == 0 {
			require.NoError(t, os.Remove(filepath.Join(o.Dir, f.File)))
		}
	}
	require.NoError(t, crashed.Save(o.Dir))
	o.Resume = true
	require.Empty(t, differences(t, s, run(t, s.Config, o)))
	require.Equal(t, files, entries(t, o.Dir))
}

func entries(t *testing.T, dir string) []string {
	list, err := os.ReadDir(dir)
	require.NoError(t, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestShardsHaveEachClusterOnce(t *testing.T) {
	seen := map[uint64]int{}
	for i := 1; i <= 3; i++ {
		shard, err := record.ParseShard([]string{"1/3", "2/3", "3/3"}[i-1])
		require.NoError(t, err)
		for n := range uint64(4 * record.BlockSize) {
			seen[shard.Number(n)]++
		}
	}
	require.Len(t, seen, 3*4*record.BlockSize)
	for n := range uint64(3 * 4 * record.BlockSize) {
		require.Equal(t, 1, seen[n], n)
	}
	for _, bad := range []string{"0/3", "4/3", "1", "a/b", "1/2/3", "-1/2"} {
		_, err := record.ParseShard(bad)
		require.Error(t, err, bad)
	}
}

// The shards of a seed, merged, are the campaign over the whole seed.
func TestMergedShardsAreTheWhole(t *testing.T) {
	o := options(t, t.TempDir(), careless)
	o.Cases = 3 * record.BlockSize
	whole := run(t, record.Config{Seed: 3, Shard: record.Shard{Index: 1, Of: 1}, Command: "preemptcheck"}, o)
	var dirs []string
	for i := 1; i <= 3; i++ {
		o = options(t, t.TempDir(), careless)
		o.Cases = record.BlockSize
		run(t, record.Config{Seed: 3, Shard: record.Shard{Index: i, Of: 3}, Command: "preemptcheck"}, o)
		dirs = append(dirs, o.Dir)
	}
	into := filepath.Join(t.TempDir(), "merged", "here")
	merged, err := record.Merge(into, dirs, record.Load)
	require.NoError(t, err)
	require.Equal(t, reproducibleStats(&whole.Stats), reproducibleStats(&merged.Stats))
	require.Equal(t, whole.Next, merged.Next)
	require.Len(t, merged.Findings, len(whole.Findings))
	counts := map[string]int{}
	for _, f := range whole.Findings {
		counts[f.Identity.String()] = f.Count
	}
	for _, f := range merged.Findings {
		require.Equal(t, counts[f.Identity.String()], f.Count, f.Identity)
		require.FileExists(t, filepath.Join(into, f.File))
	}

	_, err = record.Merge(into, dirs, record.Load)
	require.ErrorContains(t, err, "is there already")
	_, err = record.Merge(filepath.Join(t.TempDir(), "twice"), []string{dirs[0], dirs[0]}, record.Load)
	require.ErrorContains(t, err, "checked some of the same clusters")
	_, err = record.Merge(filepath.Join(t.TempDir(), "again"), []string{into, dirs[1]}, record.Load)
	require.ErrorContains(t, err, "checked some of the same clusters")
	_, err = record.Merge(filepath.Join(t.TempDir(), "none"), []string{t.TempDir()}, record.Load)
	require.ErrorContains(t, err, "there is no campaign in it")
	o.Dir, o.Resume = into, true
	_, err = Run(t.Context(), merged.Config, o)
	require.ErrorContains(t, err, "was merged")
}

func TestCannotBegin(t *testing.T) {
	o := options(t, t.TempDir(), honest)
	o.Resume = true
	_, err := Run(t.Context(), record.Config{Seed: 1}, o)
	require.ErrorContains(t, err, "there is no campaign in it")
	o.Resume, o.Cases = false, 1
	run(t, record.Config{Seed: 1}, o)
	_, err = Run(t.Context(), record.Config{Seed: 1}, o)
	require.ErrorContains(t, err, "go on with it with --resume")
	o.Resume = true
	_, err = Run(t.Context(), record.Config{Seed: 2}, o)
	require.ErrorContains(t, err, "holds another campaign")
	require.NoError(t, os.WriteFile(filepath.Join(o.Dir, record.StateFile), []byte("{"), 0o644))
	_, err = Run(t.Context(), record.Config{Seed: 1}, o)
	require.ErrorContains(t, err, record.StateFile+": ")
}
