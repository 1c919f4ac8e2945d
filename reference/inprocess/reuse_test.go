package inprocess

import (
	"context"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
)

func observe(t testing.TB, s *System, c *model.Cluster) *model.Observation {
	t.Helper()
	obs, err := s.Observe(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return obs
}

// TestReuseNeverLeaks runs clusters one after the other on one System, and each a
// second time there, from the last to the first: what comes before it is another
// cluster then. Every fourth is also run on a scheduler of its own.
func TestReuseNeverLeaks(t *testing.T) {
	reused := New()
	defer reused.Close()
	r := rand.New(rand.NewSource(1))
	seen := map[string]int{}
	clusters := make([]*model.Cluster, testsize.Times(2000))
	first := make([]*model.Observation, len(clusters))
	for i := range clusters {
		c := randomCluster(r)
		if i%3 == 0 { // extenders are put into a scheduler that others use
			some := func() []string { return []string{c.Nodes[r.Intn(len(c.Nodes))].Name} }
			c.Settings.Extenders = []model.Extender{{Name: "e", Filter: &model.ExtenderFilter{Rejects: some(), Excludes: some()}, Preempt: &model.ExtenderPreempt{Drops: some()}}}
			seen["extenders"]++
		}
		before := deepCopy(c)
		clusters[i], first[i] = c, observe(t, reused, c)
		if !reflect.DeepEqual(before, c) {
			t.Fatalf("cluster %d was changed:\n%s", i, cmp.Diff(before, c))
		}
		if i%4 == 0 {
			fresh := New()
			requireSame(t, i, observe(t, fresh, c), first[i])
			fresh.Close()
		}
		count(seen, first[i])
	}
	for i, c := range slices.Backward(clusters) {
		requireSame(t, i, first[i], observe(t, reused, c))
	}
	t.Log(seen)
	for _, kind := range []string{"fits", "not eligible", "preempts", "preempts, 2+ candidates", "no candidate", "violates", "clears a nomination"} {
		if seen[kind] < len(clusters)/100 {
			t.Errorf("only %d clusters of kind %q: the test shows little", seen[kind], kind)
		}
	}
}

func requireSame(t *testing.T, cluster int, want, got *model.Observation) {
	t.Helper()
	if reflect.DeepEqual(want, got) {
		return
	}
	if diff := cmp.Diff(want, got, alike); diff != "" { // which takes much longer
		t.Fatalf("cluster %d depends on what was asked before:\n%s", cluster, diff)
	}
}

// TestReuseNeverLeaksClaims: the scheduler keeps claims in a cache of its own, and
// what devices they take in another.
func TestReuseNeverLeaksClaims(t *testing.T) {
	reused := New()
	defer reused.Close()
	clusters, rejected, deallocated := 0, 0, 0
	for seed := uint64(0); clusters < testsize.Times(200); seed++ {
		c := generators.FromSeed(seed)
		c.Settings.Parallelism = nil // several workers list candidates in any order
		if !device.Uses(c.Extra, c.Preemptor) {
			observe(t, reused, c)
			continue
		}
		clusters++
		fresh := New()
		want, got := observe(t, fresh, c), observe(t, reused, c)
		fresh.Close()
		if want.Actuation != nil && len(want.Actuation.Deallocated) > 0 {
			deallocated++
		}
		if diff := cmp.Diff(untilChance(want), untilChance(got), alike); diff != "" {
			t.Fatalf("seed %d: fresh (-) and reused (+) schedulers differ:\n%s", seed, diff)
		}
		for _, v := range got.Filters {
			if v.Plugin == "DynamicResources" {
				rejected++
				break
			}
		}
	}
	if rejected < clusters/20 || deallocated == 0 {
		t.Errorf("of %d clusters claims decide %d, and %d deallocate one: the test shows little", clusters, rejected, deallocated)
	}
}

// untilChance is what was observed up to where chance decides: between nodes that
// fit, candidates that tie and idle claims. Of that, it is whether there is any.
func untilChance(o *model.Observation) *model.Observation {
	out := *o
	out.Pick, out.Actuation, out.Aftermath, out.PostFilterMessage = nil, nil, nil, ""
	if o.ScheduledTo != "" {
		out.ScheduledTo = "some node"
	}
	if o.Pick != nil {
		out.Pick = &model.Pick{}
	}
	if o.Actuation != nil {
		out.Actuation = &model.Actuation{Nomination: o.Actuation.Nomination, Deallocated: o.Actuation.Deallocated[:0:0], Other: o.Actuation.Other}
		for range o.Actuation.Deallocated {
			out.Actuation.Deallocated = append(out.Actuation.Deallocated, "some claim")
		}
	}
	return &out
}

func count(seen map[string]int, o *model.Observation) {
	switch {
	case o.ScheduledTo != "":
		seen["fits"]++
	case o.Eligible != nil && !o.Eligible.OK:
		seen["not eligible"]++
	case o.Pick == nil:
		seen["no candidate"]++
	default:
		seen["preempts"]++
		if len(o.Candidates) > 1 {
			seen["preempts, 2+ candidates"]++
		}
		if o.Pick.Violations > 0 {
			seen["violates"]++
		}
		if len(o.Actuation.Cleared) > 0 {
			seen["clears a nomination"]++
		}
	}
}

func deepCopy(c *model.Cluster) *model.Cluster {
	d := *c
	d.Nodes, d.Pods, d.PodDisruptionBudgets = nil, nil, nil
	for _, n := range c.Nodes {
		d.Nodes = append(d.Nodes, n.DeepCopy())
	}
	for _, p := range c.Pods {
		d.Pods = append(d.Pods, p.DeepCopy())
	}
	for _, b := range c.PodDisruptionBudgets {
		d.PodDisruptionBudgets = append(d.PodDisruptionBudgets, b.DeepCopy())
	}
	d.Preemptor = c.Preemptor.DeepCopy()
	return &d
}

// TestReuseAfterLargeCluster: with more than 100 nodes the search for a fit begins
// where the one before ended.
func TestReuseAfterLargeCluster(t *testing.T) {
	c := &model.Cluster{Preemptor: pod("preemptor", 0, 1)}
	for i := range 150 {
		c.Nodes = append(c.Nodes, node(fmt.Sprintf("n%03d", i), int64(i%2)))
	}
	s := New()
	defer s.Close()
	first := observe(t, s, c)
	if diff := cmp.Diff(first, observe(t, s, c)); diff != "" {
		t.Errorf("the second time differs:\n%s", diff)
	}
	if len(first.Filters) == 0 || first.ScheduledTo == "" {
		t.Errorf("filtered %d nodes, scheduled to %q", len(first.Filters), first.ScheduledTo)
	}
}

// TestCloseEndsGoroutines also covers the schedulers that are dropped because
// there are too many.
func TestCloseEndsGoroutines(t *testing.T) {
	before := runtime.NumGoroutine()
	s := New()
	for i := range maxSchedulers + 3 {
		n := int32(i + 1)
		observe(t, s, &model.Cluster{Nodes: []*v1.Node{node("n", 1)}, Preemptor: pod("p", 0, 1), Settings: model.Settings{MinCandidateNodesAbsolute: &n}})
	}
	if len(s.schedulers) != maxSchedulers {
		t.Errorf("keeps %d schedulers, want %d", len(s.schedulers), maxSchedulers)
	}
	per := float64(runtime.NumGoroutine()-before) / maxSchedulers
	s.Close()
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
	t.Logf("%.1f goroutines per scheduler", per)
}

// TestSchedulersAreFreed: a scheduler that has ended is garbage, whatever it did.
func TestSchedulersAreFreed(t *testing.T) {
	var ended []weak.Pointer[scheduler]
	for seed := range uint64(testsize.Times(100)) {
		s := New()
		if o := observe(t, s, generators.FromSeed(seed)); o.Crash != nil {
			require.NotEqual(t, model.Hang, o.Crash.Kind, "seed %d: %s", seed, o.Crash) // what hangs is never freed
		}
		for _, e := range s.schedulers {
			ended = append(ended, weak.Make(e.scheduler))
		}
		s.Close()
	}
	left := len(ended)
	for deadline := time.Now().Add(time.Minute); left > 0 && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		runtime.GC()
		left = 0
		for _, p := range ended {
			if p.Value() != nil {
				left++
			}
		}
	}
	require.Zero(t, left, "of %d schedulers that ended some are left", len(ended))
}
