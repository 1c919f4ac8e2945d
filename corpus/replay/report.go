package replay

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// Report is what became of many cases.
type Report struct {
	Cases []*Judgement `json:"cases"`
	// Passed counts the cases that agree, of which Known have known findings, and
	// Remarks none that makes the scheduler disagree;
	// Gone those that no longer reproduce what they were saved for; Failed the
	// others, without NotDone: not modelled, undecided, or not run.
	Passed  int `json:"passed"`
	Known   int `json:"known"`
	Remarks int `json:"remarks"`
	Gone    int `json:"noLongerReproduces"`
	Failed  int `json:"failed"`
	NotDone int `json:"notDone"`
	// KnownBy counts the cases in which each known finding occurred.
	KnownBy     map[string]int `json:"knownBy,omitempty"`
	Interrupted bool           `json:"interrupted,omitempty"`
}

// Add counts a judgement.
func (r *Report) Add(j *Judgement) {
	r.Cases = append(r.Cases, j)
	for _, id := range slices.Concat(j.Known, j.Routine) {
		if r.KnownBy == nil {
			r.KnownBy = map[string]int{}
		}
		r.KnownBy[id]++
	}
	switch {
	case j.IsFound():
		r.Failed++
	case j.IsNotDone():
		r.NotDone++
	case j.Result == Gone:
		r.Gone++
	default:
		r.Passed++
		if len(j.Known) > 0 {
			r.Known++
		}
		if j.Remark {
			r.Remarks++
		}
	}
}

// routine are the known findings that RESULT leaves out.
func (r *Report) routine() (ids []string) {
	for _, j := range r.Cases {
		ids = append(ids, j.Routine...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// WriteNames prints the name of each case.
func (r *Report) WriteNames(w io.Writer) {
	for _, j := range r.Cases {
		fmt.Fprintln(w, j.Name)
	}
}

// WriteText prints a table of all cases, what there is to say about some, and the
// counts.
func (r *Report) WriteText(w io.Writer) { r.write(w, false) }

// WriteWide is WriteText with the file of each case, and all known findings that occurred.
func (r *Report) WriteWide(w io.Writer) { r.write(w, true) }

// styleOf is how a result looks like.
func styleOf(result string) terminal.Style {
	switch result, _, _ = strings.Cut(result, ":"); result {
	case Agrees:
		return terminal.Good
	case Found, Unexpected, Failed:
		return terminal.Bad
	case Known, Gone, NotModelled, Refused, Undecided:
		return terminal.Known
	case Remark, PassedOver, Otherwise:
		return terminal.Dim
	}
	return terminal.Plain
}

func (r *Report) write(w io.Writer, wide bool) {
	if len(r.Cases) > 0 {
		header := []string{"NAME", "OUTCOME", "DECIDED BY", "RESULT"}
		if wide {
			header = []string{"NAME", "FILE", "OUTCOME", "DECIDED BY", "KNOWN FINDINGS", "RESULT"}
		}
		t := table.New("", header...)
		t.Paint(func(w io.Writer, cell string) string { return terminal.Paint(w, styleOf(cell), cell) })
		for _, j := range r.Cases {
			outcome, by := cmp.Or(j.Outcome, "-"), cmp.Or(j.DecidedBy, "-")
			if wide {
				t.Row(j.Name, cmp.Or(j.File, "-"), outcome, by, cmp.Or(strings.Join(append(slices.Clone(j.Known), j.Routine...), ","), "-"), j.Result)
			} else {
				t.Row(j.Name, outcome, by, j.Result)
			}
		}
		t.WriteText(w)
		fmt.Fprintln(w)
	}
	for _, j := range r.Cases {
		if !j.IsFound() && !j.IsNotDone() && j.Note == "" {
			continue
		}
		details := j.Details
		if j.Note != "" {
			details = append(slices.Clip(details), "note: "+j.Note)
		}
		j.write(w, j.Name, details)
		fmt.Fprintln(w)
	}
	table.WriteCounts(w, "KNOWN FINDING", "CASES", ledger.Named(table.Sorted(r.KnownBy)))
	if routine := r.routine(); len(routine) > 0 {
		fmt.Fprintf(w, "At every preemption, and so no part of RESULT: %s\n\n", strings.Join(routine, ", "))
	}
	fmt.Fprintf(w, "%d passed", r.Passed)
	switch {
	case r.Remarks > 0 && r.Remarks == r.Known:
		fmt.Fprintf(w, " (%d with remarks)", r.Remarks)
	case r.Remarks > 0:
		fmt.Fprintf(w, " (%d with known findings, of which %d with remarks only)", r.Known, r.Remarks)
	case r.Known > 0:
		fmt.Fprintf(w, " (%d with known findings)", r.Known)
	}
	failed := fmt.Sprintf("%d failed", r.Failed)
	if r.Failed > 0 {
		failed = terminal.Paint(w, terminal.Bad, failed)
	}
	fmt.Fprintf(w, ", %s", failed)
	if r.Gone > 0 {
		fmt.Fprintf(w, ", %d no longer reproduces", r.Gone)
	}
	if r.NotDone > 0 {
		fmt.Fprintf(w, ", %d not modelled, undecided or not run", r.NotDone)
	}
	fmt.Fprintln(w)
}
