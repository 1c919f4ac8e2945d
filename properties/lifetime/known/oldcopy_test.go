package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// lastOf is the index of the last entry of a kind about a pod.
func lastOf(t *timeline.Trace, what timeline.What, pod string) int {
	for i := len(t.Entries) - 1; i >= 0; i-- {
		if e := &t.Entries[i]; e.What == what && e.Pod() == pod {
			return i
		}
	}
	return -1
}

// TestPreemptsBesidesNearMisses: a pod preempts once more as it was in two attempts at once only if its preemption was decided in the
// second of them.
func TestPreemptsBesidesNearMisses(t *testing.T) {
	const pod = "default/p5"
	for name, miss := range map[string]func(t *timeline.Trace){
		"": func(*timeline.Trace) {},
		"the attempt before is over": func(t *timeline.Trace) {
			first := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Decided && e.Pod() == pod })
			t.Entries = slices.Insert(t.Entries, first, timeline.Entry{What: timeline.Requeued, Object: "Pod " + pod})
		},
		"another scheduler has taken over": func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, lastOf(t, timeline.Decided, pod), timeline.Entry{What: timeline.TakenOver})
		},
		"another pod came under its name": func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, lastOf(t, timeline.Decided, pod), timeline.Entry{What: timeline.Created, Object: "Pod " + pod})
		},
		"it did not preempt before": func(t *timeline.Trace) {
			first := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Decided && e.Pod() == pod })
			t.Entries[first].Victims = nil
		},
	} {
		tl, trace := lived(t, "tried-twice-at-once-it-preempts-twice")
		miss(trace)
		l := &known.Life{Timeline: tl, Trace: trace, Release: release.Linked}
		ids := l.Explain(&known.Broken{Property: "no-second-preemption", Kind: "preempts", Pod: pod, Entry: lastOf(trace, timeline.Decided, pod)})
		require.Equal(t, name == "", slices.Contains(ids, known.OldCopy), name)
	}
}

// TestPutBackGoneNearMisses: a pod is kept as the cycle of its group was cut short only if it was gone when it came back from there.
func TestPutBackGoneNearMisses(t *testing.T) {
	const pod = "default/m8"
	for name, miss := range map[string]func(t *timeline.Trace){
		"": func(*timeline.Trace) {},
		"it waits for the next cycle": func(t *timeline.Trace) {
			t.Entries[lastOf(t, timeline.Requeued, pod)].Queue = timeline.QueuePending
		},
		"it is in no queue":      func(t *timeline.Trace) { t.Entries[lastOf(t, timeline.Requeued, pod)].Queue = "" },
		"it came back by itself": func(t *timeline.Trace) { t.Entries[lastOf(t, timeline.Requeued, pod)].Group = "" },
		"it is there": func(t *timeline.Trace) {
			e := &t.Entries[lastOf(t, timeline.Handled, pod)]
			e.Is, e.Was = e.Was, nil
		},
		"it is tried again": func(t *timeline.Trace) {
			at := lastOf(t, timeline.Requeued, pod)
			t.Entries = slices.Insert(t.Entries, at+1, timeline.Entry{What: timeline.Popped, Object: "Pod " + pod})
			t.FlushedAt++
		},
		"another scheduler has taken over": func(t *timeline.Trace) {
			t.Entries = slices.Insert(t.Entries, lastOf(t, timeline.Requeued, pod)+1, timeline.Entry{What: timeline.TakenOver})
			t.FlushedAt++
		},
	} {
		tl, trace := lived(t, "gone-pod-goes-back-as-its-group-was-cut")
		miss(trace)
		l := &known.Life{Timeline: tl, Trace: trace, Release: release.Linked}
		ids := l.Explain(&known.Broken{Property: "one-queue", Kind: "kept", Pod: pod, Entry: trace.FlushedAt})
		require.Equal(t, name == "", slices.Contains(ids, known.CycleCutShort), name)
	}
}
