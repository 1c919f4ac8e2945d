package life

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/internal/testsize"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life/api"
)

// heard writes down what a handler is told of pods.
type heard []string

func (h *heard) say(what string, pods ...any) {
	for _, p := range pods {
		what += " " + p.(*v1.Pod).Name + " " + p.(*v1.Pod).Labels["n"]
	}
	*h = append(*h, what)
}

func (h *heard) OnAdd(obj any, initial bool) {
	if !initial {
		h.say("added", obj)
	}
}
func (h *heard) OnUpdate(old, now any) { h.say("updated", old, now) }
func (h *heard) OnDelete(obj any) {
	if last, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		h.say("deleted, last known as "+last.Key, last.Obj)
		return
	}
	h.say("deleted", obj)
}

func podInformer(s *scheduler) *informer { return s.informers[reflect.TypeFor[*v1.Pod]()] }

// TestRelist: after a new list, handlers are told of each object that has changed once, and of
// those that are gone as they were last known.
func TestRelist(t *testing.T) {
	pod := func(name, n string) *v1.Pod {
		p := mk.Pod(name, 0, mk.CPU("9"))
		p.Namespace, p.Labels, p.Spec.SchedulerName = "default", map[string]string{"n": n}, "another"
		return p
	}
	label := func(name, n string) timeline.Step {
		return timeline.Step{Change: "Pod default/" + name, With: fmt.Appendf(nil, `{"metadata":{"labels":{"n":"%s"}}}`, n)}
	}
	cluster := &model.Cluster{Nodes: []*v1.Node{mk.Node("a", "1")}, Pods: []*v1.Pod{pod("same", "0"), pod("twice", "0"), pod("gone", "0"), pod("again", "0")}}
	hold := timeline.Place{Name: timeline.Store, Kind: "Pod"}
	steps := []timeline.Step{
		label("gone", "1"), {Hold: &hold}, label("twice", "1"), label("twice", "2"), label("gone", "2"), {Delete: "Pod default/gone"},
		{Delete: "Pod default/again"}, {Create: pod("again", "1")}, {Create: pod("new", "0")}, label("new", "1"),
		{Create: pod("short", "0")}, {Delete: "Pod default/short"},
	}
	var told heard
	listen := func(s *scheduler) { podInformer(s).Handlers = []cache.ResourceEventHandler{&told} }
	without, err := runChanged(t.Context(), &timeline.Timeline{Cluster: cluster, Steps: steps}, listen)
	require.NoError(t, err)
	require.Len(t, told, 11, "each event by itself: %v", told)
	require.Empty(t, listed(without))

	told = nil
	late := label("same", "1") // it is not in the list any more
	with := append(slices.Clone(steps), timeline.Step{Relist: "Pod"}, late)
	trace, err := runChanged(t.Context(), &timeline.Timeline{Cluster: cluster, Steps: with}, listen)
	require.NoError(t, err)
	require.Equal(t, heard{
		"updated gone 0 gone 1", // before
		"deleted, last known as default/gone gone 1", "updated again 0 again 1", "added new 1", "updated twice 0 twice 2",
		"updated same 0 same 1", // after
	}, told)
	require.Equal(t, []string{"Pod default/gone deleted", "Pod default/again deleted, and another one", "Pod default/again added, and another one",
		"Pod default/new added", "Pod default/twice updated"}, listed(trace))

	told = nil
	again := append(slices.Clone(with), timeline.Step{Relist: "Pod"}, timeline.Step{Relist: "Node"})
	_, err = runChanged(t.Context(), &timeline.Timeline{Cluster: cluster, Steps: again}, listen)
	require.NoError(t, err)
	require.Len(t, told, 6, "the first list is lost, and the second one has all")
	require.Contains(t, told, "updated same 0 same 1")
}

// listed are the events of new lists that a scheduler has handled.
func listed(t *timeline.Trace) (all []string) {
	for i := range t.Entries {
		if e := &t.Entries[i]; e.What == timeline.Handled && e.Listed {
			text := e.Object + " " + e.Text
			if e.Replaced {
				text += ", and another one"
			}
			all = append(all, text)
		}
	}
	return all
}

// TestWatched: a timeline can have those kinds listed anew that a scheduler watches.
func TestWatched(t *testing.T) {
	var kinds []string
	_, err := runChanged(t.Context(), &timeline.Timeline{Cluster: &model.Cluster{}}, func(s *scheduler) {
		for _, i := range s.informers {
			kinds = append(kinds, i.kind)
		}
	})
	require.NoError(t, err)
	require.ElementsMatch(t, kinds, timeline.Watched())
}

// splits tells handlers of an update by which a pod becomes another one as what it was.
type splits struct{ cache.ResourceEventHandler }

func (h splits) OnUpdate(old, now any) {
	if uidOf(old.(runtime.Object)) == uidOf(now.(runtime.Object)) {
		h.ResourceEventHandler.OnUpdate(old, now)
		return
	}
	h.OnDelete(cache.DeletedFinalStateUnknown{Key: api.KeyOf(old.(runtime.Object)), Obj: old})
	h.OnAdd(now, false)
}

// TestRecreatedExplains: what is put down to pods that were recreated while the watch was down
// is due to that: a scheduler that is told of the two as of two does nothing of it.
func TestRecreatedExplains(t *testing.T) {
	split := func(s *scheduler) {
		for j, h := range podInformer(s).Handlers {
			podInformer(s).Handlers[j] = splits{h}
		}
	}
	found := func(tl *timeline.Timeline, change func(*scheduler)) []lifetime.Finding {
		trace, err := runChanged(t.Context(), tl, change)
		require.NoError(t, err)
		return lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace})
	}
	explained := func(f lifetime.Finding) bool { return slices.Contains(f.Known, known.RecreatedAsUpdate) }
	n := 0
	for seed := uint64(0); n < 3*testsize.Times(5); seed++ {
		tl := timelines.FromSeed(seed)
		require.NoError(t, apiserver.Timeline(tl))
		if slices.ContainsFunc(tl.Steps, func(s timeline.Step) bool { return s.Relist == "Pod" }) && slices.ContainsFunc(found(tl, func(*scheduler) {}), explained) {
			n++
			require.Empty(t, lifetime.Unexplained(found(tl, split)), "seed %d", seed)
			for _, f := range found(tl, split) {
				require.False(t, explained(f), "seed %d: %s", seed, f)
			}
		}
	}
	s, err := corpus.Load("../../corpus/timelines/finding-recreated-pod-seen-as-update.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, found(s.Cases[0].Timeline, func(*scheduler) {}))
	require.Empty(t, found(s.Cases[0].Timeline, split))
}
