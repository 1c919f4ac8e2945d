package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func world(t *testing.T, name string) World {
	all := Worlds()
	i := slices.IndexFunc(all, func(w World) bool { return w.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	return all[i]
}

// TestExhaust: the scheduler gets through all orders, and one that is seen to have a pod in two
// queues does not.
func TestExhaust(t *testing.T) {
	var text bytes.Buffer
	e := exhaustion{run: life.Watch, found: &text, progress: io.Discard}
	require.NoError(t, e.all(t.Context(), Worlds(), 3))
	e.report(&text)
	require.Zero(t, e.new, text.String())
	require.Contains(t, text.String(), "the victim goes: 12 orders of up to 3 choices, gone through by 11")
	require.Regexp(t, `a victim in Permit: .* victim-back-in-queue-wakes-nobody in`, text.String())

	e = exhaustion{found: &text, progress: io.Discard}
	e.run = func(ctx context.Context, tl *timeline.Timeline, after func(int, []timeline.Place)) (*timeline.Trace, error) {
		trace, err := life.Watch(ctx, tl, after)
		if err == nil && len(trace.Quiet.Pods) > 0 {
			trace.Quiet.Pods[0].Queues = []model.Queue{model.QueueActive, model.QueueBackoff}
		}
		return trace, err
	}
	require.NoError(t, e.all(t.Context(), []World{world(t, "the victim goes")}, 1))
	require.Positive(t, e.new)
	require.Contains(t, text.String(), "one-queue")
	require.Contains(t, text.String(), "kind: Timeline")
}

// TestStopped: what was gone through before it was stopped is told.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var text bytes.Buffer
	var runs atomic.Int32
	e := exhaustion{found: io.Discard, progress: io.Discard}
	e.run = func(ctx context.Context, tl *timeline.Timeline, after func(int, []timeline.Place)) (*timeline.Trace, error) {
		if runs.Add(1) == 9 { // before any choice 1, then 2, then 4
			stop()
		}
		return life.Watch(ctx, tl, after)
	}
	require.ErrorIs(t, e.all(ctx, []World{world(t, "the victim goes")}, 9), context.Canceled)
	e.report(&text)
	require.Contains(t, text.String(), "the victim goes: 6 orders of up to 2 choices, gone through by 6,")
}

// exhausted are all orders of a world that are gone through.
func exhausted(t *testing.T, w World, bound int, independent func(a, b touches) bool) (all []*order, stands int) {
	e := exhaustion{run: life.Watch, found: io.Discard, progress: io.Discard}
	e.known, e.visited, e.shown = map[string]map[string]int{}, map[string]int{}, map[string]bool{}
	require.NoError(t, w.admit())
	s, err := newSearch(t.Context(), &w, e.visit)
	require.NoError(t, err)
	s.independent = independent
	for range bound {
		require.NoError(t, s.longer(t.Context()))
		all = append(all, s.frontier...)
	}
	return all, s.all
}

// class is the same of two orders that differ only in the order of independent choices: its layers
// of choices that do not follow one another (the normal form of Cartier and Foata).
func class(o *order, independent func(a, b touches) bool) string {
	var layers [][]string
	layer := make([]int, len(o.choices))
	seen := map[string]int{}
	for i, before := range o.before(independent) {
		for j := range i {
			if before&(1<<j) != 0 {
				layer[i] = max(layer[i], layer[j]+1)
			}
		}
		if layer[i] == len(layers) {
			layers = append(layers, nil)
		}
		key := o.choices[i].key
		seen[key]++
		layers[layer[i]] = append(layers[layer[i]], fmt.Sprint(key, " ", seen[key]))
	}
	for _, l := range layers {
		slices.Sort(l)
	}
	return fmt.Sprint(layers)
}

// unsound are pairs of orders that a relation takes for the same and that end differently.
func unsound(all []*order, independent func(a, b touches) bool) (classes int, pairs []string) {
	ends := map[string]*order{}
	for _, o := range all {
		is := class(o, independent)
		if other, ok := ends[is]; !ok {
			ends[is] = o
		} else if other.end != o.end {
			pairs = append(pairs, keys(other)+" and "+keys(o))
		}
	}
	return len(ends), pairs
}

func keys(o *order) string {
	var all []string
	for _, c := range o.choices {
		all = append(all, c.key)
	}
	return strings.Join(all, ", ")
}

func ends(all []*order) map[uint64]bool {
	set := map[uint64]bool{}
	for _, o := range all {
		set[o.end] = true
	}
	return set
}

// TestReduction: of orders that differ only in the order of independent choices, just one is gone
// through; all of them end the same way, with the same findings. So nothing is lost.
func TestReduction(t *testing.T) {
	never := func(a, b touches) bool { return false }
	for _, w := range Worlds() {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			bound := 3
			if slices.Contains([]string{"from the decision", "a more important preemptor"}, w.Name) {
				bound = 4
			}
			whole, n := exhausted(t, w, bound, never)
			require.Len(t, whole, n)
			classes, pairs := unsound(whole, independent)
			require.Empty(t, pairs)

			reduced, stands := exhausted(t, w, bound, independent)
			require.Len(t, reduced, classes)
			require.Equal(t, n, stands)
			require.Equal(t, ends(whole), ends(reduced))
		})
	}
}

// TestUnsoundReduction: the same shows that choices are not independent which are taken for it:
// if the API server and the order of events did not count, or what listers show, or anything of the
// scheduler.
func TestUnsoundReduction(t *testing.T) {
	never := func(a, b touches) bool { return false }
	whole, _ := exhausted(t, world(t, "from the decision"), 4, never)
	for name, part := range map[string]touches{"api": api | lister - arrival, "listers": everything &^ (lister - 1), "scheduler": everything&^(lister-1) | memory | budgets} {
		_, pairs := unsound(whole, func(a, b touches) bool {
			return a != everything && b != everything && (a&b)&^part == 0
		})
		require.NotEmpty(t, pairs, name)
	}
}
