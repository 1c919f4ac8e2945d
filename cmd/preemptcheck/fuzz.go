package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/properties"
)

func newFuzz() *cobra.Command {
	var seed, cases uint64
	var duration time.Duration
	var dir, reference string
	var output format
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Check generated clusters, and save those on which something is found",
		Long: `Fuzz generates clusters and checks each, until --for or --cases is reached or it
is interrupted. Of the clusters on which something new is found, those that look
like one cause are saved once: what can be left out is left out, and the rest is
written to --out as a case, which "preemptcheck check" reproduces. Known findings
are only counted.

The clusters depend only on --seed and their number. Feature gates are global to
a process, so this takes one CPU: to use more, run several with different seeds.

Exit status: 1 if something new was found, else 0.`,
		Example: `  preemptcheck fuzz --for 5m
  preemptcheck fuzz --seed 42 --cases 10000 --out /tmp/findings`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().DurationVar(&duration, "for", time.Minute, "how long; 0 is until --cases or an interrupt")
	cmd.Flags().Uint64Var(&cases, "cases", 0, "how many clusters; 0 is until --for")
	cmd.Flags().StringVar(&dir, "out", "findings", "directory to save cases in; it is created when it is needed")
	seedFlag(cmd, &seed)
	referenceFlag(cmd, &reference)
	outputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		checker, err := newChecker(reference, properties.Invariants()...)
		if err != nil {
			return err
		}
		defer checker.System.Close()
		checker.Relations = 2
		ctx := cmd.Context()
		if duration > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, duration)
			defer cancel()
		}
		c := &campaign{checker: checker, seed: seed, dir: dir, summary: summary{Seed: seed}}
		fmt.Fprintln(cmd.ErrOrStderr(), "seed", seed)
		err = c.run(ctx, cases, newProgress(cmd.ErrOrStderr()))
		if printErr := output.print(cmd.OutOrStdout(), &c.summary, c.summary.text); err == nil {
			err = printErr
		}
		if err != nil {
			return err
		}
		return status(len(c.summary.New) > 0, false)
	}
	return cmd
}

// progress shows now and then how far a campaign is: in place on a terminal,
// else in a line every ten seconds.
type progress struct {
	w        io.Writer
	terminal bool
	next     time.Time
	every    time.Duration
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, every: 10 * time.Second}
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			p.terminal, p.every = true, time.Second
		}
	}
	p.next = time.Now().Add(p.every)
	return p
}

func (p *progress) show(s *properties.Stats, elapsed time.Duration, found int) {
	now := time.Now()
	if now.Before(p.next) {
		return
	}
	p.next = now.Add(p.every)
	line := fmt.Sprintf("%s: %d clusters, %.0f per second, %.0f %% preempt, %s saved",
		elapsed.Round(time.Second), s.Clusters, float64(s.Clusters)/elapsed.Seconds(), percent(s.Preempted, s.Clusters), plural(found, "new finding"))
	if p.terminal {
		fmt.Fprintf(p.w, "\r\033[K%s", line)
	} else {
		fmt.Fprintln(p.w, line)
	}
}

// finish clears the line in place.
func (p *progress) finish() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\033[K")
	}
}

func percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
