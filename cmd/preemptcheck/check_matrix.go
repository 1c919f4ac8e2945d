package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// references are the schedulers that the value of --reference names: one, several
// after commas, or all.
func references(value string) (names []string) {
	if value != "all" {
		return strings.Split(value, ",")
	}
	for _, s := range systems.All() {
		names = append(names, s.Name)
	}
	// The one linked in is the first.
	slices.SortFunc(names, func(a, b string) int { return systems.ReleaseOf(a).Compare(systems.ReleaseOf(b)) })
	return names
}

// checkMatrix is check for several schedulers.
func checkMatrix(cmd *cobra.Command, names []string, in input, args []string, workers int, classes []properties.Class, output format) error {
	cases, inputErr := in.load(cmd, args)
	if len(cases) == 0 && inputErr != nil {
		return inputErr
	}
	schedulers, err := newSchedulers(names)
	if err != nil {
		return err
	}
	progress := newProgress(cmd.ErrOrStderr())
	m := replay.NewMatrix(cmd.Context(), schedulers, cases, workers, func(done, of int) {
		progress.show(func() string { return fmt.Sprintf("%d of %d checks", done, of) })
	}, classes...)
	progress.finish()
	for k, row := range m.Cases {
		for i, j := range row.Judgements {
			reproduce(j, schedulers[i].Checker, cases[k])
		}
	}
	if err := output.print(cmd.OutOrStdout(), m, m.WriteText); err != nil {
		return err
	}
	if inputErr != nil {
		printErrors(cmd.ErrOrStderr(), inputErr)
	}
	if m.Interrupted {
		fmt.Fprintln(cmd.ErrOrStderr(), "error: interrupted")
	}
	return status(m.Differ > 0, inputErr != nil || m.NotDone > 0 || m.Interrupted)
}

// newSchedulers makes the schedulers of these names. The error tells of all that
// cannot be run.
func newSchedulers(names []string) (schedulers []replay.Scheduler, err error) {
	var problems []error
	for _, name := range names {
		checker, err := newChecker(name, all.Properties()...)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		schedulers = append(schedulers, replay.Scheduler{Name: name, Checker: checker})
	}
	if len(problems) > 0 {
		for _, s := range schedulers {
			s.Checker.System.Close()
		}
		return nil, errors.Join(problems...)
	}
	return schedulers, nil
}
