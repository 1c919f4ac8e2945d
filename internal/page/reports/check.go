package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// checkView is what the template "check" shows.
type checkView struct {
	*replay.Report
	Classes []class
	Rows    []judged
	Known   []known
}

// class is a result, and how many cases have it.
type class struct {
	Name  string
	Count int
}

type judged struct {
	*replay.Judgement
	Class string
	Names []string // of known findings
	Mood  string
	Lines []string
}

// known is a known finding, and in how many cases it occurred.
type known struct {
	ID    string
	Count int
	Share string // percent of the most frequent one
}

// newJudged says how a judgement is shown.
func newJudged(j *replay.Judgement) judged {
	result, _, _ := strings.Cut(j.Result, ":") // known findings are named besides
	row := judged{Judgement: j, Class: result, Names: namesOf(j.Known), Mood: "good", Lines: slices.Concat(j.Details, j.Reached, j.Stack)}
	switch {
	case j.IsFound(), result == replay.Known:
		row.Mood = "bad"
	case j.IsNotDone(), result == replay.Remark, result == replay.Gone:
		row.Mood = "warn"
	}
	if j.Note != "" {
		row.Lines = append(row.Lines, "note: "+j.Note)
	}
	return row
}

// Check writes the page of cases that were checked.
func Check(w io.Writer, r *replay.Report) error {
	v := &checkView{Report: r}
	counts := map[string]int{}
	for _, j := range r.Cases {
		row := newJudged(j)
		counts[row.Class]++
		v.Rows = append(v.Rows, row)
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		v.Classes = append(v.Classes, class{name, counts[name]})
	}
	most := 1
	for _, n := range r.KnownBy {
		most = max(most, n)
	}
	for _, id := range slices.Sorted(maps.Keys(r.KnownBy)) {
		v.Known = append(v.Known, known{id, r.KnownBy[id], share(float64(r.KnownBy[id]), float64(most))})
	}
	slices.SortStableFunc(v.Known, func(a, b known) int { return b.Count - a.Count })
	verdict := &page.Verdict{Mood: page.Good, Text: fmt.Sprintf("%d passed, nothing failed.", r.Passed)}
	switch {
	case r.Failed > 0:
		verdict.Mood, verdict.Text = page.Bad, fmt.Sprintf("%d failed, %d passed.", r.Failed, r.Passed)
	case r.NotDone > 0:
		verdict.Mood, verdict.Text = page.Unclear, fmt.Sprintf("%d passed, nothing failed; %d not modelled, undecided or not run.", r.Passed, r.NotDone)
	}
	if r.Known > 0 {
		verdict.Lines = append(verdict.Lines, fmt.Sprintf("%d of those that passed have known findings, %d with remarks only.", r.Known, r.Remarks))
	}
	if r.Gone > 0 {
		verdict.Lines = append(verdict.Lines, fmt.Sprintf("%d no longer reproduces.", r.Gone))
	}
	if r.Interrupted {
		verdict.Lines = append(verdict.Lines, "It was interrupted: there are more.")
	}
	d, err := render(&page.Document{Title: words.Plural(len(r.Cases), "case") + " checked", Kind: "Check", Verdict: verdict, Data: r}, "check", v)
	if err != nil {
		return err
	}
	return d.Write(w)
}

// namesOf are the names of known findings.
func namesOf(ids []string) (names []string) {
	for _, id := range ids {
		names = append(names, ledger.Name(id))
	}
	return names
}

// share is a part in percent, as a length.
func share(part, whole float64) string {
	if whole <= 0 || part <= 0 {
		return "0%"
	}
	return fmt.Sprintf("%.2f%%", min(100, 100*part/whole))
}
