package lists

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/reference/releases"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// References makes the command that lists the schedulers, and builds them.
func References() *cobra.Command {
	var output terminal.Format
	var build []string
	cmd := &cobra.Command{
		Use:   "references",
		Short: "List the schedulers that this binary can run, with their feature gates",
		Long: `References lists the schedulers that this binary can run: the one linked in, and
those of other releases, each a program of its own, which has to be built once.

With --build it builds the schedulers of the releases named, or of all. That takes
the go command, downloads the modules of the release, and takes one to seven
minutes of CPU each the first time.`,
		Example: `  preemptcheck references
  preemptcheck references --build v1.31.0,v1.31.14
  preemptcheck references --build all`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(build) == 0 {
				list := listSystems
				if output == terminal.Name {
					list = nameSystems
				}
				return output.Print(cmd.OutOrStdout(), systems.All(), list)
			}
			if slices.Equal(build, []string{"all"}) {
				build = releases.All()
			}
			return buildReleases(cmd.Context(), build, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	terminal.OutputFlag(cmd, &output, terminal.Name)
	cmd.Flags().StringSliceVar(&build, "build", nil, "build the schedulers of these `RELEASES`, or of all")
	return cmd
}

func nameSystems(w io.Writer) {
	for _, s := range systems.All() {
		fmt.Fprintln(w, s.Name)
	}
}

// buildReleases goes on with the next release if one cannot be built. It prints the
// paths of the binaries.
func buildReleases(ctx context.Context, build []string, out, log io.Writer) error {
	var errs []error
	for i, release := range build {
		drivers := []func(context.Context, string, io.Writer) (string, error){releases.Build}
		if releases.Lives(release) {
			drivers = append(drivers, releases.BuildLife)
		}
		for _, driver := range drivers {
			progress := terminal.NewProgress(log)
			stop := progress.Watch(fmt.Sprintf("building %s, %d of %d", release, i+1, len(build)))
			binary, err := driver(ctx, release, progress.Above(log))
			stop()
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				errs = append(errs, err)
				continue
			}
			fmt.Fprintln(out, binary)
		}
	}
	return errors.Join(errs...)
}

func listSystems(w io.Writer) {
	all := systems.All()
	t := table.New("", "NAME", "HOW")
	for _, s := range all {
		t.Row(s.Name, s.How)
	}
	t.WriteText(w)
	for _, s := range all {
		if len(s.Gates) == 0 {
			continue
		}
		fmt.Fprintf(w, "\nFeature gates of %s that matter to preemption:\n\n", s.Name)
		t := table.New("", "GATE", "DEFAULT", "A CASE MAY SET IT")
		for _, g := range s.Gates {
			t.Row(g.Name, map[bool]string{true: "on", false: "off"}[g.Default], map[bool]string{true: "yes", false: "no"}[g.Modelled])
		}
		t.WriteText(w)
	}
}
