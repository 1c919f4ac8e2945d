package campaign

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model"
)

// All cases of the corpus fit a campaign that pins no gates.
func TestCasesOf(t *testing.T) {
	require.Len(t, append(slices.Clone(casesOf("cases/", "")), casesOf("timelines/", "")...), len(corpus.Names()))
}

// Each case is picked about as often as any other one, and one more takes only what it is picked for itself.
func TestPick(t *testing.T) {
	all := casesOf("cases/", "")
	more, times, random := all[7], map[*corpus.Case]int{}, rand.New(rand.NewPCG(1, 2))
	fewer := slices.Delete(slices.Clone(all), 7, 8)
	for range 40 * len(all) {
		n := random.Uint64()
		picked := pick(all, n)
		times[picked]++
		if picked != more.Case {
			require.Same(t, picked, pick(fewer, n))
		}
	}
	for _, c := range all {
		require.InDelta(t, 40, times[c.Case], 30, c.Name)
	}
}

// Each case of the corpus comes twice as it is, with the gates of the campaign, and once with decoys, each timeline once, and soon: all cases
// before any comes again.
func TestAsIs(t *testing.T) {
	for _, gates := range []record.Gates{"", "GenericWorkload=true"} {
		came := map[string]int{}
		for n := range uint64(2000) {
			for _, folder := range []string{"cases/", "timelines/"} {
				c, look := asIs(7, n, folder, gates)
				if c == nil {
					continue
				}
				if folder == "cases/" {
					require.Equal(t, came[folder+c.Name], look)
				}
				if came[folder+c.Name]++; look != firstLook {
					require.GreaterOrEqual(t, len(came), len(casesOf("cases/", gates)))
				}
				if look == withDecoys {
					require.NotEmpty(t, cmp.Diff(c.Cluster, Generate(7, n, gates, "")), c.Name)
					asPinned(t, Generate(7, n, gates, ""), gates)
					continue
				}
				if folder == "cases/" {
					got := Generate(7, n, gates, "")
					asPinned(t, got, gates)
					want := c.Cluster.DeepCopy()
					pin(want, gates)
					require.Empty(t, cmp.Diff(want, got))
					continue
				}
				require.True(t, HasTimeline(7, n, 1, gates))
				got, err := GenerateTimeline(7, n, gates, "")
				require.NoError(t, err, c.Name)
				asPinned(t, got.Cluster, gates)
				require.Len(t, got.Steps, len(c.Timeline.Steps))
			}
		}
		require.Equal(t, len(casesOf("cases/", gates))+len(casesOf("timelines/", gates)), len(came))
		for name, times := range came {
			if strings.HasPrefix(name, "cases/") {
				times -= 2
			}
			require.Equal(t, 1, times, name)
		}
	}
	one, _ := asIs(1, firstAsIs, "cases/", "")
	other, _ := asIs(2, firstAsIs, "cases/", "")
	require.NotEqual(t, one, other, "each seed has its order")
}

// Of the clusters and timelines of a campaign a part are cases with a few changes, and those are as the gates of the
// campaign say.
func TestVaried(t *testing.T) {
	const clusters = 600
	for _, gates := range []record.Gates{"", record.Ungrouped, "GenericWorkload=true", "GenericWorkload=true,SchedulerAsyncPreemption=false"} {
		changed, timelines := 0, 0
		for n := range uint64(clusters) {
			n += 2000 // the corpus has come
			if c := ofCorpus(7, n, gates); c != nil {
				changed++
				require.Empty(t, cmp.Diff(c, Generate(7, n, gates, "")), "cluster %d with %s", n, gates)
				asPinned(t, c, gates)
			}
			if l := timelineOfCorpus(7, n, gates); l != nil {
				timelines++
				asPinned(t, l.Cluster, gates)
			}
		}
		require.InDelta(t, clusters/clustersToVaried, changed, clusters/clustersToVaried/4, "with %q", gates)
		require.InDelta(t, clusters/timelinesToVaried, timelines, clusters/timelinesToVaried/4, "with %q", gates)
	}
}

func asPinned(t *testing.T, c *model.Cluster, gates record.Gates) {
	t.Helper()
	for gate, on := range gates.Map() {
		require.Equal(t, on, c.Settings.FeatureGates[gate], gate)
	}
	if gates == record.Ungrouped {
		require.Len(t, c.Settings.FeatureGates, 1, "nothing that other releases do not know")
		require.Empty(t, c.Settings.Configuration)
		require.Empty(t, c.PreemptorGroup)
	}
}
