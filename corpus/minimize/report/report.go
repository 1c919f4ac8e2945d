// Package report minimises the cluster of a case, and tells what became of it.
package report

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Report is what became of a case that was minimised.
type Report struct {
	File        string                  `json:"file"`
	Fingerprint fingerprint.Fingerprint `json:"fingerprint"`
	Finding     string                  `json:"finding"`
	// Stack holds the functions on the way to it, if it is a crash.
	Stack []string `json:"stack,omitempty"`
	// Explanation says in a sentence what is found in the minimised cluster.
	Explanation string        `json:"explanation"`
	From        minimize.Size `json:"from"`
	To          minimize.Size `json:"to"`
	// Checks counts the clusters checked; Minimal says that no single further
	// step keeps the finding.
	Checks  int  `json:"checks"`
	Minimal bool `json:"minimal"`
	// Stopped says why there was no time for all of it. It and Saved, the file of the
	// case, are left to the caller.
	Stopped string `json:"stopped,omitempty"`
	// Smallest says which smaller clusters were searched for the finding.
	Smallest *minimize.Certificate `json:"smallest,omitempty"`
	// Needs says what becomes of the finding with each further step.
	Needs []minimize.Need `json:"needs,omitempty"`
	// Reductions is how many further ones of a minimal timeline were tried: none keeps the finding.
	Reductions int `json:"reductions,omitempty"`
	// Neighbour is the smallest edit known after which everything agrees.
	Neighbour string `json:"neighbour,omitempty"`
	// ToContact says that it goes to the Kubernetes security contact before it is published.
	ToContact bool   `json:"toContact,omitempty"`
	Case      string `json:"case"`
	Saved     string `json:"saved,omitempty"`

	// Small is the minimised cluster as a case.
	Small *corpus.Case `json:"-"`
}

// Minimise makes the cluster of a case small. If several things are found in it, the
// first new one is kept, else the first known one. command is the command line that
// does so.
func Minimise(ctx context.Context, checker *properties.Checker, c *corpus.Case, command string, o minimize.Options) (*Report, error) {
	want, err := mainFinding(ctx, checker, c.Cluster)
	if err != nil {
		return nil, err
	}
	r, err := minimize.Minimise(ctx, checker, c.Cluster, want, o)
	if err != nil {
		return nil, err
	}
	m := &Report{
		File: c.File, Fingerprint: fingerprint.OfFinding(&r.Finding), Finding: words.FirstLine(r.Finding.String()),
		From: minimize.SizeOf(c.Cluster), To: minimize.SizeOf(r.Cluster),
		Stack: r.Finding.Stack, Checks: r.Checks, Minimal: r.Minimal, Smallest: r.Smallest, Needs: r.Needs,
	}
	if r.Neighbour != nil {
		m.Neighbour = r.Neighbour.Edit
	}
	// Once more, for what there is to tell, even if the time is up.
	plain := properties.Checker{System: checker.System, Release: checker.Release, Decide: checker.Decide}
	shown, _ := plain.Check(minimize.Hurried(context.WithoutCancel(ctx), m.Fingerprint.Kind), r.Cluster) // else nil: the check itself fails
	m.Explanation = fingerprint.Explain(shown, &r.Finding)
	m.Small = fingerprint.Identify(&r.Finding, r.Cluster).Case(m.Explanation, "minimised from "+c.File, command, r.Cluster)
	if len(r.Finding.Known) > 0 {
		m.Small.Finding, m.Small.Findings = nil, r.Finding.Known
	}
	m.Small.Stack = m.Stack
	m.keepBack()
	m.Case, err = written(m.Small)
	return m, err
}

// keepBack names the case of a finding that goes to the security contact as one of these.
func (m *Report) keepBack() {
	if m.ToContact = fingerprint.GoesToContact(m.Fingerprint, m.Finding); m.ToContact {
		m.Small.Name = words.Slug(fingerprint.KeptBack + " " + m.Small.Name)
	}
}

func written(c *corpus.Case) (string, error) {
	var text bytes.Buffer
	err := c.Write(&text)
	return text.String(), err
}

