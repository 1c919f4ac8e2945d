package variation_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// witnesses are timelines of the corpus of which each relation has something to compare, and lies
// are what a lying scheduler does in their variations.
var (
	witnesses = map[string]string{"any-order-of-deliveries": "told-in-any-order"}
	lies      = map[string]map[string]func(t *timeline.Trace){
		"any-order-of-deliveries": {
			"forgets a pod in one order":       atRest("default/more", func(p *timeline.PodState) { p.Node = "" }),
			"deletes a pod in one order":       atRest("default/more", func(p *timeline.PodState) { p.Exists = false }),
			"keeps a nomination in one order":  atRest("default/less", func(p *timeline.PodState) { p.Nominated = "node-1" }),
			"takes another node in one order":  atRest("default/more", func(p *timeline.PodState) { p.Node = "node-2" }),
			"never comes to rest in one order": func(t *timeline.Trace) { t.Quiet, t.Endless = nil, "it goes on" },
		},
	}
)

func atRest(pod string, lie func(p *timeline.PodState)) func(t *timeline.Trace) {
	return func(t *timeline.Trace) {
		for i := range t.Quiet.Pods {
			if t.Quiet.Pods[i].Name == pod {
				lie(&t.Quiet.Pods[i])
			}
		}
	}
}

func load(t *testing.T, name string) *timeline.Timeline {
	s, err := corpus.Load("../../../corpus/timelines/" + name + ".yaml")
	require.NoError(t, err)
	return s.Cases[0].Timeline
}

// TestLies: each relation notices each of its lies, and is quiet without one.
func TestLies(t *testing.T) {
	for _, r := range variation.All() {
		tl := load(t, witnesses[r.Name])
		require.Len(t, lies[r.Name], len(r.Lies), r.Name)
		_, findings, err := variation.Run(t.Context(), life.Run, tl, true)
		require.NoError(t, err)
		require.Empty(t, findings, "an honest scheduler")
		for _, name := range r.Lies {
			require.Contains(t, lies[r.Name], name)
			runs := 0
			liar := func(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
				trace, err := life.Run(ctx, t)
				if runs++; runs == 2 && err == nil {
					lies[r.Name][name](trace)
				}
				return trace, err
			}
			trace, err := liar(t.Context(), tl)
			require.NoError(t, err)
			findings, asked, err := r.Check(t.Context(), liar, &lifetime.Life{Timeline: tl, Trace: trace}, nil)
			require.NoError(t, err)
			require.True(t, asked)
			require.Len(t, findings, 1, "%s does not notice that a scheduler %s", r.Name, name)
			require.Equal(t, r.Name, findings[0].Property)
			require.NotEmpty(t, findings[0].Kind)
			require.Empty(t, findings[0].Known)
			require.True(t, variation.Is(r.Name))
		}
	}
	for _, p := range lifetime.All() {
		require.False(t, variation.Is(p.Name), p.Name)
	}
}

// TestKnown: what a known finding explains that shows in one of the two lives is no new finding.
func TestKnown(t *testing.T) {
	r := variation.All()[0]
	tl := load(t, witnesses[r.Name])
	lied := func(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
		trace, err := life.Run(ctx, t)
		atRest("default/more", func(p *timeline.PodState) { p.Node = "" })(trace)
		return trace, err
	}
	honest, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	l := &lifetime.Life{Timeline: tl, Trace: honest}
	known := []lifetime.Finding{{Property: "gate-opens", Pod: "default/less", Known: []string{lifetime.VainPreemption}}, {Property: "one-queue", Pod: "default/less"}}
	findings, _, err := r.Check(t.Context(), lied, l, known)
	require.NoError(t, err)
	require.Equal(t, []string{lifetime.VainPreemption}, findings[0].Known)
}

// TestSomethingToCompare: of the timelines that are drawn, each relation has something to compare
// in at least so many, and finds nothing new in them.
func TestSomethingToCompare(t *testing.T) {
	const drawn = 150
	floors := map[string]int{"any-order-of-deliveries": 45, "any-order-of-deliveries, with another trace": 45, "any-order-of-deliveries, and pods bound or preempted later": 25}
	count := map[string]int{}
	for seed := range uint64(drawn) {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err)
		l := &lifetime.Life{Timeline: tl, Trace: trace}
		for _, r := range variation.All() {
			var other *timeline.Trace
			findings, asked, err := r.Check(t.Context(), func(ctx context.Context, t *timeline.Timeline) (_ *timeline.Trace, err error) {
				other, err = life.Run(ctx, t)
				return other, err
			}, l, lifetime.Check(l))
			require.NoError(t, err)
			require.Empty(t, lifetime.Unexplained(findings), "seed %d", seed)
			if !asked {
				continue
			}
			count[r.Name]++
			from := differ(trace, other)
			if from < 0 {
				continue
			}
			count[r.Name+", with another trace"]++
			if slices.ContainsFunc(trace.Entries[from:trace.FlushedAt], func(e timeline.Entry) bool {
				return e.What == timeline.Fits || e.What == timeline.Decided && len(e.Victims) > 0
			}) {
				count[r.Name+", and pods bound or preempted later"]++
			}
		}
	}
	for what, floor := range floors {
		assert.GreaterOrEqual(t, count[what], floor, what)
	}
}

// differ is the first entry in which two traces differ; -1 if there is none.
func differ(a, b *timeline.Trace) int {
	for i := range min(len(a.Entries), len(b.Entries)) {
		if a.Entries[i].String() != b.Entries[i].String() {
			return i
		}
	}
	return -1
}
