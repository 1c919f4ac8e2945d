package report

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/steps"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
)

// MinimiseTimeline makes the timeline of a case small. If several things are found in it, the
// first new one is kept, else the first known one.
func MinimiseTimeline(ctx context.Context, live variation.Live, c *corpus.Case) (*Report, error) {
	lived, all, err := variation.Run(ctx, live, c.Timeline, true)
	if err != nil {
		return nil, err
	}
	all = append(lifetime.Unexplained(all), all...)
	if len(all) == 0 {
		return nil, errors.New("nothing is found in it")
	}
	keep, outcome := all[0], fingerprint.Outcome(&all[0], lived)
	small := steps.MinimiseHang(ctx, minimize.Hurried(ctx, keep.Kind), c.Timeline, func(ctx context.Context, t *timeline.Timeline) bool {
		return again(ctx, live, t, keep, outcome) != nil
	})
	// Once more, for what there is to tell, even if the time is up.
	if now := again(context.WithoutCancel(ctx), live, small.Timeline, keep, outcome); now != nil {
		keep = *now
	}
	m := &Report{
		File: c.File, Fingerprint: fingerprint.Fingerprint{Property: keep.Property, Kind: keep.Kind, Known: strings.Join(keep.Known, ",")},
		Finding: words.FirstLine(keep.String()), Explanation: keep.Detail,
		Stack: keep.Stack, From: SizeOfTimeline(c.Timeline), To: SizeOfTimeline(small.Timeline), Checks: small.Checks, Minimal: small.Minimal,
		Small: &corpus.Case{Name: c.Name, Description: keep.Detail, Origin: c.Origin, Finding: c.Finding, Findings: keep.Known, Stack: keep.Stack,
			Cluster: small.Timeline.Cluster, Timeline: small.Timeline},
	}
	if m.Minimal {
		m.Reductions = small.Last
	}
	m.keepBack()
	m.Case, err = written(m.Small)
	return m, err
}

// again is the finding of a timeline that is the same as one of another, with that outcome if it is
// not known what it comes from; nil if there is none.
func again(ctx context.Context, live variation.Live, t *timeline.Timeline, as lifetime.Finding, outcome string) *lifetime.Finding {
	lived, now, err := variation.Run(ctx, live, t, variation.Is(as.Property))
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(now, func(f lifetime.Finding) bool {
		return f.Property == as.Property && f.Kind == as.Kind && slices.Equal(f.Known, as.Known) &&
			(len(f.Known) > 0 || fingerprint.Outcome(&f, lived) == outcome)
	})
	if i < 0 {
		return nil
	}
	return &now[i]
}

// SizeOfTimeline counts the steps of a timeline, and its objects, those that steps create among
// them.
func SizeOfTimeline(t *timeline.Timeline) minimize.Size {
	s := steps.SizeOf(t)
	return minimize.Size{Nodes: s.Nodes, Pods: s.Pods, Budgets: len(t.Cluster.PodDisruptionBudgets), Steps: s.Steps}
}
