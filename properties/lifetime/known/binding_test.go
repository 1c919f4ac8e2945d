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
