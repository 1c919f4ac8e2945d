package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/properties"
)

// matrix is the answer of check for several schedulers.
type matrix struct {
	References []string `json:"references"`
	// Cases have a judgement for each of References, nil if there was no time.
	Cases []matrixRow `json:"cases"`
	// AsExpected counts the judgements that are as the case says, of which Known
	// have known findings; Refused those about what a release does not know; Differ
	// the others, without NotDone: not modelled, undecided, or not run.
	AsExpected  int  `json:"asExpected"`
	Known       int  `json:"known"`
	Refused     int  `json:"refused"`
	Differ      int  `json:"differ"`
	NotDone     int  `json:"notDone"`
	Interrupted bool `json:"interrupted,omitempty"`
}

type matrixRow struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	// Judgements are in the order of References.
	Judgements []*judgement `json:"judgements"`
	// own tells for which of them the case expects something else than for the last.
	own []bool
}

// references are the schedulers that the value of --reference names: one, several
// after commas, or all.
func references(value string) (names []string) {
	if value != "all" {
		return strings.Split(value, ",")
	}
	for _, s := range systems() {
		names = append(names, s.Name)
	}
	// The one linked in is the first.
	slices.SortFunc(names, func(a, b string) int { return releaseOf(a).Compare(releaseOf(b)) })
	return names
}

// checkMatrix is check for several schedulers.
func checkMatrix(cmd *cobra.Command, names []string, in input, args []string, workers int, output format) error {
	if workers < 1 {
		return errors.New("--workers: must be at least 1")
	}
	cases, inputErr := in.load(cmd, args)
	if len(cases) == 0 && inputErr != nil {
		return inputErr
	}
	m, err := checkAll(cmd, names, cases, workers)
	if err != nil {
		return err
	}
	if err := output.print(cmd.OutOrStdout(), m, m.text); err != nil {
		return err
	}
	if inputErr != nil {
		printErrors(cmd.ErrOrStderr(), inputErr)
	}
	if m.Interrupted {
		fmt.Fprintln(cmd.ErrOrStderr(), "error: interrupted")
	}
	return m.status(inputErr != nil)
}

// checkAll judges each case with each scheduler, as many of these at once as there
// are workers.
func checkAll(cmd *cobra.Command, names []string, cases []*corpus.Case, workers int) (*matrix, error) {
	m := &matrix{References: names}
	for _, c := range cases {
		row := matrixRow{Name: c.Name, File: c.File, Judgements: make([]*judgement, len(names))}
		for _, name := range names {
			row.own = append(row.own, c.Expected(name) != c.Expected(names[len(names)-1]))
		}
		m.Cases = append(m.Cases, row)
	}
	checkers, err := newCheckers(names)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // of progress and done
	done := 0
	progress := newProgress(cmd.ErrOrStderr())
	var group errgroup.Group
	group.SetLimit(workers)
	for i, checker := range checkers {
		group.Go(func() error {
			defer checker.System.Close()
			for k, c := range cases {
				j := judge(cmd.Context(), checker, c)
				if cmd.Context().Err() != nil {
					return nil // what was judged is not about the case
				}
				m.Cases[k].Judgements[i] = j
				mu.Lock()
				done++
				progress.show(func() string { return fmt.Sprintf("%d of %d checks", done, len(names)*len(cases)) })
				mu.Unlock()
			}
			return nil
		})
	}
	err = group.Wait()
	progress.finish()
	m.count()
	return m, err
}

// newCheckers tells of all schedulers that cannot be run.
func newCheckers(names []string) (checkers []*properties.Checker, err error) {
	var problems []error
	for _, name := range names {
		checker, err := newChecker(name, slices.Concat(properties.Invariants(), properties.Sampled())...)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		checkers = append(checkers, checker)
	}
	if len(problems) > 0 {
		for _, c := range checkers {
			c.System.Close()
		}
		return nil, errors.Join(problems...)
	}
	return checkers, nil
}

func (m *matrix) count() {
	for _, row := range m.Cases {
		for _, j := range row.Judgements {
			switch {
			case j == nil:
				m.Interrupted = true
			case j.isFound() || j.Result == gone:
				m.Differ++
			case j.Result == refused:
				m.Refused++
			case j.isCouldNot():
				m.NotDone++
			default:
				m.AsExpected++
				if j.Result != agrees {
					m.Known++
				}
			}
		}
	}
}

func (m *matrix) status(couldNot bool) error {
	return status(m.Differ > 0, couldNot || m.NotDone > 0 || m.Interrupted)
}

func (m *matrix) text(w io.Writer) {
	t := newTable("", append([]string{"NAME"}, shortNames(m.References)...)...)
	for _, row := range m.Cases {
		cells := []string{row.Name}
		for i, j := range row.Judgements {
			cell := cellOf(j)
			if row.own[i] && j.Result != refused {
				cell += "*"
			}
			cells = append(cells, cell)
		}
		t.row(cells...)
	}
	t.write(w)
	io.WriteString(w, `
ok  as expected     k  as expected, with known findings     -  uses what the release does not know
X   not so          ?  not modelled, undecided or not run   *  something else is expected than of the last
`)
	for _, row := range m.Cases {
		for i, j := range row.Judgements {
			if j == nil || !j.isFound() && j.Result != gone && (!j.isCouldNot() || j.Result == refused) {
				continue
			}
			fmt.Fprintf(w, "\n%s with %s: %s\n", row.Name, m.References[i], j.Result)
			for _, detail := range j.Details {
				fmt.Fprintln(w, "  "+strings.ReplaceAll(detail, "\n", "\n  "))
			}
			if j.Reproduce != "" {
				fmt.Fprintf(w, "  reproduce: %s\n", j.Reproduce)
			}
		}
	}
	fmt.Fprintf(w, "\n%s with %s: %d as expected (%d with known findings), %d not known to the release, %d not as expected",
		plural(len(m.Cases), "case"), plural(len(m.References), "scheduler"), m.AsExpected, m.Known, m.Refused, m.Differ)
	if m.NotDone > 0 {
		fmt.Fprintf(w, ", %d not modelled, undecided or not run", m.NotDone)
	}
	fmt.Fprintln(w)
}

func cellOf(j *judgement) string {
	switch {
	case j == nil:
		return ""
	case j.isFound() || j.Result == gone:
		return "X"
	case j.Result == refused:
		return "-"
	case j.isCouldNot():
		return "?"
	case j.Result == agrees:
		return "ok"
	}
	return "k"
}

// shortNames leave out the patch release where that is clear without.
func shortNames(releases []string) []string {
	minor := func(name string) string {
		r := releaseOf(name)
		return fmt.Sprintf("1.%d", r.Minor)
	}
	short := make([]string, len(releases))
	for i, name := range releases {
		if short[i] = minor(name); slices.ContainsFunc(releases, func(other string) bool { return other != name && minor(other) == short[i] }) {
			short[i] = strings.TrimPrefix(name, "v")
		}
	}
	return short
}
