package answers_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// What the stages of package model come to, one after another, is one of the answers
// that package answers works out from all choices.
func TestStagesGiveAnAllowedAnswer(t *testing.T) {
	picked, none := 0, 0
	for seed := range uint64(2000) {
		c := generators.FromSeed(seed)
		d, err := answers.Decide(c, answers.Documented())
		if err != nil || d.Eligible == nil || !d.Eligible.OK || d.Orders() > 5000 {
			continue
		}
		r := d.Preempt()
		o := &model.Observation{Actuation: r.Actuation}
		if claims := d.Deallocatable(); len(claims) > 0 {
			o.Actuation.Deallocated = claims[:1]
		}
		if r.Node == "" {
			none++
		} else {
			picked++
			o.Pick = &model.Pick{Node: r.Node, Victims: r.Candidates[r.Node].Victims, Violations: r.Candidates[r.Node].Violations}
			decidedBy := func(c answers.Choice) bool { return c.Node == r.Node }
			require.True(t, slices.ContainsFunc(d.Choices(), decidedBy), "seed %d: %s", seed, r.Node)
		}
		require.Nil(t, d.Admits(o), "seed %d", seed)
	}
	require.Greater(t, picked, 800)
	require.Greater(t, none, 50)
}
