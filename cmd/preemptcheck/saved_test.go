package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
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

// TestSavedFinding: a case that was saved for a finding says what has become of
// that.
func TestSavedFinding(t *testing.T) {
	right, err := newChecker("v1.37.1")
	require.NoError(t, err)
	defer right.System.Close()
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
	panics := &properties.Checker{System: right.System, Decide: func(*model.Cluster) (*model.Decision, error) { panic("a bug") }}
	actuate := &corpus.Finding{Property: "differential", Stage: "actuate"}
	const file, tie = "testdata/cases/saved-gone.yaml", cases + "/equal-nodes-tie.yaml"

	for _, test := range []struct {
		name, file string
		finding    *corpus.Finding
		checker    *properties.Checker
		result     string
		note       string // how it begins
	}{
		{"none was recorded", file, nil, right, agrees, ""},
		{"it occurs", file, actuate, forgets, found, ""},
		{"it is gone", file, actuate, right, gone, "saved for differential at stage actuate, which does not occur any more; "},
		{"another occurs", file, actuate, elsewhere, found, "saved for differential at stage actuate, which does not occur"},
		{"it is known by now", "testdata/cases/known.yaml", &corpus.Finding{Property: "differential", Stage: "dry run"}, right,
			"known finding empty-selector", "saved for differential at stage dry run, which was new then"},
		{"a known one occurs, but not this", "testdata/cases/known.yaml", actuate, right, gone, "saved for differential at stage actuate, which does not occur any more; "},
		{"a dice decides", tie, actuate, dice, found, ""},
		{"the check fails, as recorded", file, &corpus.Finding{Property: "error"}, panics, found, ""},
		{"the check fails", file, actuate, panics, failed, ""},
		{"the check fails no more", file, &corpus.Finding{Property: "error"}, right, gone, "saved for error, which does not occur any more; "},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, err := corpus.Load(test.file)
			require.NoError(t, err)
			c := s.Cases[0]
			c.Finding = test.finding
			j := judge(t.Context(), test.checker, c)
			require.Equal(t, test.result, j.Result, j.Details)
			if test.note == "" {
				require.Empty(t, j.Note)
			}
			require.True(t, strings.HasPrefix(j.Note, test.note), j.Note)
			var r report
			r.add(j)
			require.Equal(t, test.result == gone, r.Gone == 1)
			require.Equal(t, test.result == found, r.Failed == 1)
		})
	}
}

// TestGoneIsNoFailure: it is told, and counted, but the exit status is 0.
func TestGoneIsNoFailure(t *testing.T) {
	status, out, errOut := preemptcheck(t, "", "check", "testdata/cases/saved-gone.yaml", "testdata/cases/saved-known.yaml", "testdata/cases/fits.yaml")
	require.Equal(t, statusAgrees, status, errOut)
	require.Contains(t, out, "it was found by: preemptcheck fuzz --seed 1 --first 815 --cases 1\n")
	require.True(t, strings.HasSuffix(out, "\n2 passed (1 with known findings), 0 failed, 1 no longer reproduces\n"), out)
}
