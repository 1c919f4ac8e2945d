package variation_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// witnesses are timelines of the corpus of which each relation has something to compare.
var witnesses = map[string]string{"any-order-of-deliveries": "told-in-any-order", "failures-cost-no-pod": "failed-binding-costs-no-pod"}

// lie is what a lying scheduler says of one of the two lives.
type lie struct {
	inVariation bool
	tell        func(t *timeline.Trace)
}

// lies are those of each relation, by name.
var lies = map[string]map[string]lie{
	"any-order-of-deliveries": {
		"forgets a pod in one order":       {true, atRest("default/more", func(p *timeline.PodState) { p.Node = "" })},
		"deletes a pod in one order":       {false, atRest("default/more", func(p *timeline.PodState) { p.Exists = false })},
		"keeps a nomination in one order":  {true, atRest("default/less", func(p *timeline.PodState) { p.Nominated = "node-1" })},
		"takes another node in one order":  {false, atRest("default/more", func(p *timeline.PodState) { p.Node = "node-2" })},
		"never comes to rest in one order": {true, func(t *timeline.Trace) { t.Quiet, t.Endless = nil, "it goes on" }},
	},
	"failures-cost-no-pod": {
		"gives a pod up after a failure": {false, atRest("default/more", func(p *timeline.PodState) { p.Node = "" })},
		"gives a pod up that could preempt": {false, func(t *timeline.Trace) {
			atRest("default/more", func(p *timeline.PodState) { p.Node = "" })(t)
			for i := range t.Entries { // the victim is still there
				if e := &t.Entries[i]; e.What == timeline.Stored && e.Object == "Pod default/v" && e.Is == nil {
					e.What = timeline.Told
				}
			}
			stays(t, "default/v")
		}},
		"deletes a pod for a lesser one after a failure": {false, func(t *timeline.Trace) {
			atRest("default/more", func(p *timeline.PodState) { p.Exists = false })(t)
			t.Entries = slices.Insert(t.Entries, t.FlushedAt-1, timeline.Entry{What: timeline.Called, Call: timeline.Evict, Object: "Pod default/more", By: "default/less"})
			t.FlushedAt++
		}},
		"keeps a nomination after a failure": {false, func(t *timeline.Trace) {
			for i := range t.Flushed.Pods {
				if p := &t.Flushed.Pods[i]; p.Name == "default/less" {
					p.Nominated = "node-1"
				}
			}
		}},
		"never ends without a failure": {true, func(t *timeline.Trace) { t.Quiet, t.Endless = nil, "it goes on" }},
	},
}

// stays makes a pod one that does not terminate, wherever it is stored.
func stays(t *timeline.Trace, name string) {
	for i := range t.Entries {
		e := &t.Entries[i]
		if p, ok := e.Is.(*v1.Pod); ok && e.What == timeline.Stored && e.Pod() == name {
			p = p.DeepCopy()
			p.DeletionTimestamp, p.Status.Conditions = nil, nil
			e.Is = p
		}
	}
}

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
				if runs++; lies[r.Name][name].inVariation == (runs == 2) && err == nil {
					lies[r.Name][name].tell(trace)
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
	explained := []lifetime.Finding{{Property: "gate-opens", Pod: "default/less", Known: []string{known.VainPreemption}}, {Property: "one-queue", Pod: "default/less"}}
	findings, _, err := r.Check(t.Context(), lied, l, explained)
	require.NoError(t, err)
	require.Equal(t, []string{known.VainPreemption}, findings[0].Known)
}

// TestSomethingToCompare: of the timelines that are drawn, each relation has something to compare
// in at least so many, and finds nothing new in them.
func TestSomethingToCompare(t *testing.T) {
	const drawn = 150
	floors := map[string]int{"any-order-of-deliveries": 45, "any-order-of-deliveries, with another trace": 45, "any-order-of-deliveries, and pods bound or preempted later": 25,
		"failures-cost-no-pod": 20, "failures-cost-no-pod, with another trace": 20, "failures-cost-no-pod, with another end": 3}
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
			if other.Quiet != nil && trace.Quiet.Outcome() != other.Quiet.Outcome() {
				count[r.Name+", with another end"]++
			}
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
