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
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
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
	// TimelinesNotRun is how many timelines were not run with a scheduler that can run none, by
	// its name. Those that no scheduler can run are not among Cases.
	TimelinesNotRun map[string]int `json:"timelinesNotRun,omitempty"`

	columns []string
}

// Row is what became of one case.
type Row struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Judgements are in the order of Matrix.References.
	Judgements []*Judgement `json:"judgements"`
	// Case is the case itself.
	Case *corpus.Case `json:"-"`
	// own tells for which of them the case expects something else than for the last.
	own []bool
}

// Scheduler is one of several to replay cases with.
type Scheduler struct {
	Name    string
	Checker *properties.Checker
	// Life runs the timelines; nil if the scheduler can run none.
	Life reference.LifeSystem
}

// Close ends it.
func (s *Scheduler) Close() {
	s.Checker.System.Close()
	if s.Life != nil {
		s.Life.Close()
	}
}

// judge checks a case, or a timeline.
func (s *Scheduler) judge(ctx context.Context, c *corpus.Case, classes []ledger.Class) *Judgement {
	switch {
	case c.Timeline == nil:
		return Judge(ctx, s.Checker, c, classes...)
	case s.Life == nil:
		return &Judgement{Name: c.Name, File: c.File, Result: NoTimelines}
	}
	return JudgeTimeline(ctx, s.Life, c, classes...)
}

// isOwn tells whether a case expects something else of one scheduler than of another one.
func isOwn(c *corpus.Case, one, other *Scheduler) bool {
	if c.Timeline != nil && c.Releases != "" {
		return one.Checker.Release.In(c.Releases) != other.Checker.Release.In(c.Releases)
	}
	return c.Expected(one.Name) != c.Expected(other.Name)
}

// NewMatrix judges each case with each scheduler, as many of these at once as there
// are workers, until the context is done. It closes each scheduler when it is done
// with it. It calls progress, if it is not nil, after each judgement, from one
// goroutine at a time. The classes are those of Judge.
func NewMatrix(ctx context.Context, schedulers []Scheduler, cases []*corpus.Case, workers int, progress func(done, of int), classes ...ledger.Class) *Matrix {
	m := &Matrix{columns: shortNames(schedulers)}
	for _, s := range schedulers {
		m.References = append(m.References, s.Name)
	}
	lives := slices.ContainsFunc(schedulers, func(s Scheduler) bool { return s.Life != nil })
	for _, c := range cases {
		if c.Timeline != nil {
			m.leaveOut(schedulers)
			if !lives {
				continue
			}
		}
		row := Row{Name: c.Name, File: c.File, Judgements: make([]*Judgement, len(schedulers)), Case: c}
		last := &schedulers[len(schedulers)-1]
		for i := range schedulers {
			row.own = append(row.own, isOwn(c, &schedulers[i], last))
		}
		m.Cases = append(m.Cases, row)
	}
	var mu sync.Mutex // of progress and done
	done := 0
	var group errgroup.Group
	group.SetLimit(workers)
	for i, s := range schedulers {
		group.Go(func() error {
			defer s.Close()
			for k := range m.Cases {
				j := s.judge(ctx, m.Cases[k].Case, classes)
				if ctx.Err() != nil {
					return nil // what was judged is not about the case
				}
				m.Cases[k].Judgements[i] = j
				mu.Lock()
				done++
				if progress != nil {
					progress(done, len(schedulers)*len(m.Cases))
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
	cellNotRun     = "/"
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
	case j.Result == NoTimelines:
		return cellNotRun
	case j.Result == Agrees || j.Result == PassedOver || j.Result == Otherwise:
		return cellAsExpected
	}
	return cellKnown
}

// leaveOut counts a timeline for each scheduler that cannot run it.
func (m *Matrix) leaveOut(schedulers []Scheduler) {
	for _, s := range schedulers {
		if s.Life != nil {
			continue
		}
		if m.TimelinesNotRun == nil {
			m.TimelinesNotRun = map[string]int{}
		}
		m.TimelinesNotRun[s.Name]++
	}
}

// NothingRun tells whether there was nothing but timelines, which no scheduler can run.
func (m *Matrix) NothingRun() bool { return len(m.Cases) == 0 && len(m.TimelinesNotRun) > 0 }

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
	if !m.NothingRun() {
		m.writeCases(w)
	}
	var names []string
	for _, name := range m.References {
		if m.TimelinesNotRun[name] > 0 {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		were := "were"
		if m.TimelinesNotRun[names[0]] == 1 {
			were = "was"
		}
		words.WriteWrapped(w, "", fmt.Sprintf("%s %s not run with %s: timelines cannot be run with %s.",
			words.Plural(m.TimelinesNotRun[names[0]], "timeline"), were, strings.Join(names, ", "), map[bool]string{true: "it", false: "these"}[len(names) == 1]))
	}
}

func (m *Matrix) writeCases(w io.Writer) {
	t := table.New("", append([]string{"NAME"}, m.columns...)...)
	for _, row := range m.Cases {
		cells := []string{row.Name}
		for i, j := range row.Judgements {
			cell := cellOf(j)
			if row.own[i] && cell != "" && cell != cellRefused && cell != cellNotRun {
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
	if len(m.TimelinesNotRun) > 0 && slices.ContainsFunc(m.Cases, func(r Row) bool { return r.Case.Timeline != nil }) {
		fmt.Fprintln(w, "/   timelines cannot be run with it")
	}
	for _, row := range m.Cases {
		for i, j := range row.Judgements {
			if cell := cellOf(j); cell == cellDiffers || cell == cellNotDone {
				fmt.Fprintln(w)
				j.write(w, row.Name+" with "+m.References[i], j.Details)
			}
		}
	}
	timelines := 0
	for _, row := range m.Cases {
		if row.Case.Timeline != nil {
			timelines++
		}
	}
	all := words.Plural(len(m.Cases)-timelines, "case")
	switch {
	case timelines == len(m.Cases) && timelines > 0:
		all = words.Plural(timelines, "timeline")
	case timelines > 0:
		all += " and " + words.Plural(timelines, "timeline")
	}
	fmt.Fprintf(w, "\n%s with %s: %d as expected (%d with known findings), %d not known to the release, %d not as expected",
		all, words.Plural(len(m.References), "scheduler"), m.AsExpected, m.Known, m.Refused, m.Differ)
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
