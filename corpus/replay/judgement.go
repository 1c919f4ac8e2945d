// Package replay checks cases again: cases that were saved, or each pending pod of a
// cluster dump, with one scheduler or with many.
package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// Judgement is what became of one case.
type Judgement struct {
	Name      string `json:"name"`
	File      string `json:"file,omitempty"`
	Outcome   string `json:"outcome"`
	DecidedBy string `json:"decidedBy,omitempty"`
	Result    string `json:"result"`
	// Known are the ids of the known findings that occurred, Remark tells whether
	// none of them makes the scheduler disagree.
	Known []string `json:"known,omitempty"`
	// Routine are those that show whenever pods are preempted.
	Routine []string `json:"routine,omitempty"`
	Remark  bool     `json:"remark,omitempty"`
	Details []string `json:"details,omitempty"`
	// ToContact says that one of its findings goes to the Kubernetes security contact before it
	// is published.
	ToContact bool `json:"toContact,omitempty"`
	// Reached says what was seen of a cycle in which the scheduler breaks down.
	Reached []string `json:"reached,omitempty"`
	// Stack is where the scheduler breaks down: the functions of each goroutine involved.
	Stack []string `json:"stack,omitempty"`
	// Note says what has become of the finding that the case was saved for, if it
	// does not occur as it did.
	Note string `json:"note,omitempty"`
	// Reproduce is the command line that shows the same again. It is left to the
	// caller.
	Reproduce string `json:"reproduce,omitempty"`
}

// The results.
const (
	Agrees      = "agrees"
	Known       = "disagrees" // and the known findings with their classes
	Remark      = "remark"    // likewise
	PassedOver  = "passed over"
	Found       = "finding"
	Gone        = "no longer reproduces"
	Unexpected  = "unexpected"
	Otherwise   = "otherwise, as it says" // than in the releases that a timeline is about
	NoTimelines = "runs no timelines"     // where other schedulers do
	NotModelled = "not modelled"
	Refused     = "not known to the release"
	Undecided   = "undecided"
	Failed      = "error"
)

// IsFound tells whether there is something to look into.
func (j *Judgement) IsFound() bool { return j.Result == Found || j.Result == Unexpected }

// IsNotDone tells whether the case could not be judged.
func (j *Judgement) IsNotDone() bool {
	return j.Result == NotModelled || j.Result == Refused || j.Result == Undecided || j.Result == Failed
}

// write prints the result, what there is to say about it, and how to see it again.
func (j *Judgement) write(w io.Writer, what string, details []string) {
	fmt.Fprintf(w, "%s: %s\n", what, j.Result)
	if j.ToContact {
		details = append(slices.Clip(details), fingerprint.ToContact)
	}
	if j.Reproduce != "" {
		details = append(slices.Clip(details), "reproduce: "+j.Reproduce)
	}
	for _, detail := range details {
		fmt.Fprintln(w, "  "+strings.ReplaceAll(detail, "\n", "\n  "))
	}
	words.WriteList(w, "  ", "seen until then", j.Reached)
	words.WriteList(w, "  ", "stack", j.Stack)
}

// Judge checks a case, and that it is as the case says: that what it expects is
// what the model allows, and that its known findings occur. If there are classes, it
// passes over known findings of others.
func Judge(ctx context.Context, checker *properties.Checker, c *corpus.Case, classes ...ledger.Class) *Judgement {
	j := &Judgement{Name: c.Name, File: c.File, Result: Agrees}
	r, err := checkCase(ctx, checker, c)
	if err != nil {
		j.Result, j.Details = Failed, []string{err.Error()}
		if c.Finding != nil && c.Finding.Property == fingerprint.Failed {
			j.Result = Found
		}
		return j
	}
	j.breaks(r)
	if r.Unmodelled != nil {
		j.Result = NotModelled
		if r.Refused {
			j.Result = Refused
		}
		j.Details = words.Lines(r.Unmodelled)
		if len(r.Unexplained()) > 0 {
			j.Result, j.Details = Found, slices.Concat(words.Lines(r.Unexplained()), j.Details)
			j.recall(c, r)
		} else {
			j.Details = append(j.Details, asked(r)...)
			j.witnesses(checker, c, r)
		}
		return j
	}
	j.Outcome, j.DecidedBy = explanation.Outcome(r)
	var ids []string
	var explained []properties.Finding
	for _, f := range r.Findings {
		ids = append(ids, f.Known...)
	}
	// What shows whenever pods are preempted is told of the case that is about it.
	routine := func(id string) bool { return ledger.IsRoutine(id) && !slices.Contains(c.Findings, id) }
	for _, f := range r.Findings {
		if len(ledger.OfClass(f.Known, classes)) > 0 && slices.ContainsFunc(f.Known, func(id string) bool { return !routine(id) }) {
			explained = append(explained, f)
		}
	}
	j.Details = words.Lines(slices.Concat(r.Unexplained(), explained))
	slices.Sort(ids)
	ids = slices.Compact(ids)
	for _, id := range ledger.OfClass(ids, classes) {
		if routine(id) {
			j.Routine = append(j.Routine, id)
		} else {
			j.Known = append(j.Known, id)
		}
	}
	if len(j.Known) > 0 {
		j.Result, j.Remark = Known, !ledger.Disagree(j.Known)
		if j.Remark {
			j.Result = Remark
		}
		j.Result += ": " + fingerprint.Named(j.Known)
	} else if len(ids) > len(j.Routine) {
		j.Result = PassedOver
	}
	if r.Undecided != "" {
		j.Result, j.Details = Undecided, append(j.Details, r.Undecided)
	}
	if len(r.Unexplained()) > 0 {
		j.Result = Found
	}
	j.recall(c, r)
	complaints := Unmet(checker, c, r)
	if len(complaints) > 0 {
		j.Details = append(j.Details, complaints...)
		if j.Result != Found {
			j.Result = Unexpected
		}
	}
	return j
}

