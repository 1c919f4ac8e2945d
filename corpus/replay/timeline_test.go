package replay

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
)

// told gives one trace of all timelines.
type told struct {
	reference.LifeSystem
	trace *timeline.Trace
}

func (s told) Live(context.Context, *timeline.Timeline) (*timeline.Trace, error) { return s.trace, nil }

// TestOtherReleases: a timeline that is about some releases has to go otherwise in others.
func TestOtherReleases(t *testing.T) {
	c := &corpus.Case{Name: "c", Releases: ">=1.36.0", Cluster: &model.Cluster{}}
	c.Timeline = &timeline.Timeline{Cluster: c.Cluster}
	rests := func(system string, unmet ...timeline.Unmet) told {
		return told{trace: &timeline.Trace{System: system, Quiet: &timeline.State{}, Flushed: &timeline.State{}, Unmet: unmet}}
	}
	unmet := timeline.Unmet{Step: 0, Expectation: timeline.Expectation{Pod: "default/p"}, Was: "it is gone"}
	for _, test := range []struct {
		system told
		want   string
		found  bool
	}{
		{rests("v1.36.3"), Agrees, false},
		{rests("v1.36.3", unmet), Unexpected, true},
		{rests("v1.35.4", unmet), Otherwise, false},
		{rests("v1.35.4"), Unexpected, true},
		{rests("a tree"), Agrees, false}, // built from sources: as the linked release
		{rests("a tree", unmet), Unexpected, true},
	} {
		j := JudgeTimeline(t.Context(), test.system, c)
		require.Equal(t, test.want, j.Result, test.system.trace.System)
		require.Equal(t, test.found, j.IsFound())
	}
	j := JudgeTimeline(t.Context(), rests("v1.35.4"), c)
	require.Equal(t, []string{"it goes as in >=1.36.0, and v1.35.4 is none of these"}, j.Details)

	// That a known finding does not show is otherwise, too.
	c.Findings = []string{"old-copy-stays-in-queue"}
	require.Equal(t, Otherwise, JudgeTimeline(t.Context(), rests("v1.35.4"), c).Result)
	require.Equal(t, Unexpected, JudgeTimeline(t.Context(), rests("v1.36.3"), c).Result)
	c.Releases = "" // the ledger says that it has none
	require.Equal(t, Agrees, JudgeTimeline(t.Context(), rests("v1.35.4"), c).Result)
}
