package record

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/reach"
)

// TestReached: a campaign with enough timelines that came to a situation too rarely is inconclusive,
// and says which it is, in all that it is told as. One with fewer timelines is not asked.
func TestReached(t *testing.T) {
	evict := reach.At(timeline.Evict, reach.Marked)
	campaign := func(timelines int, missing ...string) *Report {
		s := night()
		s.Stats.Timelines, s.Stats.Reached = timelines, allReached()
		s.Canary.Lives = Lies{Lies: 3, Caught: 3}
		for _, name := range missing {
			s.Stats.Reached[name] = 4
		}
		return s.Report("night")
	}
	require.Nil(t, night().Report("night").Reached)

	r := campaign(reach.Enough)
	require.Equal(t, Passed, r.Verdict)
	require.Zero(t, r.Short())
	require.Len(t, r.Reached, len(reach.Probes()))

	s := night()
	s.Config.FeatureGates, s.Stats.Timelines, s.Stats.Reached = Ungrouped, reach.Enough, map[string]int{}
	for _, p := range s.Report("night").Reached {
		require.NotContains(t, p.Name, "a group preempts")
	}
	s.Config.FeatureGates, s.Config.Reference = "", "v1.36.3"
	require.Len(t, s.Report("night").Reached, 145, "its timelines have no groups")

	r = campaign(reach.Enough-1, evict)
	require.Equal(t, Passed, r.Verdict)
	require.Zero(t, r.Short())
	var text bytes.Buffer
	r.WriteText(&text)
	require.Contains(t, text.String(), "1999 timelines; the floors are for 2000 or more")

	r = campaign(reach.Enough, evict, reach.Dies(reach.Marked), reach.Back)
	require.Equal(t, Inconclusive, r.Verdict)
	require.Equal(t, 3, r.Short())
	require.Equal(t, []string{"3 of 182 situations came about too rarely in timelines: goes on at evict while a victim is marked (4 of 5), " +
		"dies while a victim is marked (4 of 5), begins with an older view than the scheduler before it had (4 of 5)"}, r.Inconclusive)
	for name, write := range map[string]func(io.Writer){"text": r.WriteText, "probes": r.WriteProbes} {
		text.Reset()
		write(&text)
		require.Regexp(t, `(?m)^TIMELINES IN WHICH THE SCHEDULER WHILE +PREEMPTION BEGINS +PREEMPTS +VICTIM MARKED `, text.String(), name)
		require.Regexp(t, `(?m)^goes on at evict +16 +16 +4 < 5 +16 +16 +16 +16$`, text.String(), name)
		require.Regexp(t, `(?m)^dies +16 +16 +4 < 5 +16 +16 +16 +16$`, text.String(), name)
		require.Regexp(t, `(?m)^begins with an older view than the scheduler before it had +4 +< 5$`, text.String(), name)
		require.NotContains(t, text.String(), "the floors are for", name)
	}
	text.Reset()
	r.WriteAnnotations(&text)
	require.Contains(t, text.String(), "situations came about too rarely")
	require.Contains(t, r.markdown(), `| goes on at evict | 16 | 16 | 4 \< 5 | 16 | 16 | 16 | 16 |`)
	few := 0
	for _, c := range r.junit().Cases {
		if c.Error != nil && c.Error.Message == "came about in 4 timelines, of at least 5" {
			few++
		}
	}
	require.Equal(t, 3, few)
}

// allReached is that timelines came to each situation often enough.
func allReached() map[string]int {
	all := map[string]int{}
	for _, p := range reach.Probes() {
		all[p.Name] = p.Quota + 11
	}
	return all
}
