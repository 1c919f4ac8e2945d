package reports

import (
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"

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
	// Ends are what became of the clusters, Reasons why some could not be compared.
	Ends, Reasons []known
	Lives         []timelineKind
}

// timelineKind is a kind of differences in timelines, with the cluster at the start of the smallest one.
type timelineKind struct {
	*diff.TimelineKind
	Drawn template.HTML
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
		p := pair{Pair: c, Ends: counted(c.Verdicts), Reasons: counted(c.Why)}
		for _, x := range c.Ways {
			ways++
			shown := way{Way: x, Title: "Not explained"}
			if x.Change != nil {
				shown.Title = x.Change.Title
			}
			for _, k := range x.Kinds {
				d := difference{Difference: k}
				var err error
				if d.Drawn, err = drawText(k.Case); err != nil {
					return err
				}
				shown.Kinds = append(shown.Kinds, d)
			}
			p.Ways = append(p.Ways, shown)
		}
		if c.Timelines != nil {
			for _, k := range c.Timelines.Kinds {
				shown := timelineKind{TimelineKind: k}
				if k.Example != nil {
					var err error
					if shown.Drawn, err = drawText(k.Example.Case); err != nil {
						return err
					}
				}
				p.Lives = append(p.Lives, shown)
			}
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

// counted are counts as bars, the most frequent first.
func counted[K ~string](counts map[K]uint64) (all []known) {
	most := uint64(0)
	for _, n := range counts {
		most = max(most, n)
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, known{string(name), int(counts[name]), share(float64(counts[name]), float64(most))})
	}
	slices.SortStableFunc(all, func(a, b known) int { return b.Count - a.Count })
	return all
}
