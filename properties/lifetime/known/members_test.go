package known_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestMemberAtOnceNearMisses: a group is tried at once for the reason that is known only if each pod with which it is tried comes
// back from a binding that failed.
func TestMemberAtOnceNearMisses(t *testing.T) {
	const member = "Pod default/m"
	for _, miss := range []struct {
		name     string
		property string
		trace    func(t *timeline.Trace)
		want     bool
	}{
		{"the witness", "group-backs-off-after-errors", func(*timeline.Trace) {}, true},
		{"a pod without a group", "errors-back-off", func(*timeline.Trace) {}, false},
		{"its cycle failed", "group-backs-off-after-errors", func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Fits })
			t.Entries[i].What, t.Entries[i].Text = timeline.Requeued, "error"
		}, false},
		{"rejected by Permit", "group-backs-off-after-errors", func(t *timeline.Trace) {
			i := slices.IndexFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Fits })
			unfit := t.Entries[i]
			unfit.What = timeline.Unfit
			t.Entries[i-1] = t.Entries[i] // what has been tried
			t.Entries[i] = unfit
		}, false},
		{"its binding has not failed", "group-backs-off-after-errors", func(t *timeline.Trace) {
			t.Entries = slices.DeleteFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Told && e.Object == member })
		}, false},
		{"another pod has not been tried", "group-backs-off-after-errors", func(t *timeline.Trace) {
			for i := len(t.Entries) - 1; i > 0; i-- {
				if e := t.Entries[i]; e.What == timeline.Popped && e.Object == member {
					e.Object = "Pod default/other"
					t.Entries = slices.Insert(t.Entries, i, e)
				}
			}
		}, false},
		{"another scheduler has taken over", "group-backs-off-after-errors", func(t *timeline.Trace) {
			i := lastTry(t)
			t.Entries = slices.Insert(t.Entries, i, timeline.Entry{What: timeline.TakenOver})
		}, false},
	} {
		t.Run(miss.name, func(t *testing.T) {
			tl, trace := lived(t, "finding-"+known.MemberAtOnce)
			miss.trace(trace)
			l := &known.Life{Timeline: tl, Trace: trace, Release: release.Linked}
			ids := l.Explain(&known.Broken{Property: miss.property, Pod: "podgroup/default/g", Entry: lastTry(trace)})
			require.Equal(t, miss.want, slices.Contains(ids, known.MemberAtOnce), ids)
		})
	}
}

// TestMemberForEverNearMisses: that there is no end to it is known only if a group is tried again and again after bindings that
// failed, and at the end.
func TestMemberForEverNearMisses(t *testing.T) {
	for _, miss := range []struct {
		name  string
		trace func(t *timeline.Trace)
		want  bool
	}{
		{"the witness", func(*timeline.Trace) {}, true},
		{"it comes to rest", func(t *timeline.Trace) { t.Endless = "" }, false},
		{"no binding fails", func(t *timeline.Trace) {
			t.Entries = slices.DeleteFunc(t.Entries, func(e timeline.Entry) bool { return e.What == timeline.Told })
		}, false},
		{"each time another group", func(t *timeline.Trace) {
			for i := range t.Entries {
				if e := &t.Entries[i]; e.What == timeline.Popped && e.Pod() == "" {
					e.Object += fmt.Sprint(i)
					t.Entries[i+1].Group = e.Preemptor()
				}
			}
		}, false},
		{"long ago", func(t *timeline.Trace) {
			t.Entries = append(t.Entries, timeline.Entry{At: time.Minute, What: timeline.Popped, Object: "Pod default/other"})
		}, false},
		{"a few times only", func(t *timeline.Trace) { t.Entries = t.Entries[:150] }, false},
	} {
		t.Run(miss.name, func(t *testing.T) {
			tl, trace := lived(t, "failed-member-is-tried-for-ever")
			require.NotEmpty(t, trace.Endless)
			miss.trace(trace)
			l := &known.Life{Timeline: tl, Trace: trace, Release: release.Linked}
			ids := l.Explain(&known.Broken{Property: "gets-through", Kind: "endless", Entry: len(trace.Entries)})
			require.Equal(t, miss.want, slices.Contains(ids, known.MemberAtOnce), ids)
		})
	}
}

// lived is a timeline of the corpus, and what is seen of it.
func lived(t *testing.T, name string) (*timeline.Timeline, *timeline.Trace) {
	s, err := corpus.Load("../../../corpus/timelines/" + name + ".yaml")
	require.NoError(t, err)
	trace, err := life.Run(t.Context(), s.Cases[0].Timeline)
	require.NoError(t, err)
	return s.Cases[0].Timeline, trace
}

// lastTry is where a group is tried last.
func lastTry(t *timeline.Trace) int {
	i := len(t.Entries) - 1
	for t.Entries[i].What != timeline.Popped || t.Entries[i].Pod() != "" {
		i--
	}
	return i
}