// mainFinding chooses what to minimise. The differential is looked at by itself
// first, as all the rest takes long on a large cluster.
func mainFinding(ctx context.Context, checker *properties.Checker, c *model.Cluster) (fingerprint.Fingerprint, error) {
	quick := *checker
	quick.Properties, quick.Sample = nil, nil
	for _, checker := range []*properties.Checker{&quick, checker} {
		r, err := checker.Check(ctx, c)
		switch {
		case err != nil && ctx.Err() != nil:
			return fingerprint.Fingerprint{}, ctx.Err()
		case err != nil:
			return fingerprint.Fingerprint{Property: fingerprint.Failed}, nil
		case r.Unmodelled != nil && len(r.Findings) == 0 && (checker != &quick || r.Observation == nil):
			return fingerprint.Fingerprint{}, r.Unmodelled
		}
		if all := fingerprint.Of(r); len(all) > 0 && (all[0].Known == "" || checker != &quick) {
			return all[0], nil
		}
	}
	return fingerprint.Fingerprint{}, errors.New("nothing is found in it")
}

// WriteText prints what was left out, and what each thing that is left is needed for.
func (m *Report) WriteText(w io.Writer) {
	isTimeline := m.Small != nil && m.Small.Timeline != nil
	if isTimeline {
		fmt.Fprintf(w, "%s\n\n", m.Finding)
	} else {
		fmt.Fprintf(w, "%s\n\n", m.Explanation)
	}
	if m.ToContact {
		fmt.Fprintf(w, "%s\n\n", fingerprint.ToContact)
	}
	if len(m.Stack) > 0 {
		words.WriteList(w, "", "stack", m.Stack)
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "from %s\nto   %s\nin   %s\n\n", m.From, m.To, words.Plural(m.Checks, "check"))
	if !m.Minimal {
		fmt.Fprintf(w, "not proven minimal: %s, and not every further step was tried\n\n", cmp.Or(m.Stopped, "the answers differ from time to time"))
		return
	}
	if isTimeline {
		fmt.Fprintf(w, "minimal: none of the %s tried at last keeps the finding\n\n", words.Plural(m.Reductions, "further reduction"))
		return
	}
	fmt.Fprintf(w, "minimal: none of the %s possible keeps the finding\n", words.Plural(len(m.Needs), "further step"))
	switch s := m.Smallest; {
	case s == nil:
	case s.Complete:
		fmt.Fprintf(w, "smallest: %s\n", s)
	default:
		fmt.Fprintf(w, "not proven smallest: %s, and %s\n", m.Stopped, s)
	}
	if m.Neighbour != "" {
		fmt.Fprintf(w, "nearest cluster on which everything agrees: %s\n", m.Neighbour)
	} else {
		fmt.Fprintln(w, "no single edit tried makes everything agree")
	}
	shown := deepest(m.Needs)
	fmt.Fprint(w, "\nWhat is left is needed")
	if len(shown) < len(m.Needs) {
		fmt.Fprint(w, " (-o json lists all steps)")
	}
	fmt.Fprint(w, ":\n\n")
	t := table.New("  ", "STEP", "THE FINDING BECOMES")
	for _, n := range shown {
		t.Row(n.Step, strings.ReplaceAll(n.Becomes, "\n", " "))
	}
	t.WriteText(w)
	fmt.Fprintln(w)
}

// deepest leaves out the steps that say no more than others: those that take away
// more of the same, with the same end.
func deepest(needs []minimize.Need) []minimize.Need {
	return slices.DeleteFunc(slices.Clone(needs), func(n minimize.Need) bool {
		return strings.HasPrefix(n.Step, "all objects of kind ") || slices.ContainsFunc(needs, func(less minimize.Need) bool {
			if less.Becomes != n.Becomes || less.Step == n.Step {
				return false
			}
			inside := strings.Contains(n.Step, ": without ") && (strings.HasPrefix(less.Step, n.Step+".") || strings.HasPrefix(less.Step, n.Step+"["))
			return inside || n.Step == less.Step+" and its room" || strings.HasPrefix(n.Step, less.Step+", ")
		})
	})
}
