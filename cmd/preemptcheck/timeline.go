package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/steps"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
)

// minimizeTimeline makes a timeline small, and prints or saves it. What is kept is the first
// new finding, else the first known one.
func minimizeTimeline(cmd *cobra.Command, ctx context.Context, reference, dir string, c *corpus.Case) error {
	life, err := newLife(reference)
	if err != nil {
		return err
	}
	if life == nil {
		return fmt.Errorf("%s: %s cannot be run through timelines", c.File, reference)
	}
	defer life.Close()
	_, all, err := variation.Run(ctx, life.Live, c.Timeline, true)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	all = append(lifetime.Unexplained(all), all...)
	if len(all) == 0 {
		return fmt.Errorf("%s: nothing is found in it", c.File)
	}
	keep := all[0]
	small := steps.Minimise(ctx, c.Timeline, func(ctx context.Context, t *timeline.Timeline) bool {
		_, now, err := variation.Run(ctx, life.Live, t, variation.Is(keep.Property))
		return err == nil && slices.ContainsFunc(now, func(f lifetime.Finding) bool {
			return f.Property == keep.Property && f.Kind == keep.Kind && slices.Equal(f.Known, keep.Known)
		})
	})
	from, to := steps.SizeOf(c.Timeline), steps.SizeOf(small.Timeline)
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s\nfrom %s to %s, with %d checks", keep.Property, strings.Join(append([]string{keep.Kind}, keep.Known...), "; "), from, to, small.Checks)
	if small.Minimal {
		fmt.Fprintln(cmd.ErrOrStderr(), "; no further step keeps it")
	} else {
		fmt.Fprintln(cmd.ErrOrStderr(), "; the time was up, so it may become smaller")
	}
	result := &corpus.Case{Name: c.Name, Description: keep.Detail, Origin: c.Origin, Finding: c.Finding, Findings: keep.Known,
		Cluster: small.Timeline.Cluster, Timeline: small.Timeline}
	if dir == "" {
		return result.Write(cmd.OutOrStdout())
	}
	path, err := corpus.Save(dir, result)
	if err == nil {
		fmt.Fprintln(cmd.OutOrStdout(), path)
	}
	return err
}
