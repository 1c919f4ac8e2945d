package known_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// TestVictimInPermit: a pod waits for the flush as it was preempted on its way to a node only if its last
// attempt ended so.
func TestVictimInPermit(t *testing.T) {
	pod := func(what timeline.What) timeline.Entry { return timeline.Entry{What: what, Object: "Pod default/v"} }
	decided := timeline.Entry{What: timeline.Decided, Object: "Pod default/p", Victims: []string{"default/v"}}
	rejected := pod(timeline.Requeued)
	rejected.Queue = model.QueueUnschedulable
	failed := pod(timeline.Requeued)
	failed.Text, failed.Queue = "error", model.QueueBackoff
	evicted := pod(timeline.Called)
	evicted.Call = timeline.Evict

	for _, tt := range []struct {
		name    string
		entries []timeline.Entry
		want    bool
	}{
		{"preempted", []timeline.Entry{pod(timeline.Popped), pod(timeline.Fits), decided, rejected}, true},
		{"not preempted", []timeline.Entry{pod(timeline.Popped), pod(timeline.Fits), rejected}, false},
		{"fits nowhere", []timeline.Entry{pod(timeline.Popped), pod(timeline.Unfit), decided, rejected}, false},
		{"its binding failed", []timeline.Entry{pod(timeline.Popped), pod(timeline.Fits), decided, failed}, false},
		{"deleted", []timeline.Entry{pod(timeline.Popped), pod(timeline.Fits), decided, evicted, rejected}, false},
		{"tried again", []timeline.Entry{pod(timeline.Popped), pod(timeline.Fits), decided, rejected, pod(timeline.Popped), pod(timeline.Unfit), rejected}, false},
		{"another scheduler", []timeline.Entry{pod(timeline.Popped), pod(timeline.Fits), decided, rejected, {What: timeline.TakenOver}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trace := &timeline.Trace{Entries: append(tt.entries, pod(timeline.Fits)), FlushedAt: len(tt.entries),
				Quiet: &timeline.State{Pods: []timeline.PodState{{Name: "default/v", Exists: true}}}}
			l := &known.Life{Timeline: &timeline.Timeline{Cluster: &model.Cluster{}}, Trace: trace}
			ids := l.Explain(&known.Broken{Property: "no-wait-for-the-flush", Kind: string(timeline.Fits), Pod: "default/v", Entry: len(tt.entries)})
			require.Equal(t, tt.want, slices.Contains(ids, known.VictimRejected), ids)
		})
	}
}

// TestVictimBack: a pod stays gated because its victim came back to the queue only if the binding of that failed, and
// the victim was still counted on the node when the cycle of the preemptor began.
func TestVictimBack(t *testing.T) {
	of := func(what timeline.What, pod string) timeline.Entry {
		return timeline.Entry{What: what, Object: "Pod default/" + pod}
	}
	failed, bound := of(timeline.Called, "v"), of(timeline.Called, "v")
	failed.Call, failed.Error = timeline.Bind, "not found"
	bound.Call = timeline.Bind
	ends := of(timeline.Ends, "p")
	ends.Text = "success"
	decided := of(timeline.Decided, "p")
	decided.Victims = []string{"default/v"}
	preemption := []timeline.Entry{of(timeline.Popped, "p"), decided, of(timeline.Begins, "p"), ends}
	gone, fits, back := of(timeline.Removed, "v"), of(timeline.Fits, "v"), of(timeline.Requeued, "v")

	for _, tt := range []struct {
		name   string
		before []timeline.Entry
		want   bool
	}{
		{"failed before, and is not back", []timeline.Entry{gone, fits, failed}, true},
		{"failed before, and is back", []timeline.Entry{gone, fits, failed, back}, false},
		{"failed with another scheduler", []timeline.Entry{gone, fits, failed, {What: timeline.TakenOver}}, false},
		{"was bound", []timeline.Entry{fits, bound, gone}, false},
		{"is not gone", []timeline.Entry{fits, failed}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries := slices.Concat(tt.before, preemption, []timeline.Entry{back})
			trace := &timeline.Trace{Entries: entries, FlushedAt: len(entries),
				Quiet: &timeline.State{Pods: []timeline.PodState{{Name: "default/p", Exists: true, Gated: true}}}}
			l := &known.Life{Timeline: &timeline.Timeline{Cluster: &model.Cluster{}}, Trace: trace}
			ids := l.Explain(&known.Broken{Property: "gate-opens", Kind: "gated", Pod: "default/p", Entry: len(entries) - 1})
			require.Equal(t, tt.want, slices.Contains(ids, known.VictimBack), ids)
		})
	}
}
