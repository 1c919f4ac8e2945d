package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/outside"
	"github.com/preemptcheck/preemptcheck/reference/releases"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

func newDiff() *cobra.Command {
	in := newInput()
	var from, to string
	var each bool
	var timelines int
	var o diff.Options
	var gates record.Gates
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "diff --from RELEASE --to RELEASE [PATH…]",
		Short: "Tell what preemption decides differently in another release, and why",
		Long: `Diff has the schedulers of two releases decide the same clusters, and tells in which
ways they decide differently: each change between the two that shows, on how many
clusters, in which kinds of differences, and the smallest cluster found with each.

Without a PATH or a live cluster the clusters are generated, until --for or --cases is reached or it
is interrupted; then those on which something is different are made small. A PATH is
a file with a case, a cluster dump, a directory, or -, as for "preemptcheck check":
of a dump, it tells what changes for each pending pod. With --live, or a flag for the live
cluster, it is that cluster, and --from is its release unless you say otherwise.

A decision is what users see: on which node the pod runs, or is nominated to, who is
preempted, what is deleted, marked or withdrawn, and errors. Each release allows a
set of decisions, as ties are broken by chance: two are different if one scheduler
did what the algorithm of the other release never does. The reasons are changes of
the documented algorithm, and known findings that came or went; what no such change
accounts for is listed as not explained.

Clusters that are generated have no pod groups, unless --feature-gates says so: from
v1.36.3 on, GenericWorkload=true shows what is different with them.

A timeline goes through both schedulers, if they can be run through timelines. Of those
that go otherwise it tells which promises one of the two breaks and the other keeps, how
pods end, who is preempted and who is nominated. --timelines is besides how many of 100
generated clusters one is drawn; without it, that is done where both releases run timelines.

With --each it goes from release to release, through all between the two that this
binary can run (see "preemptcheck references"). -o markdown writes a changelog.

Exit status: 1 if something is different; else 2 if a file was bad, or a cluster that
was given could not be compared, or none at all could; else 0.`,
		Example: `  preemptcheck diff --from v1.31.0 --to v1.31.14 --for 60s
  preemptcheck diff --live --to v1.37.1
  preemptcheck diff --from v1.31.0 --to v1.37.1 cluster.yaml
  preemptcheck diff --from v1.34.4 --to v1.37.1 corpus/timelines
  preemptcheck diff --from v1.13.0 --to v1.37.1 --each --cases 20000 --seed 1 -o markdown`,
	}
	in.ClusterFlags(cmd)
	in.Live = false // no PATH is to generate clusters
	set := cmd.Flags()
	set.BoolVar(&in.Live, "live", false, "compare on the pending pods of the live cluster, as its flags do, too")
	set.StringVar(&from, "from", "", "the `RELEASE` to compare with; of a live cluster, its own if it is not set")
	set.StringVar(&to, "to", "", "the `RELEASE` that is compared")
	set.BoolVar(&each, "each", false, "compare each release between the two with the next one")
	flags.Limits(cmd, &o.Duration, "how long to generate clusters, for each two releases",
		&o.Clusters, "how many clusters to generate, for each two releases")
	set.StringVar(&o.Dir, "out", "", "directory to save the smallest clusters in, as cases; it is created when it is needed")
	flags.Timelines(cmd, &timelines, 10)
	flags.Seed(cmd, &o.Seed)
	flags.Gates(cmd, &gates)
	flags.Config(cmd, &in.Configuration)
	flags.Workers(cmd, &o.Workers)
	terminal.OutputFlag(cmd, &output, terminal.Markdown, terminal.HTML)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		isLive, err := in.IsLive(args)
		if err != nil {
			return err
		}
		given := isLive || len(args)+len(in.Files) > 0
		for _, flag := range []string{"for", "cases", "seed", "timelines", "feature-gates"} {
			if set.Changed(flag) && given {
				return fmt.Errorf("--%s: is for clusters that are generated, but there are files, or a live cluster", flag)
			}
		}
		if in.Pod != "" && !given {
			return errors.New("--pod: is for files and live clusters, and there are none")
		}
		if isLive && (from == "" || from == source.Auto) {
			if from, err = in.Release(cmd); err != nil {
				return err
			}
		}
		if err := errors.Join(flags.BuildOutside(cmd, "--from", from), flags.BuildOutside(cmd, "--to", to)); err != nil {
			return err
		}
		names, err := schedulersBetween(from, to, each)
		if err != nil {
			return err
		}
		made, err := checkers.NewAll(names, o.Workers)
		if err != nil {
			return err
		}
		defer checkers.Close(made)
		var sides []releasediff.Side
		for i, name := range names {
			side := releasediff.Side{Release: made[i].Release, System: made[i].System}
			if outside.IsFile(name) {
				side.Name = name
			}
			sides = append(sides, side)
		}
		var inputErr error
		if given {
			if o.Cases, inputErr = in.Load(cmd, args); len(o.Cases) == 0 && inputErr != nil {
				return inputErr
			}
		} else {
			gates = cmp.Or(gates, record.Ungrouped) // few releases know pod groups
			o.Generate = func(seed, n uint64) *model.Cluster {
				return campaign.Generate(seed, n, gates, string(in.Configuration.JSON))
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "seed %d\n", o.Seed)
		}
		if o.Generate == nil && slices.ContainsFunc(o.Cases, func(c *corpus.Case) bool { return c.Timeline != nil }) || o.Generate != nil && timelines > 0 {
			defer closeLives(sides)
			asked := o.Generate == nil || set.Changed("timelines")
			if err := addLives(sides, asked); err != nil {
				return err
			}
			if why := noneLives(sides); o.Generate != nil && asked && why != "" {
				return fmt.Errorf("--timelines: %s; %s can", why, strings.Join(livingReleases(), ", "))
			}
		}
		if o.Generate != nil && timelines > 0 {
			o.Timeline = func(n uint64) (*timeline.Timeline, error) {
				if !campaign.HasTimeline(o.Seed, n, timelines, record.Ungrouped) {
					return nil, nil
				}
				return campaign.GenerateTimeline(o.Seed, n, record.Ungrouped, string(in.Configuration.JSON)) // few releases run pod groups
			}
		}
		progress := terminal.NewProgress(cmd.ErrOrStderr())
		o.ReproduceTimeline = reproduceTimeline(&o, in.Configuration.Flag())
		o.Command, o.Reproduce, o.Progress = diffCommand(from, to, len(sides) > 2, &o, gates)+in.Configuration.Flag(), reproduceDiff(&o, gates, in.Configuration.Flag()), progress.Show
		r, err := diff.Run(cmd.Context(), sides, &o)
		progress.Finish()
		if err != nil {
			return err
		}
		asText, interrupted := r.WriteText, error(nil)
		if output == terminal.Markdown {
			asText = r.WriteMarkdown
		}
		if r.Interrupted {
			interrupted = errors.New("interrupted: there may be more")
		}
		if output == terminal.HTML {
			return terminal.ConcludePage(cmd, func(w io.Writer) error { return reports.Diff(w, r) }, r.Differs(), r.IsIncomplete(), inputErr, interrupted)
		}
		return output.Conclude(cmd, r, asText, r.Differs(), r.IsIncomplete(), inputErr, interrupted)
	}
	return cmd
}

