package app

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/corpus/exhaustive"
	"github.com/preemptcheck/preemptcheck/generators/bounded"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/sweep"
)

func newExhaustiveCommand() *cobra.Command {
	var o exhaustive.Options
	var workers int
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "exhaustive",
		Short: "Check every small cluster, each once up to symmetry",
		Long: `Exhaustive checks every cluster within a bound on nodes, pods, priorities, sizes,
start times and budgets. Of clusters that differ only in what cannot matter, such
as the numbering of nodes, it checks one. The bounds 1 to 4 add to one another: 1
takes seconds, 2 half a minute, 3 some minutes and 4 up to half an hour.

With --groups it checks clusters in which pods belong to pod groups, or the
preemptor is one, instead: the scheduler has the feature gate GenericWorkload.

With --state it can be interrupted, or killed, at any time: the same command goes
on where it was. The file is removed when the bound is complete.

The first cluster of each kind on which something new is found is written to --out
as a case: smaller clusters come first, so it is a small one.

Exit status: 1 if something new was found; else 2 if it was interrupted or a
cluster could not be checked; else 0.`,
		Example: `  preemptcheck exhaustive --bound 1
  preemptcheck exhaustive --groups --bound 2
  preemptcheck exhaustive --state exhaustive.json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().IntVar(&o.Bound, "bound", bounded.MaxBound, fmt.Sprintf("how far to go: 1 to %d", bounded.MaxBound))
	cmd.Flags().BoolVar(&o.Groups, "groups", false, "check clusters with pod groups")
	flags.Workers(cmd, &workers)
	cmd.Flags().StringVar(&o.Dir, "out", "findings", "directory to save cases in; it is created when it is needed")
	cmd.Flags().StringVar(&o.State, "state", "", "file to keep the state in, to go on from it")
	flags.Reference(cmd, &o.Reference)
	terminal.OutputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Bound < 1 || o.Bound > bounded.MaxBound {
			return fmt.Errorf("--bound: must be 1 to %d", bounded.MaxBound)
		}
		o.Version, o.Command = program.Version(), program.Command()
		e, err := exhaustive.New(o)
		if err != nil {
			return fmt.Errorf("--state: %w", err)
		}
		checker, err := checkers.New(o.Reference, workers, all.Cheap()...)
		if err != nil {
			return err
		}
		defer checker.System.Close()
		checker.Sample = all.Sample(all.Shares{Relations: 1, Repeating: 1})
		progress := terminal.NewProgress(cmd.ErrOrStderr())
		err = e.Check(cmd.Context(), slices.Repeat([]sweep.Check{checker.Check}, workers), cmd.ErrOrStderr(), progress.Show)
		progress.Finish()
		if err != nil {
			return err
		}
		return output.Conclude(cmd, e, e.WriteText, len(e.New) > 0, !e.IsComplete() || e.Sweep.Errors > 0)
	}
	return cmd
}
