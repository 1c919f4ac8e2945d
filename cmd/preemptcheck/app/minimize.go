package app

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/report"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/properties/all"
)

func newMinimize() *cobra.Command {
	in := newInput()
	var duration time.Duration
	var classes uint64
	var workers int
	var dir, scheduler string
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "minimize FILE",
		Short: "Make a cluster as small as it can be while the same is found in it",
		Long: `Minimize leaves out of a cluster all that a finding does not need: nodes, pods,
budgets, fields; it makes numbers small and names plain. What is left shows the
same property broken at the same stage, and if the finding is known, for the same
reason. If several things are found, the first new one is minimised, else the
first known one.

At the end each single further step was tried and lost the finding: the report on
standard error says what became of each, and which smallest edit makes everything
agree. Then the clusters with fewer nodes, pods or budgets that "preemptcheck
exhaustive" goes through are searched for the finding, up to the largest bound that
has at most --classes of them: if one has it, that one is minimised, else the
report says what was searched. When --for is over, or on an interrupt, the result
is the best so far, and the report says so.

What comes out does not depend on --workers.

So it is with a timeline, but for the smaller clusters: the report says how many further
reductions were tried at the end, none of which keeps the finding.

The case goes to standard output, or with --out to a new file there. With -o json
or yaml, the report goes to standard output and holds the case.

Exit status: 0 if the cluster was minimised; 2 if nothing is found in it, or it
could not be read.`,
		Example: `  preemptcheck minimize corpus/cases/finding-budget-order.yaml
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml | preemptcheck minimize - --pod shop/web-0 --out findings`,
	}
	in.ClusterFlags(cmd)
	cmd.Flags().DurationVar(&duration, "for", 5*time.Minute, "how long; 0 is until it is done")
	flags.NotNegative(cmd, "for", &duration)
	cmd.Flags().Uint64Var(&classes, "classes", 100_000, "how many classes of smaller clusters to search at most; 0 is no search")
	flags.Workers(cmd, &workers)
	cmd.Flags().StringVar(&dir, "out", "", "directory to save the case in; it is created when it is needed")
	flags.Config(cmd, &in.Configuration)
	flags.AutoReference(cmd, &scheduler)
	terminal.OutputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		scheduler, err := in.Scheduler(cmd, args, scheduler)
		if err != nil {
			return err
		}
		checker, err := checkers.New(scheduler, workers, all.Properties()...)
		if err != nil {
			return err
		}
		defer checker.System.Close()
		c, err := in.LoadOne(cmd, args)
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if duration > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, duration)
			defer cancel()
		}
		progress, start := terminal.NewProgress(cmd.ErrOrStderr()), time.Now()
		var m *report.Report
		if c.Timeline != nil {
			m, err = minimiseTimeline(ctx, scheduler, c)
		} else {
			m, err = report.Minimise(ctx, checker, c, program.Command()+" minimize"+given(c), minimize.Options{Workers: workers, Certify: classes, Progress: func(p minimize.Progress) {
				progress.Show(terminal.Unknown, func() string { return fmt.Sprintf("%s: %s", time.Since(start).Round(time.Second), p) })
			}})
		}
		progress.Finish()
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
		switch {
		case cmd.Context().Err() != nil:
			m.Stopped = "interrupted"
		case ctx.Err() != nil:
			m.Stopped = "--for is over"
		}
		if dir != "" {
			if m.Saved, err = corpus.Save(dir, m.Small); err != nil {
				return err
			}
		}
		if output != terminal.Text {
			return output.Print(cmd.OutOrStdout(), m, nil)
		}
		m.WriteText(cmd.ErrOrStderr())
		if m.Saved != "" {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), m.Saved)
		} else {
			_, err = io.WriteString(cmd.OutOrStdout(), m.Case)
		}
		return err
	}
	return cmd
}

// minimiseTimeline makes the timeline of a case small with the scheduler of that name.
func minimiseTimeline(ctx context.Context, reference string, c *corpus.Case) (*report.Report, error) {
	life, err := checkers.NewLife(reference)
	if err != nil {
		return nil, err
	}
	if life == nil {
		return nil, fmt.Errorf("%s cannot be run through timelines", reference)
	}
	defer life.Close()
	return report.MinimiseTimeline(ctx, life.Live, c)
}
