package reports

import (
	"fmt"
	"io"

	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// matrixView is what the template "matrix" shows.
type matrixView struct {
	*replay.Matrix
	Classes []class
	Rows    []matrixRow
}

// matrixRow is a case; Class is "alike" if all schedulers came to the same, and "unlike" otherwise.
type matrixRow struct {
	Name, Class string
	Cells       []matrixCell
	Told        []matrixCell // those of which there is more to tell
}

// matrixCell is what a scheduler came to; its Judgement is nil if there was no time.
type matrixCell struct {
	judged
	Scheduler string
}

// Matrix writes the page of cases that were checked with several schedulers.
func Matrix(w io.Writer, m *replay.Matrix) error {
	v := &matrixView{Matrix: m, Classes: []class{{Name: "alike"}, {Name: "unlike"}}}
	for _, c := range m.Cases {
		row := matrixRow{Name: c.Name, Class: "alike"}
		for i, j := range c.Judgements {
			cell := matrixCell{judged{Class: "–"}, m.References[i]}
			if j != nil {
				cell.judged = newJudged(j)
			}
			if len(row.Cells) > 0 && (row.Cells[0].Class != cell.Class || j != nil && row.Cells[0].Judgement != nil && row.Cells[0].Outcome != j.Outcome) {
				row.Class = "unlike"
			}
			row.Cells = append(row.Cells, cell)
			if len(cell.Lines) > 0 || len(cell.Names) > 0 {
				row.Told = append(row.Told, cell)
			}
		}
		at := 0
		if row.Class == "unlike" {
			at = 1
		}
		v.Classes[at].Count++
		v.Rows = append(v.Rows, row)
	}
	verdict := &page.Verdict{Mood: page.Good, Text: fmt.Sprintf("All %d answers are as the cases say.", m.AsExpected)}
	switch {
	case m.Differ > 0:
		verdict.Mood, verdict.Text = page.Bad, fmt.Sprintf("%d answers are not as the cases say, %d are.", m.Differ, m.AsExpected)
	case m.NotDone > 0 || m.NothingRun():
		verdict.Mood, verdict.Text = page.Unclear, fmt.Sprintf("%d answers are as the cases say; %d not modelled, undecided or not run.", m.AsExpected, m.NotDone)
	}
	if m.Known > 0 {
		verdict.Lines = append(verdict.Lines, fmt.Sprintf("%d of them with known findings.", m.Known))
	}
	if m.Refused > 0 {
		verdict.Lines = append(verdict.Lines, fmt.Sprintf("%d are about what a release does not know.", m.Refused))
	}
	for name, n := range m.TimelinesNotRun {
		verdict.Lines = append(verdict.Lines, fmt.Sprintf("%s were not run with %s.", words.Plural(n, "timeline"), name))
	}
	if m.Interrupted {
		verdict.Lines = append(verdict.Lines, "It was interrupted: there are more.")
	}
	d, err := render(&page.Document{Title: fmt.Sprintf("%s, %s", words.Plural(len(m.Cases), "case"), words.Plural(len(m.References), "scheduler")), Kind: "Check", Verdict: verdict, Data: m}, "matrix", v)
	if err != nil {
		return err
	}
	return d.Write(w)
}
