package life_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func load(t *testing.T) []*corpus.Case {
	s, err := corpus.Load("../../corpus/timelines")
	require.NoError(t, err)
	require.NotEmpty(t, s.Cases)
	return s.Cases
}

func run(t *testing.T, tl *timeline.Timeline) *timeline.Trace {
	t.Helper()
	trace, err := life.Run(t.Context(), tl)
	require.NoError(t, err)
	return trace
}

func drawn(t *testing.T, seed uint64) *timeline.Timeline {
	tl := timelines.FromSeed(seed)
	require.NoError(t, apiserver.Timeline(tl))
	return tl
}

// TestCorpus runs the timelines of the corpus: each goes as it says, and shows the known
// findings that it says, and no others.
func TestCorpus(t *testing.T) {
	witnessed := map[string]bool{}
	for _, c := range load(t) {
		t.Run(c.Name, func(t *testing.T) {
			trace := run(t, c.Timeline)
			require.Empty(t, trace.Unmet)
			var known []string
			for _, f := range lifetime.Check(&lifetime.Life{Timeline: c.Timeline, Trace: trace}) {
				require.NotEmpty(t, f.Known, f.String())
				known = append(known, f.Known...)
			}
			findings := slices.DeleteFunc(slices.Clone(c.Findings), func(id string) bool {
				e, ok := ledger.LookUp(id)
				return ok && !release.Linked.In(e.Releases) // mended
			})
			require.Subset(t, known, findings)
			require.Subset(t, findings, known)
			witnessed[c.Name] = true
		})
	}
	for _, e := range ledger.Timelines() {
		require.True(t, witnessed[e.Witness], "there is no timeline %s", e.Witness)
	}
}

// drawnAgain is how many timelines that are drawn are run as often as those of the corpus.
const drawnAgain = 25

// TestSameTrace: a timeline run again and again gives the same trace, byte for byte. "make same-traces"
// runs each 1,000 times.
func TestSameTrace(t *testing.T) {
	all := map[string]*timeline.Timeline{}
	for _, c := range load(t) {
		all[c.Name] = c.Timeline
	}
	for seed := range uint64(drawnAgain) {
		all[fmt.Sprintf("seed %d", seed)] = drawn(t, seed)
	}
	require.GreaterOrEqual(t, len(all), 50)
	times := testsize.Times(10)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		want := run(t, all[name]).String()
		for i := 1; i < times; i++ {
			if got := run(t, all[name]).String(); got != want {
				require.Equal(t, want, got, "%s, run %d", name, i+1)
			}
		}
	}
	t.Logf("%d timelines, %d times each", len(all), times)
}

// TestSameTraceOfMany: many timelines that are drawn give the same trace twice, with all that the
// text of a trace leaves out.
func TestSameTraceOfMany(t *testing.T) {
	for seed := range uint64(testsize.Times(100)) {
		sameTrace(t, drawn(t, seed), 2, seed)
	}
}

// TestSameTraceOfGroups: so do timelines with pod groups. Each of those that are run more often gave two traces once: what
// was popped first from a queue that had nothing to hand out, and which call about a member came first, was left to chance.
func TestSameTraceOfGroups(t *testing.T) {
	withGroups := func(seed uint64) *timeline.Timeline {
		tl := timelines.FromSeedWith(seed, map[string]bool{model.GateWorkload: true})
		require.NoError(t, apiserver.Timeline(tl))
		return tl
	}
	for seed := range uint64(testsize.Times(40)) {
		sameTrace(t, withGroups(seed), 2, seed)
	}
	for _, seed := range []uint64{491, 905, 1935} {
		sameTrace(t, withGroups(seed), testsize.Times(25), seed)
	}
	sameTrace(t, drawn(t, 244), testsize.Times(50), 244)
}

// sameTrace runs a timeline several times.
func sameTrace(t *testing.T, tl *timeline.Timeline, times int, seed uint64) {
	var first *timeline.Trace
	for range times {
		trace := run(t, tl)
		if trace.Crash != nil { // its stack has addresses
			trace.Crash.Stack = ""
		}
		if first == nil {
			first = trace
		}
		require.Equal(t, first.String(), trace.String(), "seed %d", seed)
		require.Equal(t, first, trace, "seed %d", seed)
	}
}

