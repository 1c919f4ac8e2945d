package replay

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Matrix is what became of cases with several schedulers.
type Matrix struct {
	References []string `json:"references"`
	// Cases have a judgement for each of References, nil if there was no time.
	Cases []Row `json:"cases"`
	// AsExpected counts the judgements that are as the case says, of which Known
	// have known findings; Refused those about what a release does not know; Differ
	// the others, without NotDone: not modelled, undecided, or not run.
	AsExpected  int  `json:"asExpected"`
	Known       int  `json:"known"`
	Refused     int  `json:"refused"`
	Differ      int  `json:"differ"`
	NotDone     int  `json:"notDone"`
	Interrupted bool `json:"interrupted,omitempty"`

	columns []string
}

// Row is what became of one case.
type Row struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Judgements are in the order of Matrix.References.
	Judgements []*Judgement `json:"judgements"`
	// own tells for which of them the case expects something else than for the last.
	own []bool
}

// Scheduler is one of several to replay cases with.
type Scheduler struct {
	Name    string
	Checker *properties.Checker
}

// NewMatrix judges each case with each scheduler, as many of these at once as there
// are workers, until the context is done. It closes each scheduler when it is done
// with it. It calls progress, if it is not nil, after each judgement, from one
// goroutine at a time. The classes are those of Judge.
func NewMatrix(ctx context.Context, schedulers []Scheduler, cases []*corpus.Case, workers int, progress func(done, of int), classes ...properties.Class) *Matrix {
	m := &Matrix{columns: shortNames(schedulers)}
	for _, s := range schedulers {
		m.References = append(m.References, s.Name)
	}
	for _, c := range cases {
		row := Row{Name: c.Name, File: c.File, Judgements: make([]*Judgement, len(schedulers))}
		last := c.Expected(schedulers[len(schedulers)-1].Name)
		for _, s := range schedulers {
			row.own = append(row.own, c.Expected(s.Name) != last)
		}
		m.Cases = append(m.Cases, row)
	}
	var mu sync.Mutex // of progress and done
	done := 0
	var group errgroup.Group
	group.SetLimit(workers)
	for i, s := range schedulers {
		group.Go(func() error {
			defer s.Checker.System.Close()
			for k, c := range cases {
				j := Judge(ctx, s.Checker, c, classes...)
				if ctx.Err() != nil {
					return nil // what was judged is not about the case
				}
				m.Cases[k].Judgements[i] = j
				mu.Lock()
				done++
				if progress != nil {
					progress(done, len(schedulers)*len(cases))
				}
				mu.Unlock()
			}
			return nil
		})
	}
	group.Wait()
	m.count()
	return m
}

// What the cells of the matrix say. That of a case that was not judged is empty.
const (
	cellAsExpected = "ok"
	cellKnown      = "k"
	cellDiffers    = "X"
	cellRefused    = "-"
	cellNotDone    = "?"
)

func cellOf(j *Judgement) string {
	switch {
	case j == nil:
		return ""
	case j.IsFound() || j.Result == Gone:
		return cellDiffers
	case j.Result == Refused:
		return cellRefused
	case j.IsNotDone():
		return cellNotDone
	case j.Result == Agrees || j.Result == PassedOver:
		return cellAsExpected
	}
	return cellKnown
}

func (m *Matrix) count() {
	cells := map[string]int{}
	for _, row := range m.Cases {
		for _, j := range row.Judgements {
			cells[cellOf(j)]++
		}
	}
	m.Known, m.Refused, m.Differ, m.NotDone = cells[cellKnown], cells[cellRefused], cells[cellDiffers], cells[cellNotDone]
	m.AsExpected, m.Interrupted = cells[cellAsExpected]+m.Known, cells[""] > 0
}

// WriteText prints the matrix, all that is not as the cases say, and the counts.
func (m *Matrix) WriteText(w io.Writer) {
	t := table.New("", append([]string{"NAME"}, m.columns...)...)
	for _, row := range m.Cases {
		cells := []string{row.Name}
		for i, j := range row.Judgements {
			cell := cellOf(j)
			if row.own[i] && cell != "" && cell != cellRefused {
				cell += "*"
			}
			cells = append(cells, cell)
		}
		t.Row(cells...)
	}
	t.WriteText(w)
	io.WriteString(w, `
ok  as expected     k  as expected, with known findings     -  uses what the release does not know
X   not so          ?  not modelled, undecided or not run   *  something else is expected than of the last
`)
	for _, row := range m.Cases {
		for i, j := range row.Judgements {
			if cell := cellOf(j); cell == cellDiffers || cell == cellNotDone {
				fmt.Fprintln(w)
				j.write(w, row.Name+" with "+m.References[i], j.Details)
			}
		}
	}
	fmt.Fprintf(w, "\n%s with %s: %d as expected (%d with known findings), %d not known to the release, %d not as expected",
		words.Plural(len(m.Cases), "case"), words.Plural(len(m.References), "scheduler"), m.AsExpected, m.Known, m.Refused, m.Differ)
	if m.NotDone > 0 {
		fmt.Fprintf(w, ", %d not modelled, undecided or not run", m.NotDone)
	}
	fmt.Fprintln(w)
}

// shortNames leave out the patch release where that is clear without.
func shortNames(schedulers []Scheduler) (names []string) {
	minor := func(s Scheduler) string { return fmt.Sprintf("1.%d", s.Checker.Release.Minor) }
	for _, s := range schedulers {
		name := minor(s)
		if slices.ContainsFunc(schedulers, func(other Scheduler) bool { return other.Name != s.Name && minor(other) == name }) {
			name = strings.TrimPrefix(s.Name, "v")
		}
		names = append(names, name)
	}
	return names
}
