package replay_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/reference"
)

// telling is a scheduler that tells another story than it should.
type telling struct {
	reference.System
	tell func(o *model.Observation)
}

func (s telling) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	o, err := s.System.Observe(ctx, c)
	if err == nil {
		s.tell(o)
	}
	return o, err
}

// What is found in a case that is not modelled is told, and what is not modelled.
func TestFoundInNotModelled(t *testing.T) {
	system := checktest.System(t)
	c := checktest.Cluster()
	c.Settings.FeatureGates = map[string]bool{"DRAListTypeAttributes": true}
	j := replay.Judge(t.Context(), all.Checker(system), &corpus.Case{Cluster: c})
	require.Equal(t, replay.NotModelled, j.Result)
	require.Equal(t, []string{"scheduler: featureGates.DRAListTypeAttributes: feature gate",
		"asked was all that needs no model of that: whether the scheduler gets through it, and the promises to users"}, j.Details)

	linked := all.Checker(system)
	linked.Release = release.Linked
	gone := replay.Judge(t.Context(), linked, &corpus.Case{Cluster: c, Findings: []string{"zero-candidates"}})
	require.Equal(t, replay.Unexpected, gone.Result)
	require.Equal(t, append(j.Details, "finding zero-candidates no longer occurs"), gone.Details)

	crash := &model.Crash{Kind: model.Panic, Message: "runtime error: invalid memory address or nil pointer dereference", Where: "volumebinding.(*VolumeBinding).Score (a.go:1)",
		Stack: "a.b(0x1)\n\t/c/d.go:2"}
	panics := telling{system, func(o *model.Observation) { o.Crash = crash }}
	j = replay.Judge(t.Context(), all.Checker(panics), &corpus.Case{Cluster: c})
	require.Equal(t, replay.Found, j.Result)
	require.True(t, j.ToContact)
	require.Equal(t, []string{"a.b (d.go:2)"}, j.Stack)

	// A panic that is known is told as well, though the cluster counts as not modelled.
	claim := &v1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "claim", Annotations: map[string]string{v1.BetaStorageClassAnnotation: "c"}}}
	c.Extra = append(c.Extra, claim)
	j = replay.Judge(t.Context(), all.Checker(panics), &corpus.Case{Cluster: c})
	require.Equal(t, []string{replay.NotModelled, "panic"}, []string{j.Result, j.Outcome})
	require.False(t, j.ToContact)
	require.Contains(t, strings.Join(j.Details, "\n"), "known finding class-annotation-crashes-score (crash): gets-through")
	c.Extra = nil

	forgets := telling{system, func(o *model.Observation) {
		if o.Actuation != nil {
			o.Actuation.Deleted = nil
		}
	}}
	j = replay.Judge(t.Context(), all.Checker(forgets), &corpus.Case{Cluster: c})
	require.Equal(t, replay.Found, j.Result)
	require.Equal(t, []string{"finding: victims-deleted-and-marked: actuate: victim default/low is not deleted", "scheduler: featureGates.DRAListTypeAttributes: feature gate"}, j.Details)
}

// TestSavedFinding: a case that was saved for a finding says what has become of
// that.
func TestSavedFinding(t *testing.T) {
	right := &properties.Checker{System: modelsystem.New(release.Linked)}
	lying := func(tell func(o *model.Observation)) *properties.Checker {
		return &properties.Checker{System: telling{right.System, tell}}
	}
	forgets := lying(func(o *model.Observation) { o.Actuation.Deleted = nil })
	elsewhere := lying(func(o *model.Observation) { o.Eligible = &model.Eligibility{Reason: "never"} })
	sometimes := 0
	dice := lying(func(o *model.Observation) {
		if sometimes++; sometimes == 3 {
			o.Actuation.Deleted = nil
		}
	})
	panics := &properties.Checker{System: right.System, Decide: func(*model.Cluster) (*answers.Set, error) { panic("a bug") }}
	actuate := &corpus.Finding{Property: "differential", Stage: "actuate"}
	const file, known, tie = "../../cmd/preemptcheck/app/testdata/cases/saved-gone.yaml", "../../cmd/preemptcheck/app/testdata/cases/known.yaml", "../cases/equal-nodes-tie.yaml"

	for _, test := range []struct {
		name, file string
		finding    *corpus.Finding
		checker    *properties.Checker
		result     string
		note       string // how it begins
	}{
		{"none was recorded", file, nil, right, replay.Agrees, ""},
		{"it occurs", file, actuate, forgets, replay.Found, ""},
		{"it is gone", file, actuate, right, replay.Gone, "saved for differential at stage actuate, which does not occur any more; "},
		{"another occurs", file, actuate, elsewhere, replay.Found, "saved for differential at stage actuate, which does not occur"},
		{"it is known by now", known, &corpus.Finding{Property: "differential", Stage: "dry run"}, right,
			"disagrees: empty-selector (defect)", "saved for differential at stage dry run, which was new then"},
		{"a known one occurs, but not this", known, actuate, right, replay.Gone, "saved for differential at stage actuate, which does not occur any more; "},
		{"a dice decides", tie, actuate, dice, replay.Found, ""},
		{"the check fails, as recorded", file, &corpus.Finding{Property: "error"}, panics, replay.Found, ""},
		{"the check fails", file, actuate, panics, replay.Failed, ""},
		{"the check fails no more", file, &corpus.Finding{Property: "error"}, right, replay.Gone, "saved for error, which does not occur any more; "},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := corpus.Load(test.file)
			require.NoError(t, err)
			c := s.Cases[0]
			c.Finding = test.finding
			j := replay.Judge(t.Context(), test.checker, c)
			require.Equal(t, test.result, j.Result, j.Details)
			if test.note == "" {
				require.Empty(t, j.Note)
			}
			require.True(t, strings.HasPrefix(j.Note, test.note), j.Note)
			var r replay.Report
			r.Add(j)
			require.Equal(t, test.result == replay.Gone, r.Gone == 1)
			require.Equal(t, test.result == replay.Found, r.Failed == 1)
		})
	}
}
