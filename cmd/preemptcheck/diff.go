package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

const markdown = "markdown"

func newDiff() *cobra.Command {
	var in input
	var from, to string
	var each bool
	var o diff.Options
	var output format
	cmd := &cobra.Command{
		Use:   "diff --from RELEASE --to RELEASE [PATH…]",
		Short: "Tell what preemption decides differently in another release, and why",
		Long: `Diff has the schedulers of two releases decide the same clusters, and tells in which
ways they decide differently: each change between the two that shows, on how many
clusters, in which kinds of differences, and the smallest cluster found with each.

Without a PATH the clusters are generated, until --for or --cases is reached or it
is interrupted; then those on which something is different are made small. A PATH is
a file with a case, a cluster dump, a directory, or -, as for "preemptcheck check":
of a dump, it tells what changes for each pending pod.

A decision is what users see: on which node the pod runs, or is nominated to, who is
preempted, what is deleted, marked or withdrawn, and errors. Each release allows a
set of decisions, as ties are broken by chance: two are different if one scheduler
did what the algorithm of the other release never does. The reasons are changes of
the documented algorithm, and known findings that came or went; what no such change
accounts for is listed as not explained.

With --each it goes from release to release, through all between the two that this
binary can run (see "preemptcheck references"). -o markdown writes a changelog.

Exit status: 1 if something is different; else 2 if a file was bad, or a cluster that
was given could not be compared, or none at all could; else 0.`,
		Example: `  preemptcheck diff --from v1.31.0 --to v1.31.14 --for 60s
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml | preemptcheck diff --from v1.31.0 --to v1.37.1 -
  preemptcheck diff --from v1.13.0 --to v1.37.1 --each --cases 20000 --seed 1 -o markdown`,
	}
	inputFlags(cmd, &in)
	flags := cmd.Flags()
	flags.StringVar(&from, "from", "", "the `RELEASE` to compare with")
	flags.StringVar(&to, "to", "", "the `RELEASE` that is compared")
	flags.BoolVar(&each, "each", false, "compare each release between the two with the next one")
	limitFlags(cmd, &o.Duration, "how long to generate clusters, for each two releases",
		&o.Clusters, "how many clusters to generate, for each two releases")
	flags.StringVar(&o.Dir, "out", "", "directory to save the smallest clusters in, as cases; it is created when it is needed")
	seedFlag(cmd, &o.Seed)
	workersFlag(cmd, &o.Workers)
	outputFlag(cmd, &output, markdown)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, flag := range []string{"for", "cases", "seed"} {
			if flags.Changed(flag) && len(args)+len(in.files) > 0 {
				return fmt.Errorf("--%s: is for clusters that are generated, but there are files", flag)
			}
		}
		if in.pod != "" && len(args)+len(in.files) == 0 {
			return errors.New("--pod: is for files, and there are none")
		}
		between, err := releasesBetween(from, to, each)
		if err != nil {
			return err
		}
		var names []string
		for _, r := range between {
			names = append(names, r.String())
		}
		checkers, err := newCheckers(names, o.Workers)
		if err != nil {
			return err
		}
		defer closeAll(checkers)
		var sides []releasediff.Side
		for i, r := range between {
			sides = append(sides, releasediff.Side{Release: r, System: checkers[i].System})
		}
		var inputErr error
		if len(args)+len(in.files) > 0 {
			if o.Cases, inputErr = in.load(cmd, args); len(o.Cases) == 0 && inputErr != nil {
				return inputErr
			}
		} else {
			o.Generate = campaign.Generate
			fmt.Fprintf(cmd.ErrOrStderr(), "seed %d\n", o.Seed)
		}
		progress := newProgress(cmd.ErrOrStderr())
		o.Command, o.Reproduce, o.Progress = diffCommand(from, to, len(sides) > 2, &o), reproduceDiff(&o), progress.show
		r, err := diff.Run(cmd.Context(), sides, &o)
		progress.finish()
		if err != nil {
			return err
		}
		asText, interrupted := r.WriteText, error(nil)
		if output == markdown {
			asText = r.WriteMarkdown
		}
		if r.Interrupted {
			interrupted = errors.New("interrupted: there may be more")
		}
		return output.conclude(cmd, r, asText, r.Differs(), r.IsIncomplete(), inputErr, interrupted)
	}
	return cmd
}

// releasesBetween are the two releases, or with each all between them that this
// binary can run.
func releasesBetween(from, to string, each bool) ([]release.Release, error) {
	var ends []release.Release
	for _, flag := range []struct{ name, value string }{{"--from", from}, {"--to", to}} {
		if flag.value == "" {
			return nil, fmt.Errorf("%s: which release? Give one that \"preemptcheck references\" lists", flag.name)
		}
		r, err := release.Parse(flag.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag.name, err)
		}
		if err := known(flag.name, flag.value); err != nil {
			return nil, err
		}
		ends = append(ends, r)
	}
	if ends[0] == ends[1] {
		return nil, fmt.Errorf("--to: %s is also what it is compared with", to)
	}
	if !each {
		return ends, nil
	}
	return systems.Between(ends[0], ends[1]), nil
}

// diffCommand is the command line that compares all again.
func diffCommand(from, to string, each bool, o *diff.Options) string {
	command := fmt.Sprintf("%s diff --from %s --to %s", program(), from, to)
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
	return command
}

// reproduceDiff makes the command lines that compare on one cluster again.
func reproduceDiff(o *diff.Options) func(from, to release.Release, n uint64) string {
	return func(from, to release.Release, n uint64) string {
		command := fmt.Sprintf("diff --from %s --to %s", from, to)
		if o.Generate != nil {
			return fmt.Sprintf("%s generate --seed %d --first %d | %[1]s %[4]s -", program(), o.Seed, n, command)
		}
		return commandFor(command, inprocess.Version, o.Cases[n])
	}
}
