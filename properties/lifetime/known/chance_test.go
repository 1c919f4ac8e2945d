package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestLeftToChance: that a group preempts only at the flush is due to a finding of its last attempt before that, which leaves to
// chance what comes of it, and to no other finding of that attempt, of one before, or of another scheduler.
func TestLeftToChance(t *testing.T) {
	s, err := corpus.Load("testdata/chance-helps-a-group-at-last.yaml")
	require.NoError(t, err)
	l, is := (*lifetime.Life)(nil), known.Broken{}
	for range 30 { // it is left to chance, and comes in most runs
		l = &lifetime.Life{Timeline: s.Cases[0].Timeline}
		l.Trace, err = life.Run(t.Context(), l.Timeline)
		require.NoError(t, err)
		findings := lifetime.Check(l)
		if i := slices.IndexFunc(findings, func(f lifetime.Finding) bool { return f.Property == "no-wait-for-the-flush" }); i >= 0 {
			require.Contains(t, findings[i].Known, string(release.LeastOfTwoDomains))
			is = known.Broken{Property: findings[i].Property, Kind: findings[i].Kind, Pod: findings[i].Pod, Entry: findings[i].Entry}
			break
		}
	}
	require.NotEmpty(t, is.Pod)
	explained := func(change func(l *known.Life)) []string {
		in := known.Life{Timeline: l.Timeline, Trace: l.Trace, Release: release.Linked}
		for _, f := range lifetime.Check(l) {
			if f.Property == "group-goes-as-told" {
				in.Cycles = append(in.Cycles, known.Broken{Property: f.Property, Kind: f.Kind, Pod: f.Pod, Entry: f.Entry, Known: slices.Clone(f.Known)})
			}
		}
		change(&in)
		return in.Explain(&is)
	}
	last := func(in *known.Life) int {
		i := len(in.Cycles) - 1
		for in.Cycles[i].Entry >= in.Trace.FlushedAt {
			i--
		}
		return i
	}
	require.NotEmpty(t, explained(func(*known.Life) {}))
	require.Empty(t, explained(func(in *known.Life) { in.Cycles[last(in)].Known = []string{known.LateDeletion} }), "another finding")
	require.Empty(t, explained(func(in *known.Life) { in.Cycles = slices.Delete(in.Cycles, last(in), last(in)+1) }), "of an attempt before")
	require.Empty(t, explained(func(in *known.Life) {
		at := in.Cycles[last(in)].Entry + 1
		trace := *in.Trace
		trace.Entries, trace.FlushedAt = slices.Insert(slices.Clone(trace.Entries), at, timeline.Entry{What: timeline.TakenOver}), trace.FlushedAt+1
		in.Trace = &trace
	}), "of another scheduler")
}