// TestTimelinesAreNotChanged: running a timeline leaves it as it was.
func TestTimelinesAreNotChanged(t *testing.T) {
	for seed := range uint64(50) {
		tl := drawn(t, seed)
		run(t, tl)
		require.Equal(t, drawn(t, seed), tl)
	}
}

// TestPlaces: each place can hold something, and what is held does not happen until it is
// let go.
func TestPlaces(t *testing.T) {
	base, err := corpus.Load(filepath.Join("../../corpus/timelines", "preempted-and-bound.yaml"))
	require.NoError(t, err)
	cluster, create := base.Cases[0].Cluster, base.Cases[0].Timeline.Steps[0]
	for _, name := range timeline.Places() {
		t.Run(string(name), func(t *testing.T) {
			place := timeline.Place{Name: name}
			if name.OfKind() {
				place.Kind = "Pod"
			}
			held := &timeline.Timeline{Cluster: cluster, Steps: []timeline.Step{{Hold: &place}, create, {Wait: 40e9}}}
			trace := run(t, held)
			require.NotNil(t, trace.Quiet, "all is let go in the end")
			require.Equal(t, "default/p on node-1\n", trace.Quiet.Outcome())
			bound := func(trace *timeline.Trace) int {
				for i := range trace.Entries {
					if e := &trace.Entries[i]; e.What == timeline.Called && e.Call == timeline.Bind {
						return e.Step
					}
				}
				return -1
			}
			free := run(t, &timeline.Timeline{Cluster: cluster, Steps: held.Steps[1:]})
			require.Equal(t, 1, bound(free), "nothing is held: it is bound while time passes")
			switch name {
			case timeline.Preempted, timeline.Unreserve, timeline.Start: // nothing waits for them here
			default:
				require.Equal(t, len(held.Steps), bound(trace), "it is bound only when all is let go")
			}
		})
	}
}

// TestWatch: what is held after each step is told, but not the queue that has nothing to hand out.
func TestWatch(t *testing.T) {
	base, err := corpus.Load(filepath.Join("../../corpus/timelines", "preempted-and-bound.yaml"))
	require.NoError(t, err)
	create := base.Cases[0].Timeline.Steps[0]
	pop, handle := timeline.Place{Name: timeline.Pop}, timeline.Place{Name: timeline.Handle}
	tl := &timeline.Timeline{Cluster: base.Cases[0].Cluster, Steps: []timeline.Step{{Hold: &pop}, {Hold: &handle}, create, {Next: &handle}, {Release: &pop}}}
	var all [][]timeline.Place
	trace, err := life.Watch(t.Context(), tl, func(step int, held []timeline.Place) {
		require.Len(t, all, step)
		all = append(all, held)
	})
	require.NoError(t, err)
	ofPods := timeline.Place{Name: timeline.Handle, Kind: "Pod"}
	require.Equal(t, [][]timeline.Place{nil, nil, {ofPods}, {pop}, {ofPods, ofPods, ofPods}}, all)
	require.Equal(t, run(t, tl).String(), trace.String())
}

// TestTakeover: another scheduler goes on where the first one died, at each place.
func TestTakeover(t *testing.T) {
	base, err := corpus.Load(filepath.Join("../../corpus/timelines", "preempted-and-bound.yaml"))
	require.NoError(t, err)
	cluster, create := base.Cases[0].Cluster, base.Cases[0].Timeline.Steps[0]
	for _, name := range timeline.Places() {
		place := timeline.Place{Name: name}
		if name.OfKind() {
			place.Kind = "Pod"
		}
		steps := []timeline.Step{{Hold: &place}, create, {Wait: 1e9}, {Takeover: true}, {Release: &place}}
		trace := run(t, &timeline.Timeline{Cluster: cluster, Steps: steps})
		require.NotNil(t, trace.Quiet, name)
		require.Equal(t, "default/p on node-1\n", trace.Quiet.Outcome(), name)
		require.Empty(t, lifetime.Check(&lifetime.Life{Timeline: &timeline.Timeline{Cluster: cluster, Steps: steps}, Trace: trace}), name)
	}
}

