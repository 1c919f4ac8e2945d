package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestBoundElsewhereNearMisses: a pod waits for the flush as another one is bound elsewhere only if the scheduler had that one on
// the node until it was told so, and did not try the pod since.
func TestBoundElsewhereNearMisses(t *testing.T) {
	told := func(t *timeline.Trace) int {
		return slices.IndexFunc(t.Entries, func(e timeline.Entry) bool {
			p, ok := e.Is.(*v1.Pod)
			return ok && e.What == timeline.Handled && e.Pod() == "default/p" && p.Spec.NodeName == "node-2" && e.Step > 7
		})
	}
	put := func(after int, e timeline.Entry) func(t *timeline.Trace) {
		return func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, told(t)+after, e)
			t.FlushedAt++
		}
	}
	// assumed changes the last assumption of p.
	assumed := func(change func(e *timeline.Entry)) func(t *timeline.Trace) {
		return func(t *timeline.Trace) { change(&t.Entries[lastFits(t)]) }
	}
	waits := &v1.Pod{Spec: v1.PodSpec{Priority: new(int32)}}
	checkWhole(t, "finding-bound-elsewhere-wakes-nobody", "no-wait-for-the-flush", known.BoundElsewhere, []nearMiss{
		{name: "it was assumed where it is bound", trace: assumed(func(e *timeline.Entry) { e.Node = "node-2" })},
		{name: "it was not assumed", trace: assumed(func(e *timeline.Entry) { e.What = timeline.Unfit })},
		{name: "its binding has failed before", trace: put(0, timeline.Entry{What: timeline.Told, Object: "Pod default/p", Text: "FailedScheduling: conflict"})},
		{name: "it is bound to that node", trace: wereOtherwise("p", func(p *v1.Pod) {
			if p.Spec.NodeName != "" {
				p.Spec.NodeName = "node-1"
			}
		})},
		{name: "the pod is tried since", trace: put(1, timeline.Entry{What: timeline.Popped, Object: "Pod default/o", Is: waits})},
		{name: "another scheduler has taken over", trace: put(1, timeline.Entry{What: timeline.TakenOver})},
	})
}

// TestNominatedElsewhere: that a nominated pod is bound elsewhere frees room for those that are not more important than it is.
func TestNominatedElsewhere(t *testing.T) {
	s, err := corpus.Load("../../../corpus/timelines/finding-bound-elsewhere-wakes-nobody.yaml")
	require.NoError(t, err)
	tl := s.Cases[0].Timeline
	for _, priority := range []int32{1, 2} { // that of p, and a higher one
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err)
		e := &trace.Entries[lastFits(trace)]
		e.What, e.Nomination = timeline.Decided, model.NominationSet
		wereOtherwise("o", func(p *v1.Pod) { p.Spec.Priority = &priority })(trace)
		l := &known.Life{Timeline: tl, Trace: trace, Release: release.Linked}
		at := trace.FlushedAt + slices.IndexFunc(trace.Entries[trace.FlushedAt:], func(e timeline.Entry) bool { return e.What == timeline.Fits })
		ids := l.Explain(&known.Broken{Property: "no-wait-for-the-flush", Kind: string(timeline.Fits), Pod: "default/o", Entry: at})
		require.Equal(t, priority == 1, slices.Contains(ids, known.BoundElsewhere), "priority %d: %v", priority, ids)
	}
}

// lastFits is where p is found to fit for the last time.
func lastFits(t *timeline.Trace) (at int) {
	for i, e := range t.Entries {
		if e.What == timeline.Fits && e.Pod() == "default/p" {
			at = i
		}
	}
	return at
}
