package campaign

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/steps"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/reach"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Besides a share of the clusters, a timeline is run: the one of the same number.

// GenerateTimeline is timeline number n of a seed, as the API server would have it. Of the feature gates, those of pod
// groups count. The scheduler has the configuration, if it is not "".
func GenerateTimeline(seed, n uint64, gates record.Gates, configuration string) (*timeline.Timeline, error) {
	t := timelineOfCorpus(seed, n, gates)
	if t == nil {
		t = timelines.FromSeedWith(rand.NewPCG(seed, ^n).Uint64(), gates.Map())
	}
	var later []*v1.Pod
	for _, s := range t.Steps {
		if p, is := s.Create.(*v1.Pod); is {
			later = append(later, p)
		}
	}
	generators.Configure(t.Cluster, json.RawMessage(configuration), later...)
	return t, apiserver.Timeline(t)
}

// HasTimeline tells whether a timeline is run besides the cluster of that number, if one
// is besides so many of 100 clusters, and besides those of which it is one of the corpus.
func HasTimeline(seed, n uint64, share int, gates record.Gates) bool {
	if c, _ := asIs(seed, n, "timelines/", gates); c != nil && share > 0 {
		return true
	}
	return rand.New(rand.NewPCG(seed^0x71e1e, n)).IntN(100) < share
}

// relatedEvery is how many timelines there are to one of which the relations are asked, too. Each
// takes one more run where it has something to compare.
const relatedEvery = 4

// isRelated tells whether the relations are asked of the timeline of a number.
func isRelated(seed, n uint64) bool {
	return rand.New(rand.NewPCG(seed^0x2e1a7ed, n)).IntN(relatedEvery) == 0
}

// live runs the timeline of a number, if the system can and there is one.
func (a *answer) live(ctx context.Context, checker *properties.Checker, system reference.LifeSystem, req request, n uint64) error {
	gates := req.FeatureGates.OfTimelines(checker.Release)
	if system == nil || !HasTimeline(req.Seed, n, req.Timelines, gates) {
		return nil
	}
	t, err := GenerateTimeline(req.Seed, n, gates, req.Configuration)
	if err != nil {
		return fmt.Errorf("timeline %d: %w", n, err)
	}
	lived, findings, err := variation.Run(ctx, func(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
		trace, err := system.Live(ctx, t)
		a.Lost = a.Lost || err == nil && trace.Crash != nil && trace.Crash.Kind == model.Hang
		return trace, err
	}, t, isRelated(req.Seed, n) || saying(checker, req, n, "timelines/") != nil)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	a.Stats.Timelines++
	if err != nil {
		a.Errors++
		a.Suspects = append(a.Suspects, suspect{Number: n, Timeline: true, Kind: "timeline: " + err.Error(), Detail: err.Error(),
			Fingerprint: fingerprint.Fingerprint{Property: fingerprint.Failed, Kind: "timeline"}})
		return nil
	}
	if a.Stats.Reached == nil {
		a.Stats.Reached = map[string]int{}
	}
	for what := range reach.Of(lived.Trace) {
		a.Stats.Reached[what]++
	}
	if req.Canary && len(findings) == 0 {
		a.lieAbout(t, lived.Trace)
	}
	known := map[string]bool{}
	for _, f := range findings {
		for _, id := range f.Known {
			known[id] = true
		}
	}
	if a.Stats.KnownInTimelines == nil {
		a.Stats.KnownInTimelines = map[string]int{}
	}
	for id := range known {
		a.Stats.KnownInTimelines[id]++
	}
	fresh := lifetime.Unexplained(findings)
	if len(fresh) == 0 {
		a.compareLife(checker, req, n, lived, findings)
		return nil
	}
	f := &fresh[0]
	a.Suspects = append(a.Suspects, suspect{Number: n, Timeline: true, Kind: fingerprint.PresortLife(f, lived), Detail: f.Detail,
		Fingerprint: fingerprint.OfLife(f), Stack: f.Stack})
	return nil
}

// minimisedTimeline makes the timeline of a suspect small.
func (c *campaign) minimisedTimeline(s *suspect) (*record.Finding, error) {
	start := time.Now()
	c.clock()
	t, err := GenerateTimeline(c.Config.Seed, s.Number, c.Config.FeatureGates.OfTimelines(c.Checker.Release), c.Config.Configuration)
	if err != nil {
		return nil, err
	}
	f := &record.Finding{
		Seed: c.Config.Seed, Number: s.Number, Detail: s.Detail, Explanation: s.Detail, Stack: s.Stack, Timeline: true,
		FoundAfter: c.Seconds(), Clusters: s.nth, Identity: fingerprint.Identity{Fingerprint: s.Fingerprint},
		Minimised: record.Minimised{From: sizeOf(t)},
	}
	ctx, cancel := context.WithDeadline(c.ctx, c.minimiseUntil())
	defer cancel()
	if ctx.Err() != nil {
		f.Minimised.Why = "there was no time left"
	} else if system := c.Life; system != nil && s.Fingerprint.Property != fingerprint.Failed {
		shown := func(ctx context.Context, t *timeline.Timeline) (lived *lifetime.Life, found *lifetime.Finding, outcome string) {
			lived, findings, err := variation.Run(ctx, system.Live, t, variation.Is(s.Fingerprint.Property))
			if err != nil {
				return nil, nil, ""
			}
			findings = lifetime.Unexplained(findings)
			i := slices.IndexFunc(findings, func(g lifetime.Finding) bool { return fingerprint.OfLife(&g) == s.Fingerprint })
			if i < 0 {
				return nil, nil, ""
			}
			return lived, &findings[i], fingerprint.Outcome(&findings[i], lived)
		}
		if _, first, outcome := shown(ctx, t); first == nil {
			f.Minimised.Why = "it did not occur again"
		} else {
			shows := func(ctx context.Context, t *timeline.Timeline) bool {
				_, now, same := shown(ctx, t)
				return now != nil && same == outcome
			}
			small := steps.MinimiseHang(ctx, minimize.Hurried(ctx, s.Fingerprint.Kind), t, shows)
			t, f.Minimised.Checks, f.Minimised.Minimal = small.Timeline, small.Checks, small.Minimal
			if lived, last, _ := shown(c.ctx, t); last != nil {
				f.Detail, f.Explanation, f.Stack = last.Detail, last.Detail+".", last.Stack
				if small.Minimal { // else what is left may be different each time
					f.Identity = fingerprint.IdentifyLife(last, lived)
				}
			}
		}
	} else {
		f.Minimised.Why = "the timeline could not be run"
	}
	if c.ctx.Err() != nil {
		return nil, c.ctx.Err()
	}
	f.Minimised.To = sizeOf(t)
	f.Minimised.Seconds = time.Since(start).Seconds()
	f.Case, err = c.written(f, t.Cluster, t)
	return f, err
}

// sizeOf is the size of a timeline; its steps count as objects of other kinds.
func sizeOf(t *timeline.Timeline) minimize.Size {
	s := steps.SizeOf(t)
	return minimize.Size{Nodes: s.Nodes, Pods: s.Pods, Steps: s.Steps}
}
