package relation

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

// hasty lies about a pod that comes after its twin.
type hasty struct {
	reference.StressSystem
	tell func(o *model.Observation)
	late bool // it lies only about one that comes a second after
}

func (h hasty) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	o, err := h.StressSystem.ObserveUnder(ctx, c, under)
	if err == nil && under.Twin && o.Aftermath != nil && h.late == (under.Tainted != "") {
		h.tell(o)
	}
	return o, err
}

func TestTwinsAgree(t *testing.T) {
	system := checktest.System(t).(reference.StressSystem)
	fitting, hints, worse := 0, 0, 0
	for seed := range uint64(testsize.Times(3000)) {
		c := generators.FromSeed(seed)
		checker := &properties.Checker{System: system, Properties: []properties.Property{TwinsAgree}}
		r, err := checker.Check(t.Context(), c)
		require.NoError(t, err, "seed %d", seed)
		for _, f := range r.Findings {
			require.True(t, f.Property != TwinsAgree.Name || len(f.Known) > 0, "seed %d: %v", seed, f)
		}
		if r.Observation != nil && r.Observation.ScheduledTo != "" {
			fitting++
		}
		if r.Reached[properties.HintUsed] {
			hints++
		}
		if r.Reached[properties.HintWorse] {
			worse++
		}
	}
	t.Logf("%d fit, %d by a hint, which is worse a second later for %d", fitting, hints, worse)
	require.Greater(t, 20*hints, fitting)
	require.Greater(t, 3*worse, hints)

	// The first of two equal pods goes to node-1, the second to node-2, which is better
	// than node-3.
	c := mk.Cluster(mk.Pod("p", 10, mk.CPU("2")), mk.Node("node-1", "8"), mk.Node("node-2", "6"), mk.Node("node-3", "4"), mk.Node("node-4", "2"))
	for _, lie := range []struct {
		name string
		tell func(o *model.Observation)
		late bool
	}{
		{name: "a hint is taken though its node is full by now", tell: func(o *model.Observation) { o.ScheduledTo = "node-5" }},
		{name: "a hint is taken though another node is better by now", tell: func(o *model.Observation) { o.ScheduledTo = "node-4" }},
		{name: "the pod of a hint is lost", tell: func(o *model.Observation) { o.ScheduledTo = "" }},
		{name: "a hint leads to a panic", tell: func(o *model.Observation) { o.Crash = &model.Crash{Kind: model.Panic, Message: "oops", Where: "x"} }},
		{name: "a hint outlives a change", tell: func(o *model.Observation) { o.ScheduledTo = "node-2" }, late: true},
	} {
		require.Contains(t, TwinsAgree.Lies, lie.name)
		findings, err := TwinsAgree.Findings(checktest.Subject(t, system, c))
		require.NoError(t, err)
		require.Empty(t, findings, "the truth")
		findings, err = TwinsAgree.Findings(checktest.Subject(t, hasty{system, lie.tell, lie.late}, c))
		require.NoError(t, err)
		require.NotEmpty(t, findings, lie.name)
	}
	require.Len(t, TwinsAgree.Lies, 5)
}
