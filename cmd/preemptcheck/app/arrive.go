package app

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus/coming"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/properties/explanation/arrivals"
)

// moreCycles is how many cycles there may be besides one for each pod that comes.
const moreCycles = 1_000

// explainArrivals tells what comes of manifests in a cluster.
func explainArrivals(cmd *cobra.Command, in *source.Input, args []string, m *coming.Manifests, files []string, checker *properties.Checker, output terminal.Format, bounds arrival.Bounds, rows int) error {
	c, name, missing, err := in.OneCluster(cmd, args)
	if err != nil {
		return err
	}
	comes, err := m.For(c)
	if err != nil {
		return err
	}
	for _, note := range m.Notes {
		terminal.Note(cmd.ErrOrStderr(), note)
	}
	pods := 0
	for _, w := range comes.Workloads {
		pods += len(w.Pods)
	}
	bounds.Cycles = pods + moreCycles
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	cycles, victims := 0, 0
	decide := explanation.Decides(checker, missing)
	course, err := arrival.Run(cmd.Context(), c, comes, func(ctx context.Context, c *model.Cluster) (*arrival.Answer, error) {
		progress.Show(terminal.Unknown, func() string {
			return fmt.Sprintf("%s coming: %s done, %s preempted", words.Plural(pods, "pod"), words.Plural(cycles, "cycle"), words.Plural(victims, "pod"))
		})
		a, err := decide(ctx, c)
		if cycles++; a != nil {
			victims += len(a.Victims)
		}
		return a, err
	}, bounds)
	progress.Finish()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	story := arrivals.Tell(c, comes, course, bounds, checker.System.Name())
	story.Files, story.Cluster = files, name
	if output == terminal.HTML {
		return terminal.ConcludePage(cmd, func(w io.Writer) error { return reports.Arrivals(w, story) }, story.Reference.New, len(story.Reference.Unknown) > 0)
	}
	return output.Conclude(cmd, story, func(w io.Writer) { story.WriteText(w, rows) }, story.Reference.New, len(story.Reference.Unknown) > 0)
}
