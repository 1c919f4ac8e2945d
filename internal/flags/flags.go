// Package flags are the flags that commands share.
package flags

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/outside"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// Reference adds --reference to a command.
func Reference(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "reference", inprocess.Version, "the scheduler to check: see \"preemptcheck references\"")
	plugins(cmd, name)
}

// AutoReference adds --reference to a command that may read a live cluster.
func AutoReference(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "reference", source.Auto, "the scheduler to check: see \"preemptcheck references\"; auto is the nearest to that of a live cluster, else "+inprocess.Version)
	_ = cmd.RegisterFlagCompletionFunc("reference", func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
		for _, s := range systems.All() {
			names = append(names, s.Name)
		}
		return append(names, source.Auto), cobra.ShellCompDirectiveNoFileComp
	})
	plugins(cmd, name)
}

// plugins adds --plugins to a command that has --reference.
func plugins(cmd *cobra.Command, name *string) {
	var file string
	cmd.Flags().StringVar(&file, "plugins", "", "check a scheduler with the plugins of a `FILE`, which are not Kubernetes' own: see docs/plugins-from-outside.md")
	cmd.MarkFlagsMutuallyExclusive("plugins", "reference")
	Before(cmd, func() error {
		if file != "" {
			if !outside.IsFile(file) {
				return fmt.Errorf("--plugins: %s: the name does not end with .yaml, .yml or .json", file)
			}
			*name = file
		}
		return BuildOutside(cmd, "--plugins", strings.Split(*name, ",")...)
	})
}

// BuildOutside builds the schedulers among the named ones that are files of plugins, and has the process know the kinds
// of their objects. The flag is what named them.
func BuildOutside(cmd *cobra.Command, flag string, names ...string) error {
	for _, name := range names {
		if !outside.IsFile(name) {
			continue
		}
		f, err := outside.Read(name)
		if err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
		outside.RegisterKinds(f)
		if err := outside.Build(cmd.Context(), f, cmd.ErrOrStderr()); err != nil {
			return fmt.Errorf("%s: %w", flag, err)
		}
	}
	return nil
}

// ForReference are the flags that make a command run that scheduler.
func ForReference(reference string) string {
	if reference == inprocess.Version {
		return ""
	}
	return "--reference " + reference
}

// Class adds --class to a command.
func Class(cmd *cobra.Command, classes *[]ledger.Class, what string) {
	var all, names []string
	for _, class := range ledger.Classes() {
		all = append(all, string(class))
	}
	allowed := strings.Join(all, ", ")
	cmd.Flags().StringSliceVar(&names, "class", nil, what+": "+allowed+", or several after commas")
	Before(cmd, func() error {
		for _, name := range names {
			if !slices.Contains(all, name) {
				return fmt.Errorf("--class: %q is none of %s", name, allowed)
			}
			*classes = append(*classes, ledger.Class(name))
		}
		return nil
	})
}

// Seed adds --seed to a command. The flag is random unless it is set.
func Seed(cmd *cobra.Command, seed *uint64) {
	cmd.Flags().Uint64Var(seed, "seed", rand.Uint64(), "which clusters to generate (default random)")
	cmd.Flags().Lookup("seed").DefValue = "0" // help must not change from call to call
}

// Workers adds --workers to a command.
func Workers(cmd *cobra.Command, workers *int) {
	cmd.Flags().IntVar(workers, "workers", runtime.GOMAXPROCS(0), "how many clusters to check at once")
	cmd.Flags().Lookup("workers").DefValue = "number of CPUs"
	Before(cmd, func() error {
		if *workers < 1 {
			return errors.New("--workers: must be at least 1")
		}
		return nil
	})
}

// NotNegative refuses a flag that is below 0.
func NotNegative[T int | time.Duration](cmd *cobra.Command, flag string, value *T) {
	Before(cmd, func() error {
		if *value < 0 {
			return fmt.Errorf("--%s: must not be negative", flag)
		}
		return nil
	})
}

// Relations adds --relations to a command.
func Relations(cmd *cobra.Command, relations *int) {
	cmd.Flags().IntVar(relations, "relations", 2, "how many of the metamorphic relations to check of each cluster")
	NotNegative(cmd, "relations", relations)
}

// Filters adds --filters to a command.
func Filters(cmd *cobra.Command, filters *int, byDefault int) {
	cmd.Flags().IntVar(filters, "filters", byDefault, "of how many clusters one is drawn to ask each of its filters by itself; 0 is none")
	NotNegative(cmd, "filters", filters)
}

// Contracts adds --contracts to a command.
func Contracts(cmd *cobra.Command, contracts *int, byDefault int) {
	cmd.Flags().IntVar(contracts, "contracts", byDefault, "of how many clusters one is drawn to check the contract of each of its plugins; 0 is none")
	NotNegative(cmd, "contracts", contracts)
}

// Timelines adds --timelines to a command.
func Timelines(cmd *cobra.Command, share *int, byDefault int) {
	cmd.Flags().IntVar(share, "timelines", byDefault, "besides how many of 100 clusters a timeline is run as well")
	Before(cmd, func() error {
		if *share < 0 || *share > 100 {
			return errors.New("--timelines: must be from 0 to 100")
		}
		return nil
	})
}

// Gates adds --feature-gates to a command.
func Gates(cmd *cobra.Command, gates *record.Gates) {
	var text string
	cmd.Flags().StringVar(&text, "feature-gates", "", "feature gates that the scheduler has in each cluster, and those of pod groups in timelines, too: `NAME=true`, or several after commas; with GenericWorkload=true all clusters and timelines have pod groups")
	Before(cmd, func() (err error) {
		if *gates, err = record.ParseGates(text); err != nil {
			return fmt.Errorf("--feature-gates: %w", err)
		}
		return nil
	})
}

// Config adds --config to a command.
func Config(cmd *cobra.Command, configuration *source.Configuration) {
	var file string
	cmd.Flags().StringVar(&file, "config", "", "`FILE` with a KubeSchedulerConfiguration, which the scheduler has in each cluster, as kube-scheduler --config takes it")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml", "json")
	Before(cmd, func() (err error) {
		if file == "" {
			return nil
		}
		if *configuration, err = source.ReadConfiguration(file); err != nil {
			return fmt.Errorf("--config: %w", err)
		}
		return nil
	})
}

// Limits add --for and --cases to a command. With --cases alone, there is no limit
// in time.
func Limits(cmd *cobra.Command, duration *time.Duration, howLong string, cases *uint64, howMany string) {
	cmd.Flags().DurationVar(duration, "for", time.Minute, howLong+"; 0 is until --cases or an interrupt")
	cmd.Flags().Lookup("for").DefValue = "1m, or 0 with --cases"
	cmd.Flags().Uint64Var(cases, "cases", 0, howMany+"; 0 is no limit")
	NotNegative(cmd, "for", duration)
	Before(cmd, func() error {
		if *cases > 0 && !cmd.Flags().Changed("for") {
			*duration = 0
		}
		return nil
	})
}

// Before has a command do something once its flags are read.
func Before(cmd *cobra.Command, do func() error) {
	first := cmd.PreRunE
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if first != nil {
			if err := first(cmd, args); err != nil {
				return err
			}
		}
		return do()
	}
}