// Unmet says in what a result is not as the case says: that its known findings occur and, of a case that is modelled, what it expects.
func Unmet(checker *properties.Checker, c *corpus.Case, r *properties.Result) (complaints []string) {
	if r.Unmodelled == nil {
		complaints = unmet(c.Expected(checker.System.Name()), r)
	}
	for _, id := range c.Findings {
		if entry, ok := ledger.LookUp(id); ok && (!checker.Release.In(entry.Releases) || !all.CanShow(entry, r.Observation)) {
			continue
		}
		if !slices.ContainsFunc(r.Findings, func(f properties.Finding) bool { return slices.Contains(f.Known, id) }) {
			complaints = append(complaints, "finding "+id+" no longer occurs")
		}
	}
	return complaints
}

// breaks tells how the scheduler breaks down, if it does, and whether a finding goes to the
// security contact.
func (j *Judgement) breaks(r *properties.Result) {
	for _, f := range r.Findings {
		j.ToContact = j.ToContact || fingerprint.GoesToContact(fingerprint.OfFinding(&f), f.Detail)
	}
	if r.Observation != nil && r.Observation.Crash != nil {
		j.Outcome, j.Stack = string(r.Observation.Crash.Kind), r.Observation.Crash.Frames()
		j.Reached = properties.Reached(r.Observation)
	}
}

// witnesses judges a case that is not modelled by the known findings that it is there for, if it names some: they need no model. A scheduler that
// cannot show them passes over it; of others it is unexpected that they do not occur, unless plugins are not Kubernetes' own.
func (j *Judgement) witnesses(checker *properties.Checker, c *corpus.Case, r *properties.Result) {
	shown := func(id string) bool {
		entry, ok := ledger.LookUp(id)
		return !ok || all.CanShow(entry, &model.Observation{})
	}
	if len(c.Findings) > 0 && r.Observation == nil && !slices.ContainsFunc(c.Findings, shown) {
		j.Result = PassedOver
		return
	}
	occurs := func(id string) bool {
		return slices.ContainsFunc(r.Findings, func(f properties.Finding) bool { return slices.Contains(f.Known, id) })
	}
	if len(c.Findings) == 0 || r.Observation == nil {
		return
	}
	if complaints := Unmet(checker, c, r); len(complaints) > 0 && checker.Outside == nil {
		j.Result, j.Details = Unexpected, append(j.Details, complaints...)
		return
	}
	if slices.ContainsFunc(c.Findings, func(id string) bool { return !occurs(id) }) {
		return
	}
	j.Known, j.Remark, j.Result = slices.Clone(c.Findings), !ledger.Disagree(c.Findings), Known
	if j.Remark {
		j.Result = Remark
	}
	j.Result += ": " + fingerprint.Named(j.Known)
}

// asked says what was asked of a cluster that is not modelled, and what is found that is known.
func asked(r *properties.Result) []string {
	if r.Observation == nil {
		return []string{"nothing was asked: the scheduler did not run"}
	}
	known := slices.DeleteFunc(r.Particular(), func(f properties.Finding) bool { return len(f.Known) == 0 })
	if r.Observation.Crash != nil {
		return append(words.Lines(known), "asked was whether the scheduler gets through it")
	}
	return append(words.Lines(known), "asked was all that needs no model of that: whether the scheduler gets through it, and the promises to users")
}

// recall says what has become of the finding that the case was saved for.
func (j *Judgement) recall(c *corpus.Case, r *properties.Result) {
	if c.Finding == nil || j.Result == Undecided {
		return
	}
	what := "saved for " + recorded(c.Finding) + ", which "
	switch same := occurs(c.Finding, r); {
	case same != nil && len(same.Known) > 0:
		j.Note = what + "was new then"
	case same != nil:
	case j.Result == Found:
		j.Note = what + "does not occur"
	default:
		j.Result = Gone
		j.Note = what + "does not occur any more; it was found by: " + cmp.Or(c.Finding.Found, "?") +
			"\nTo keep the case, put what to expect in place of \"finding:\"."
	}
}

// recorded names the finding that a case was saved for.
func recorded(f *corpus.Finding) string {
	return fingerprint.Fingerprint{Property: f.Property, Stage: model.Stage(f.Stage)}.String()
}

// occurs looks for a recorded finding among those of a check, and prefers one
// that is not known.
func occurs(f *corpus.Finding, r *properties.Result) *properties.Finding {
	all := slices.Concat(r.Unexplained(), r.Findings)
	i := slices.IndexFunc(all, func(g properties.Finding) bool { return g.Property == f.Property && string(g.Stage) == f.Stage })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// tries is how often a case is checked for the finding it was saved for if the
// scheduler throws a dice.
const tries = 5

// checkCase checks the cluster of a case.
func checkCase(ctx context.Context, checker *properties.Checker, c *corpus.Case) (r *properties.Result, err error) {
	for range tries {
		r, err = checker.Check(ctx, c.Cluster)
		if err != nil || c.Finding == nil || r.Unmodelled != nil || occurs(c.Finding, r) != nil || !explanation.IsLeftToChance(r) {
			break
		}
	}
	return r, err
}
