package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/reference"
)

// JudgeTimeline runs a timeline, and checks that it goes as promised and as it says itself.
// If there are classes, it passes over known findings of others. system may be nil: then
// timelines cannot be run.
func JudgeTimeline(ctx context.Context, system reference.LifeSystem, c *corpus.Case, classes ...ledger.Class) *Judgement {
	j := &Judgement{Name: c.Name, File: c.File, Result: Agrees}
	if system == nil {
		j.Result, j.Details = Failed, []string{"this scheduler cannot be run through timelines"}
		return j
	}
	life, findings, err := variation.Run(ctx, system.Live, c.Timeline, true)
	if err != nil {
		j.Result, j.Details = Failed, []string{err.Error()}
		if errors.As(err, new(*reference.Refusal)) {
			j.Result = Refused
		}
		return j
	}
	trace := life.Trace
	j.Outcome = lifeOutcome(trace)
	fresh := lifetime.Unexplained(findings)
	var ids []string
	var explained []lifetime.Finding
	for _, f := range findings {
		ids = append(ids, f.Known...)
		if len(ledger.OfClass(f.Known, classes)) > 0 {
			explained = append(explained, f)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	j.Details = words.Lines(slices.Concat(fresh, explained))
	for _, f := range fresh {
		j.ToContact = j.ToContact || fingerprint.GoesToContact(fingerprint.Fingerprint{Property: f.Property, Kind: f.Kind}, f.Detail)
	}
	if trace.Crash != nil {
		j.Stack = trace.Crash.Frames()
	}
	switch j.Known = ledger.OfClass(ids, classes); {
	case len(fresh) > 0:
		j.Result = Found
	case len(j.Known) > 0:
		j.Result, j.Remark = Known, !ledger.Disagree(j.Known)
		if j.Remark {
			j.Result = Remark
		}
		j.Result += ": " + fingerprint.Named(j.Known)
	case len(ids) > 0:
		j.Result = PassedOver
	}
	if c.Finding != nil && !slices.ContainsFunc(findings, func(f lifetime.Finding) bool { return f.Property == c.Finding.Property }) {
		j.Result = Gone
		j.Note = fmt.Sprintf("saved for %s, which does not occur any more; it was found by: %s", c.Finding.Property, c.Finding.Found)
	}
	for _, detail := range UnmetByLife(c, life, findings) {
		j.unexpected(detail)
	}
	if c.Releases != "" && !life.Release().In(c.Releases) {
		if j.IsFound() || !slices.Equal(ids, slices.Sorted(slices.Values(c.Findings))) {
			j.Result = Otherwise
		} else {
			j.unexpected(fmt.Sprintf("it goes as in %s, and %s is none of these", c.Releases, trace.System))
		}
	}
	return j
}

// UnmetByLife says in what a timeline did not go as its case says: that its known findings occur, and what its steps expect.
func UnmetByLife(c *corpus.Case, life *lifetime.Life, findings []lifetime.Finding) (complaints []string) {
	for _, id := range c.Findings {
		if e, ok := ledger.LookUp(id); ok && !life.Release().In(e.Releases) {
			continue
		}
		if !slices.ContainsFunc(findings, func(f lifetime.Finding) bool { return slices.Contains(f.Known, id) }) {
			complaints = append(complaints, "finding "+id+" no longer occurs")
		}
	}
	for _, u := range life.Trace.Unmet {
		complaints = append(complaints, fmt.Sprintf("step %d: expected that %s, but %s", u.Step+1, u.Expectation, u.Was))
	}
	return complaints
}

// unexpected notes what is not as the case says.
func (j *Judgement) unexpected(detail string) {
	j.Details = append(j.Details, detail)
	if j.Result != Found {
		j.Result = Unexpected
	}
}

// lifeOutcome counts the pods as they are in the end.
func lifeOutcome(t *timeline.Trace) string {
	if t.Quiet == nil {
		return "did not come to rest"
	}
	bound, pending := 0, 0
	for _, p := range t.Quiet.Pods {
		switch {
		case p.Exists && p.Node != "":
			bound++
		case p.Exists:
			pending++
		}
	}
	return fmt.Sprintf("%d bound, %d pending", bound, pending)
}
