package fingerprint_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/steps"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// masked are the findings of a timeline that the known finding alone explains, as if it were not
// known.
func masked(ctx context.Context, tl *timeline.Timeline, known string) (*lifetime.Life, []lifetime.Finding, error) {
	trace, err := life.Run(ctx, tl)
	if err != nil {
		return nil, nil, err
	}
	l := &lifetime.Life{Timeline: tl, Trace: trace}
	findings := slices.DeleteFunc(lifetime.Check(l), func(f lifetime.Finding) bool { return !slices.Equal(f.Known, []string{known}) })
	for i := range findings {
		findings[i].Known = nil
	}
	return l, findings, nil
}

// TestCausesApart: the known findings break the same promises in the same way. If they were not
// known, each would be a finding of its own.
func TestCausesApart(t *testing.T) {
	type cause struct{ known, shape string }
	causes := map[fingerprint.Fingerprint][]cause{}
	for _, e := range ledger.Timelines() {
		if !release.Linked.In(e.Releases) {
			continue
		}
		s, err := corpus.Load("../timelines/" + e.Witness + ".yaml")
		require.NoError(t, err)
		l, findings, err := masked(t.Context(), s.Cases[0].Timeline, e.ID)
		require.NoError(t, err)
		require.NotEmpty(t, findings, e.ID)
		for i := range findings {
			identity := fingerprint.IdentifyLife(&findings[i], l)
			for _, other := range causes[identity.Fingerprint] {
				if other.known != e.ID {
					require.NotEqual(t, other.shape, identity.Shape, "%s and %s: %s", other.known, e.ID, identity)
				}
			}
			causes[identity.Fingerprint] = append(causes[identity.Fingerprint], cause{e.ID, identity.Shape})
			require.NotRegexp(t, `[0-9/]`, identity.Shape, "no names and numbers")
		}
	}
	flush := causes[fingerprint.Fingerprint{Property: "no-wait-for-the-flush", Kind: "fits"}]
	require.Greater(t, len(flush), 5)
}

// TestOneCauseIsOneFinding: however kubernetes#141694 comes about in timelines that are drawn, it is
// one finding of each promise that it breaks, and looks so before it is minimised.
func TestOneCauseIsOneFinding(t *testing.T) {
	drawn, small := map[string]bool{}, map[string]bool{}
	for seed, found := uint64(0), 0; found < 4; seed++ {
		require.Less(t, seed, uint64(5000), "no drawn timeline shows it")
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		l, findings, err := masked(t.Context(), tl, "gated-by-vain-preemption")
		require.NoError(t, err)
		if len(findings) == 0 {
			continue
		}
		found++
		f := findings[0]
		drawn[fingerprint.PresortLife(&f, l)] = true
		last := func(ctx context.Context, tl *timeline.Timeline) string {
			l, findings, err := masked(ctx, tl, "gated-by-vain-preemption")
			i := slices.IndexFunc(findings, func(g lifetime.Finding) bool { return fingerprint.OfLife(&g) == fingerprint.OfLife(&f) })
			if err != nil || i < 0 {
				return ""
			}
			return fingerprint.IdentifyLife(&findings[i], l).String()
		}
		m := steps.Minimise(t.Context(), tl, func(ctx context.Context, tl *timeline.Timeline) bool { return last(ctx, tl) != "" })
		small[last(t.Context(), m.Timeline)] = true
	}
	require.LessOrEqual(t, len(drawn), 3, "%v", drawn)
	require.LessOrEqual(t, len(small), 3, "%v", small)
}
