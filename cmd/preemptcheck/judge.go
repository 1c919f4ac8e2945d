package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// judgement is what became of one case.
type judgement struct {
	Name      string `json:"name"`
	File      string `json:"file,omitempty"`
	Outcome   string `json:"outcome"`
	DecidedBy string `json:"decidedBy,omitempty"`
	Result    string `json:"result"`
	// Known are the ids of the known findings that occurred.
	Known   []string `json:"known,omitempty"`
	Details []string `json:"details,omitempty"`
	// Note says what has become of the finding that the case was saved for, if it
	// does not occur as it did.
	Note string `json:"note,omitempty"`
	// Reproduce is the command line that shows the same again.
	Reproduce string `json:"reproduce,omitempty"`
}

// The results.
const (
	agrees      = "agrees"
	known       = "known finding" // and its ids
	found       = "finding"
	gone        = "no longer reproduces"
	unexpected  = "unexpected"
	notModelled = "not modelled"
	refused     = "not known to the release"
	undecided   = "undecided"
	failed      = "error"
)

func (j *judgement) isFound() bool { return j.Result == found || j.Result == unexpected }
func (j *judgement) isCouldNot() bool {
	return j.Result == notModelled || j.Result == refused || j.Result == undecided || j.Result == failed
}

// judge checks a case, and that it is as the case says.
func judge(ctx context.Context, checker *properties.Checker, c *corpus.Case) *judgement {
	j := &judgement{Name: c.Name, File: c.File, Result: agrees}
	defer func() {
		if j.isFound() || j.isCouldNot() {
			j.Reproduce = commandFor("check", checker.System.Name(), c)
		}
	}()
	r, err := checkCase(ctx, checker, c)
	if err != nil {
		j.Result, j.Details = failed, []string{err.Error()}
		if c.Finding != nil && c.Finding.Property == fingerprint.Failed {
			j.Result = found
		}
		return j
	}
	if r.Unmodelled != nil {
		j.Result = notModelled
		if r.Refused {
			j.Result = refused
		}
		j.Details = lines(r.Unmodelled)
		return j
	}
	j.Outcome, j.DecidedBy = outcome(r)
	var ids []string
	var explained []properties.Finding
	for _, f := range r.Findings {
		if ids = append(ids, f.Known...); len(f.Known) > 0 {
			explained = append(explained, f)
		}
	}
	j.Details = lines(slices.Concat(r.Unexplained(), explained))
	slices.Sort(ids)
	ids = slices.Compact(ids)
	j.Known = ids
	if len(ids) > 0 {
		j.Result = known + " " + strings.Join(ids, ", ")
	}
	if r.Undecided != "" {
		j.Result, j.Details = undecided, append(j.Details, r.Undecided)
	}
	if len(r.Unexplained()) > 0 {
		j.Result = found
	}
	j.recall(c, r)
	complaints := unmet(c.Expected(checker.System.Name()), r.Decision)
	for _, id := range c.Findings {
		if entry, ok := properties.LookUp(id); ok && !checker.Release.In(entry.Releases) {
			continue
		}
		if !slices.Contains(ids, id) {
			complaints = append(complaints, "finding "+id+" no longer occurs")
		}
	}
	if len(complaints) > 0 {
		j.Details = append(j.Details, complaints...)
		if j.Result != found {
			j.Result = unexpected
		}
	}
	return j
}

// recall says what has become of the finding that the case was saved for.
func (j *judgement) recall(c *corpus.Case, r *properties.Result) {
	if c.Finding == nil || j.Result == undecided {
		return
	}
	what := "saved for " + recorded(c.Finding) + ", which "
	switch same := occurs(c.Finding, r); {
	case same != nil && len(same.Known) > 0:
		j.Note = what + "was new then"
	case same != nil:
	case j.Result == found:
		j.Note = what + "does not occur"
	default:
		j.Result = gone
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
		if err != nil || c.Finding == nil || r.Unmodelled != nil || occurs(c.Finding, r) != nil || r.Decision.DecidedBy(r.Observation) != model.Tie {
			break
		}
	}
	return r, err
}

// outcome says in a few words what the scheduler did. Where it may take any of
// several nodes, all of them are named, so that the words do not depend on
// chance.
func outcome(r *properties.Result) (outcome, decidedBy string) {
	o := r.Observation
	switch {
	case o.CycleError != "":
		return "error", ""
	case o.ScheduledTo != "" && !slices.Contains(r.Decision.Fits, o.ScheduledTo):
		return "fits on " + o.ScheduledTo, "" // which should not be
	case o.ScheduledTo != "":
		return "fits on " + anyOf(r.Decision.Fits), ""
	case o.Eligible != nil && !o.Eligible.OK:
		return "not eligible", ""
	case o.Pick == nil:
		return "no help", ""
	}
	decidedBy = r.Decision.DecidedBy(o)
	nodes := []string{o.Pick.Node}
	if decidedBy == model.Tie && r.Decision.Orders() <= maxOrders {
		nodes = choiceNodes(r.Decision.Choices())
	}
	return fmt.Sprintf("preempts %d on %s", len(o.Pick.Victims), anyOf(nodes)), decidedBy
}

func choiceNodes(choices []model.Choice) []string {
	var nodes []string
	for _, c := range choices {
		nodes = append(nodes, c.Node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// maxOrders bounds model.Decision.Orders for the commands that want to know all
// allowed answers: beyond it, working them out takes longer than a few seconds.
const maxOrders = 50_000

// lines writes each on a line, but only the first of very many.
func lines[T fmt.Stringer](all []T) []string {
	const most = 10
	var lines []string
	for i, s := range all {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		lines = append(lines, s.String())
	}
	return lines
}