// TestBehind: a scheduler that lists from an API server that is behind knows the objects as they were
// before the last events, and is told of these in turn, as they are let in.
func TestBehind(t *testing.T) {
	base, err := corpus.Load(filepath.Join("../../corpus/timelines", "preempted-and-bound.yaml"))
	require.NoError(t, err)
	cluster, create := base.Cases[0].Cluster, base.Cases[0].Timeline.Steps[0]
	cordon := timeline.Step{Change: "Node node-1", With: []byte(`{"spec": {"unschedulable": true}}`)}
	store := timeline.Place{Name: timeline.Store, Kind: "Pod"}
	// In turn, p is added, v is marked and terminates, p is nominated, v goes, p is bound and starts.
	const events = 7
	for behind := range events + 3 {
		steps := []timeline.Step{create, {Wait: 40e9}, cordon, {Hold: &store}, {Takeover: true, Behind: map[string]int{"Pod": behind}}, {Wait: 1e9}, {Release: &store}}
		trace := run(t, &timeline.Timeline{Cluster: cluster, Steps: steps})
		require.Len(t, trace.Startups, 2)
		start := trace.Startups[1]
		knows := map[string]string{}
		for _, obj := range start.Objects {
			switch o := obj.(type) {
			case *v1.Pod:
				knows[o.Name] = fmt.Sprintf("on %q, nominated to %q, %s", o.Spec.NodeName, o.Status.NominatedNodeName, o.Status.Phase)
			case *v1.Node:
				require.True(t, o.Spec.Unschedulable, "events of nodes are not missed")
			}
		}
		v := `on "node-1", nominated to "", Running`
		want := []map[string]string{
			0: {"p": `on "node-1", nominated to "", Running`}, 1: {"p": `on "node-1", nominated to "", `}, 2: {"p": `on "", nominated to "node-1", `},
			3: {"p": `on "", nominated to "node-1", `, "v": v}, 4: {"p": `on "", nominated to "", `, "v": v}, 5: {"p": `on "", nominated to "", `, "v": v},
			6: {"p": `on "", nominated to "", `, "v": v}, 7: {"v": v},
		}[min(behind, events)]
		require.Equal(t, want, knows, "behind by %d", behind)
		require.Len(t, start.Missed, min(behind, events))
		var stored []timeline.Missed
		for _, e := range trace.Entries[start.Entry:] {
			if e.What == timeline.Stored && len(stored) < len(start.Missed) {
				require.Equal(t, len(steps)-1, e.Step, "until then they are held")
				stored = append(stored, timeline.Missed{Object: e.Object, Text: e.Text})
			}
		}
		require.Equal(t, start.Missed, stored)
		require.Equal(t, "default/p on node-1\n", strings.ReplaceAll(trace.Quiet.Outcome(), " nominated to node-1", ""))
		require.Empty(t, lifetime.Check(&lifetime.Life{Timeline: &timeline.Timeline{Cluster: cluster, Steps: steps}, Trace: trace}), "behind by %d", behind)
	}
}

// TestFailures: calls fail as often as they are told to, with and without effect.
func TestFailures(t *testing.T) {
	base, err := corpus.Load(filepath.Join("../../corpus/timelines", "preempted-and-bound.yaml"))
	require.NoError(t, err)
	cluster, create := base.Cases[0].Cluster, base.Cases[0].Timeline.Steps[0]
	for _, call := range timeline.Calls() {
		for _, arrives := range []bool{false, true} {
			fail := timeline.Failure{Call: call, Error: "InternalError", Arrives: arrives, Times: 2}
			trace := run(t, &timeline.Timeline{Cluster: cluster, Steps: []timeline.Step{{Fail: &fail}, create, {Wait: 100e9}}})
			failed, arrived := 0, 0
			for i := range trace.Entries {
				if e := &trace.Entries[i]; e.What == timeline.Called && strings.Contains(e.Error, "InternalError") {
					require.Equal(t, call, e.Call)
					if failed++; strings.Contains(e.Text, "took effect") {
						arrived++
					}
				}
			}
			require.Positive(t, failed, fail.String())
			require.Equal(t, arrives, arrived > 0, fail.String()) // a pod that is bound cannot be bound again
			require.LessOrEqual(t, failed, 2, fail.String())
		}
	}
}
