package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

// MinimiseFor is how long one finding is made small by default. Most take less than a second.
const MinimiseFor = time.Minute

// maxClasses bounds the search for a smaller cluster with a finding: see
// minimize.Options.
const maxClasses = 3000

// deduplicate says which finding a suspect is: one of those that there are, or a new
// one. An error means that it was interrupted.
func (c *campaign) deduplicate(f *record.Causes, checker *properties.Checker, s *suspect) error {
	cause := s.Fingerprint.String()
	if s.Timeline {
		cause = "timeline: " + cause
	}
	name := s.Kind
	if f.Kinds[name] == nil && len(f.Kinds) >= maxKinds {
		name = cause
	}
	kind, repeats := f.Kind(name), f.Repeated(cause)
	if !kind.IsWorthALook() || !repeats.IsWorthALook() {
		if kind.Count == 0 {
			kind.Finding = repeats.Finding
		}
		kind.Count++
		f.Findings[kind.Finding].Count++
		return nil
	}
	var small *record.Finding
	var err error
	switch {
	case s.Fingerprint.Property == fingerprint.Unmet:
		small, err = c.unmet(checker, s)
	case s.Timeline:
		small, err = c.minimisedTimeline(s)
	default:
		small, err = c.minimised(checker, s)
	}
	if err != nil {
		return err
	}
	i := slices.IndexFunc(f.Findings, small.IsSame)
	repeats.Looks++
	if i < 0 {
		i = len(f.Findings)
		f.Findings = append(f.Findings, small)
		repeats.Looks, repeats.Passed = 0, 0
	}
	f.Findings[i].Count++
	kind.Count++
	kind.Minimised++
	kind.Finding, repeats.Finding = i, i
	return nil
}

// maxKinds bounds the memory for kinds: suspects of further ones are told apart by
// their fingerprints alone.
const maxKinds = 1000

// minimised makes the cluster of a suspect small.
func (c *campaign) minimised(checker *properties.Checker, s *suspect) (*record.Finding, error) {
	start := time.Now()
	c.clock()
	cluster := Generate(c.Config.Seed, s.Number, c.Config.FeatureGates, c.Config.Configuration)
	f := &record.Finding{
		Seed: c.Config.Seed, Number: s.Number, Detail: s.Detail, Stack: s.Stack,
		FoundAfter: c.Seconds(), Clusters: s.nth,
		Minimised: record.Minimised{From: minimize.SizeOf(cluster)},
		Identity:  fingerprint.Identity{Fingerprint: s.Fingerprint},
	}
	small, result, err := c.minimise(checker, cluster, s)
	switch {
	case err == nil && small.Minimal:
		cluster = small.Cluster
		f.Identity = fingerprint.Identify(&small.Finding, cluster)
		f.Minimised.Minimal = true
	case err == nil: // out of time: what is left may be different each time
		cluster = small.Cluster
		f.Minimised.Why = "it took too long"
	case errors.Is(err, minimize.ErrNotFound):
		f.Minimised.Why = "it did not occur again"
	case c.ctx.Err() != nil:
		return nil, c.ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		f.Minimised.Why = "there was no time left"
	default:
		f.Minimised.Why = words.FirstLine(err.Error())
	}
	if small != nil {
		f.Detail, f.Stack, f.Minimised.Checks = words.FirstLine(small.Finding.String()), small.Finding.Stack, small.Checks
	}
	f.Explanation = f.Detail
	if result != nil {
		f.Explanation = fingerprint.Explain(result, &small.Finding)
	}
	f.Minimised.To = minimize.SizeOf(cluster)
	f.Minimised.Seconds = time.Since(start).Seconds()
	f.Case, err = c.written(f, cluster, nil)
	return f, err
}

// minimiseUntil is when a finding is small enough.
func (c *campaign) minimiseUntil() time.Time {
	until := time.Now().Add(c.MinimiseFor)
	if !c.until.IsZero() && c.until.Before(until) {
		return c.until
	}
	return until
}

// minimise makes a cluster small, and checks the small one.
func (c *campaign) minimise(checker *properties.Checker, cluster *model.Cluster, s *suspect) (*minimize.Result, *properties.Result, error) {
	ctx, cancel := context.WithDeadline(c.ctx, c.minimiseUntil())
	defer cancel()
	thorough := *checker
	if s.Fingerprint.Property != properties.Differential {
		thorough.Sample = all.Sample(all.Shares{Relations: len(relation.All()), Filters: 1, Contracts: 1, Repeating: 1}) // which of them a worker looks at depends on the cluster
	}
	small, err := minimize.Minimise(ctx, &thorough, cluster, s.Fingerprint, minimize.Options{Workers: c.Workers, Certify: maxClasses})
	if err == nil && c.ctx.Err() != nil {
		err = c.ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := thorough.Check(minimize.Hurried(c.ctx, s.Fingerprint.Kind), small.Cluster)
	if err != nil {
		r = nil // an error is what was found
	}
	return small, r, nil
}

// written is the finding as a case, of a timeline that starts with the cluster if it is not
// nil.
func (c *campaign) written(f *record.Finding, cluster *model.Cluster, t *timeline.Timeline) (string, error) {
	fuzz := fmt.Sprintf("%s --seed %d", c.Config.Subcommand("fuzz"), f.Seed) + c.Config.Drawn(c.Config.FeatureGates)
	if c.Config.Shard.Of > 1 {
		fuzz += " --shard " + c.Config.Shard.String()
	}
	generate, what := "generate"+c.Config.Drawn(c.Config.FeatureGates), "cluster"
	if t != nil {
		generate, what = "generate --timeline"+c.Config.Drawn(c.Config.FeatureGates.OfTimelines(c.Checker.Release)), "timeline"
	}
	found := fmt.Sprintf("%s %s --seed %d --first %d | %s -", c.Config.Command, generate, f.Seed, f.Number, c.Config.Subcommand("check"))
	origin := fmt.Sprintf("%s, %s %d, %s", fuzz, what, f.Number, f.Minimised.Way())
	written := f.Identity.Case(f.Explanation, origin, found, cluster)
	written.Stack = f.Stack
	if written.Timeline = t; t != nil {
		written.Name = words.Slug("timeline " + written.Name)
	}
	if f.GoesToContact() {
		written.Name = words.Slug(record.KeptBack + " " + written.Name)
	}
	var text bytes.Buffer
	err := written.Write(&text)
	return text.String(), err
}
