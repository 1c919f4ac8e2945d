package campaign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/relation"
)

// maxMinimising bounds the time for one finding. Most take less than a second.
const maxMinimising = time.Minute

// maxClasses bounds the search for a smaller cluster with a finding: see
// minimize.Options.
const maxClasses = 3000

// deduplicate says which finding a suspect is: one of those that there are, or a new
// one. An error means that it was interrupted.
func (c *campaign) deduplicate(f *Causes, checker *properties.Checker, s *suspect) error {
	cause := s.Fingerprint.String()
	if s.Timeline {
		cause = "timeline: " + cause
	}
	name := s.Kind
	if f.Kinds[name] == nil && len(f.Kinds) >= maxKinds {
		name = cause
	}
	kind, repeats := entry(&f.Kinds, name), entry(&f.Repeats, cause)
	if !kind.isWorthALook() || !repeats.isWorthALook() {
		if kind.Count == 0 {
			kind.Finding = repeats.Finding
		}
		kind.Count++
		f.Findings[kind.Finding].Count++
		return nil
	}
	var small *Finding
	var err error
	if s.Timeline {
		small, err = c.minimisedTimeline(s)
	} else {
		small, err = c.minimised(checker, s)
	}
	if err != nil {
		return err
	}
	i := slices.IndexFunc(f.Findings, small.isSame)
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

// entry is what a map has for a key: it is added if there is none.
func entry[T any](of *map[string]*T, key string) *T {
	if *of == nil {
		*of = map[string]*T{}
	}
	if (*of)[key] == nil {
		(*of)[key] = new(T)
	}
	return (*of)[key]
}

// maxKinds bounds the memory for kinds: suspects of further ones are told apart by
// their fingerprints alone.
const maxKinds = 1000

// isWorthALook tells whether to minimise one more suspect of the kind: the first,
// the 4th, the 16th and so on, as two causes may look alike at first.
func (k *Kind) isWorthALook() bool {
	n := uint(k.Count + 1)
	return bits.OnesCount(n) == 1 && bits.TrailingZeros(n)%2 == 0
}

// maxRepeats is how many suspects with one fingerprint are minimised without
// finding anything new before only some are.
const maxRepeats = 10

// isWorthALook tells whether to minimise one more suspect with the fingerprint.
func (b *Repeats) isWorthALook() bool {
	if b.Looks < maxRepeats {
		return true
	}
	b.Passed++
	return bits.OnesCount(uint(b.Passed)) == 1
}

// minimised makes the cluster of a suspect small.
func (c *campaign) minimised(checker *properties.Checker, s *suspect) (*Finding, error) {
	start := time.Now()
	c.clock()
	cluster := Generate(c.Config.Seed, s.Number)
	f := &Finding{
		Seed: c.Config.Seed, Number: s.Number, Detail: s.Detail,
		FoundAfter: c.Seconds(), Clusters: s.nth,
		Minimised: Minimised{From: minimize.SizeOf(cluster)},
		Identity:  fingerprint.Identity{Fingerprint: s.Fingerprint},
	}
	finding := &properties.Finding{Property: s.Fingerprint.Property, Stage: s.Fingerprint.Stage, Detail: s.Detail}
	small, result, err := c.minimise(checker, cluster, s)
	switch {
	case err == nil && small.Minimal:
		cluster, finding = small.Cluster, &small.Finding
		f.Identity = fingerprint.Identify(finding, cluster)
		f.Minimised.Minimal = true
	case err == nil: // out of time: what is left may be different each time
		cluster, finding = small.Cluster, &small.Finding
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
	f.Detail = words.FirstLine(finding.String())
	f.Explanation = f.Detail
	if result != nil {
		f.Explanation = fingerprint.Explain(result, finding)
	}
	if small != nil {
		f.Minimised.Checks = small.Checks
	}
	f.Minimised.To = minimize.SizeOf(cluster)
	f.Minimised.Seconds = time.Since(start).Seconds()
	f.Case, err = c.written(f, cluster, nil)
	return f, err
}

// isSame tells whether two findings are one: what shows in clusters and what shows in
// timelines are counted apart.
func (f *Finding) isSame(other *Finding) bool {
	return f.Identity == other.Identity && f.Timeline == other.Timeline
}

// minimise makes a cluster small, and checks the small one.
func (c *campaign) minimise(checker *properties.Checker, cluster *model.Cluster, s *suspect) (*minimize.Result, *properties.Result, error) {
	until := time.Now().Add(maxMinimising)
	if !c.until.IsZero() && c.until.Before(until) {
		until = c.until
	}
	ctx, cancel := context.WithDeadline(c.ctx, until)
	defer cancel()
	thorough := *checker
	if s.Fingerprint.Property != properties.Differential {
		thorough.Sample = all.Sample(len(relation.All()), 1) // which of them a worker looks at depends on the cluster
	}
	small, err := minimize.Minimise(ctx, &thorough, cluster, s.Fingerprint, minimize.Options{Workers: c.Workers, Certify: maxClasses})
	if err == nil && c.ctx.Err() != nil {
		err = c.ctx.Err()
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := thorough.Check(c.ctx, small.Cluster)
	if err != nil {
		r = nil // an error is what was found
	}
	return small, r, nil
}

// written is the finding as a case, of a timeline that starts with the cluster if it is not
// nil.
func (c *campaign) written(f *Finding, cluster *model.Cluster, t *timeline.Timeline) (string, error) {
	fuzz := fmt.Sprintf("%s --seed %d", c.Config.subcommand("fuzz"), f.Seed)
	if c.Config.Shard.Of > 1 {
		fuzz += " --shard " + c.Config.Shard.String()
	}
	generate, what := "generate", "cluster"
	if t != nil {
		generate, what = "generate --timeline", "timeline"
	}
	found := fmt.Sprintf("%s %s --seed %d --first %d | %s -", c.Config.Command, generate, f.Seed, f.Number, c.Config.subcommand("check"))
	origin := fmt.Sprintf("%s, %s %d, minimised", fuzz, what, f.Number)
	written := f.Identity.Case(f.Explanation, origin, found, cluster)
	if written.Timeline = t; t != nil {
		written.Name = words.Slug("timeline " + written.Name)
	}
	if f.goesToContact() {
		written.Name = words.Slug(keptBack + " " + written.Name)
	}
	var text bytes.Buffer
	err := written.Write(&text)
	return text.String(), err
}

// saveCases writes the cases that are not in files yet.
func saveCases(dir string, findings []*Finding) error {
	for _, f := range findings {
		if f.File != "" {
			continue
		}
		s, err := corpus.Read(strings.NewReader(f.Case), f.Identity.Name())
		if err != nil {
			return fmt.Errorf("a case in %s cannot be read: %w", stateFile, err)
		}
		path, err := corpus.Save(dir, s.Cases[0])
		if err != nil {
			return err
		}
		f.File = filepath.Base(path)
	}
	return nil
}
