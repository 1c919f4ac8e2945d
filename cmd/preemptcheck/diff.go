package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus/diff"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

const markdown format = "markdown"

func newDiff() *cobra.Command {
	var in input
	var from, to string
	var each bool
	var o diff.Options
	output := formatAnd{text, markdown}
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
	flags.DurationVar(&o.Duration, "for", time.Minute, "how long to generate clusters, for each two releases; 0 is until --cases or an interrupt")
	flags.Lookup("for").DefValue = "1m, or 0 with --cases"
	flags.Uint64Var(&o.Clusters, "cases", 0, "how many clusters to generate, for each two releases; 0 is no limit")
	flags.StringVar(&o.Dir, "out", "", "directory to save the smallest clusters in, as cases; it is created when it is needed")
	seedFlag(cmd, &o.Seed)
	workersFlag(cmd, &o.Workers)
	output.flag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Workers < 1 {
			return errors.New("--workers: must be at least 1")
		}
		for _, flag := range []string{"for", "cases", "seed"} {
			if flags.Changed(flag) && len(args)+len(in.files) > 0 {
				return fmt.Errorf("--%s: is for clusters that are generated, but there are files", flag)
			}
		}
		if in.pod != "" && len(args)+len(in.files) == 0 {
			return errors.New("--pod: is for files, and there are none")
		}
		if o.Clusters > 0 && !flags.Changed("for") {
			o.Duration = 0
		}
		between, err := releasesBetween(from, to, each)
		if err != nil {
			return err
		}
		systems, err := newSystems(between, o.Workers)
		if err != nil {
			return err
		}
		defer func() {
			for _, s := range systems {
				s.System.Close()
			}
		}()
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
		o.Command, o.Reproduce, o.Progress = diffCommand(from, to, len(systems) > 2, &o), reproduceDiff(&o), progress.show
		r, err := diff.Run(cmd.Context(), systems, &o)
		progress.finish()
		if err != nil {
			return err
		}
		if err := output.print(cmd.OutOrStdout(), r, map[format]func(io.Writer){text: r.WriteText, markdown: r.WriteMarkdown}[output.format]); err != nil {
			return err
		}
		if inputErr != nil {
			printErrors(cmd.ErrOrStderr(), inputErr)
		}
		if r.Interrupted {
			fmt.Fprintln(cmd.ErrOrStderr(), "error: interrupted: there may be more")
		}
		return status(r.Differs(), inputErr != nil || r.Interrupted || r.IsIncomplete())
	}
	return cmd
}

// releasesBetween are the two releases, or with each all between them that this
// binary can run.
func releasesBetween(from, to string, each bool) ([]model.Release, error) {
	var ends []model.Release
	for _, flag := range []struct{ name, value string }{{"--from", from}, {"--to", to}} {
		if flag.value == "" {
			return nil, fmt.Errorf("%s: which release? Give one that \"preemptcheck references\" lists", flag.name)
		}
		r, err := model.ParseRelease(flag.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag.name, err)
		}
		if !canRun(flag.value) {
			return nil, unknownSystem(flag.name, flag.value)
		}
		ends = append(ends, r)
	}
	if ends[0] == ends[1] {
		return nil, fmt.Errorf("--to: %s is also what it is compared with", to)
	}
	if !each {
		return ends, nil
	}
	older, newer := ends[0], ends[1]
	if older.Compare(newer) > 0 {
		older, newer = newer, older
	}
	var all []model.Release
	for _, name := range slices.Concat(slices.Collect(maps.Keys(runnable)), releases.All()) {
		if r, err := model.ParseRelease(name); err == nil && r.Compare(older) >= 0 && r.Compare(newer) <= 0 {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, model.Release.Compare)
	all = slices.Compact(all)
	if older != ends[0] {
		slices.Reverse(all)
	}
	return all, nil
}

// newSystems makes the schedulers of some releases, each for so many goroutines at
// once. If some are not built the error names all of them.
func newSystems(all []model.Release, workers int) (sides []releasediff.Side, err error) {
	defer func() {
		if err != nil {
			for _, s := range sides {
				s.System.Close()
			}
		}
	}()
	var errs []error
	for _, r := range all {
		var systems []reference.System
		for range workers {
			s, err := newSystem(r.String())
			if err != nil {
				errs = append(errs, err)
				break
			}
			systems = append(systems, s)
		}
		if len(systems) == workers {
			sides = append(sides, releasediff.Side{Release: r, System: reference.NewPool(systems...)})
		}
	}
	return sides, errors.Join(errs...)
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
func reproduceDiff(o *diff.Options) func(from, to model.Release, n uint64) string {
	return func(from, to model.Release, n uint64) string {
		command := fmt.Sprintf("diff --from %s --to %s", from, to)
		if o.Generate != nil {
			return fmt.Sprintf("%s generate --seed %d --first %d | %[1]s %[4]s -", program(), o.Seed, n, command)
		}
		return commandFor(command, inprocess.Version, o.Cases[n])
	}
}

// formatAnd is a format with one more than text, JSON and YAML.
type formatAnd struct {
	format
	also format
}

func (f *formatAnd) Set(s string) error {
	if s == string(f.also) {
		f.format = f.also
		return nil
	}
	if f.format.Set(s) != nil {
		return fmt.Errorf("must be text, json, yaml or %s", f.also)
	}
	return nil
}

func (f *formatAnd) flag(cmd *cobra.Command) {
	cmd.Flags().VarP(f, "output", "o", fmt.Sprintf("text, json, yaml or %s", f.also))
}
