package reports

import (
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/internal/page"
)

// diffView is what the template "diff" shows.
type diffView struct {
	*diff.Report
	Pairs []pair
}

type pair struct {
	*diff.Pair
	Ways []way
}

type way struct {
	*diff.Way
	Title string
	Kinds []difference
}

type difference struct {
	*diff.Difference
	Drawn template.HTML
}

// Diff writes the page of what releases decide differently.
func Diff(w io.Writer, r *diff.Report) error {
	v := &diffView{Report: r}
	ways := 0
	for _, c := range r.Comparisons {
		p := pair{Pair: c}
		for _, x := range c.Ways {
			ways++
			shown := way{Way: x, Title: "Not explained"}
			if x.Change != nil {
				shown.Title = x.Change.Title
			}
			for _, k := range x.Kinds {
				d := difference{Difference: k}
				if stream, err := corpus.Read(strings.NewReader(k.Case), k.Kind); err == nil && len(stream.Cases) > 0 {
					if d.Drawn, err = drawCase(stream.Cases[0]); err != nil {
						return err
					}
				}
				shown.Kinds = append(shown.Kinds, d)
			}
			p.Ways = append(p.Ways, shown)
		}
		v.Pairs = append(v.Pairs, p)
	}
	verdict := &page.Verdict{Mood: page.Good, Text: "Nothing is decided differently."}
	if r.Differs() {
		verdict = &page.Verdict{Mood: page.Unclear, Text: fmt.Sprintf("Preemption decides differently, in %d ways.", ways)}
	}
	if r.Interrupted {
		verdict.Lines = append(verdict.Lines, "It was interrupted: there may be more.")
	}
	if r.IsIncomplete() {
		verdict.Lines = append(verdict.Lines, "Not all could be compared.")
	}
	d, err := render(&page.Document{Title: fmt.Sprintf("From %s to %s", r.From, r.To), Kind: "Release differences", Verdict: verdict, Data: r, Facts: []page.Fact{{Name: "Command", Value: r.Command}}}, "diff", v)
	if err != nil {
		return err
	}
	return d.Write(w)
}