// addLives adds the schedulers that run timelines to those of releases. If timelines were asked
// for, it is an error if one that runs them is not built.
func addLives(sides []releasediff.Side, asked bool) error {
	for i := range sides {
		s := &sides[i]
		life, err := checkers.NewLife(s.System.Name())
		switch {
		case err != nil && asked:
			return err
		case err != nil:
			s.NoLife = err.Error()
		case life == nil:
			s.NoLife = fmt.Sprintf("%s cannot be run through timelines", s.Release)
		default:
			s.Life = life
		}
	}
	return nil
}

// noneLives says why no two releases that are compared both run timelines; "" if some do.
func noneLives(sides []releasediff.Side) (why string) {
	for i := range sides[1:] {
		if sides[i].Life != nil && sides[i+1].Life != nil {
			return ""
		}
		why = cmp.Or(why, sides[i].NoLife, sides[i+1].NoLife)
	}
	return why
}

// livingReleases are those that can be run through timelines.
func livingReleases() (all []string) {
	for _, name := range releases.All() {
		if releases.Lives(name) {
			all = append(all, name)
		}
	}
	return append(all, inprocess.Version)
}

func closeLives(sides []releasediff.Side) {
	for _, s := range sides {
		if s.Life != nil {
			s.Life.Close()
		}
	}
}

// schedulersBetween names the two schedulers, or with each all releases between them that this binary can run.
func schedulersBetween(from, to string, each bool) ([]string, error) {
	names, ends := []string{from, to}, make([]release.Release, 2)
	for i, flag := range []string{"--from", "--to"} {
		if names[i] == "" {
			return nil, fmt.Errorf("%s: which release? Give one that \"preemptcheck references\" lists", flag)
		}
		if outside.IsFile(names[i]) {
			if each {
				return nil, fmt.Errorf("--each: %s is no release", names[i])
			}
			continue
		}
		var err error
		if ends[i], err = release.Parse(names[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		if err := checkers.Known(flag, names[i]); err != nil {
			return nil, err
		}
	}
	if from == to {
		return nil, fmt.Errorf("--to: %s is also what it is compared with", to)
	}
	if !each {
		return names, nil
	}
	names = nil
	for _, r := range systems.Between(ends[0], ends[1]) {
		names = append(names, r.String())
	}
	return names, nil
}

// diffCommand is the command line that compares all again.
func diffCommand(from, to string, each bool, o *diff.Options, gates record.Gates) string {
	command := fmt.Sprintf("%s diff --from %s --to %s", program.Command(), from, to)
	if each {
		command += " --each"
	}
	switch {
	case o.Generate == nil:
	case o.Clusters > 0:
		command += fmt.Sprintf(" --seed %d --cases %d", o.Seed, o.Clusters)
	default:
		command += fmt.Sprintf(" --seed %d --for %s", o.Seed, o.Duration)
	}
	if gates != record.Ungrouped {
		command += gates.Flag()
	}
	return command
}

// reproduceTimeline makes the command lines that compare on one generated timeline again.
func reproduceTimeline(o *diff.Options, configured string) func(from, to string, n uint64) string {
	return func(from, to string, n uint64) string {
		return fmt.Sprintf("%s generate --timeline --seed %d --first %d%s | %[1]s diff --from %[5]s --to %[6]s -", program.Command(), o.Seed, n, record.Ungrouped.Flag()+configured, from, to)
	}
}

// reproduceDiff makes the command lines that compare on one cluster again.
func reproduceDiff(o *diff.Options, gates record.Gates, configured string) func(from, to string, n uint64) string {
	return func(from, to string, n uint64) string {
		command := fmt.Sprintf("diff --from %s --to %s", from, to)
		if o.Generate != nil {
			return fmt.Sprintf("%s generate%s --seed %d --first %d | %[1]s %[5]s -", program.Command(), gates.Flag()+configured, o.Seed, n, command)
		}
		return commandFor(command, inprocess.Version, o.Cases[n])
	}
}
