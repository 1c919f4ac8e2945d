package release_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// TestQuirksAreTransparent: an error in a filter of the specification is not taken for a known finding of the scheduler. Where a
// quirk makes no difference it says what the filter says, right or wrong; but where its cause is there, and comes to nothing, it may work
// that out by itself.
func TestQuirksAreTransparent(t *testing.T) {
	type tally struct{ asked, opaque int }
	type about struct{ quirk, plugin string }
	tallies := map[about]*tally{}
	rules := release.Linked.Rules()
	for seed := range uint64(testsize.Times(500)) {
		c := generators.Ungrouped(seed)
		for _, p := range rules.Plugins {
			documented := verdicts(rules, c, p.Name())
			if documented == nil {
				continue
			}
			for _, q := range ledger.QuirksOf(release.Linked) {
				if !maps.Equal(documented, verdicts(release.With(rules, q), c, p.Name())) {
					continue
				}
				of := about{string(q), p.Name()}
				if tallies[of] == nil {
					tallies[of] = &tally{}
				}
				tallies[of].asked++
				if !maps.Equal(verdicts(wrong(rules, p.Name()), c, p.Name()), verdicts(release.With(wrong(rules, p.Name()), q), c, p.Name())) {
					tallies[of].opaque++
				}
			}
		}
	}
	require.NotEmpty(t, tallies)
	for of, n := range tallies {
		require.LessOrEqual(t, 5*n.opaque, n.asked, "%s hides errors of %s in %d of %d clusters where it makes no difference", of.quirk, of.plugin, n.opaque, n.asked)
	}
}

// wrong are rules of which one filter says the opposite.
func wrong(r *answers.Rules, plugin string) *answers.Rules {
	out := r.Clone()
	out.Plugins = variant.On(out.Plugins, plugin, variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if st == nil {
			return nil, a
		}
		return variant.Judge{State: st, Verdict: func(n *filter.Node, v filter.View) *filter.Verdict {
			if st.Fits(n, v) != nil {
				return nil
			}
			return filter.Resolvable("wrong")
		}}, a
	}))
	return out
}

// verdicts tells by node whether a filter passes the preemptor there, as the node is and without its pods; nil if it has nothing to say.
func verdicts(r *answers.Rules, c *model.Cluster, plugin string) map[string]bool {
	cy := r.NewCycle(c)
	st := cy.State(plugin)
	if st == nil {
		return nil
	}
	fits := map[string]bool{}
	for _, n := range cy.Nodes {
		var moves []filter.Move
		for _, p := range n.Pods {
			moves = append(moves, filter.Move{Pod: p})
		}
		fits[n.Name] = st.Fits(n, filter.View{Pods: n.Pods}) == nil
		fits[n.Name+", emptied"] = st.Fits(n, filter.View{Moves: moves}) == nil
	}
	return fits
}
