package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

// Exit statuses. What was found outranks what could not be done: a run that did
// both exits with statusFound.
const (
	statusAgrees   = 0
	statusFound    = 1 // a finding that the ledger does not explain, or an expectation that was not met
	statusCouldNot = 2 // bad input, bad flags, or something that is not modelled
)

// exit is an error that only sets the exit status: everything has been said.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// status is the error for what was found and what could not be done.
func status(found, couldNot bool) error {
	switch {
	case found:
		return exit(statusFound)
	case couldNot:
		return exit(statusCouldNot)
	}
	return nil
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var other *otherKubernetes
	if errors.As(err, &other) {
		err = other.run(ctx, args, errOut)
	}
	var code exit
	switch {
	case err == nil:
		return statusAgrees
	case errors.As(err, &code):
		return int(code)
	}
	printErrors(errOut, err)
	return statusCouldNot
}

// printErrors prints what err joins, each on a line of its own.
func printErrors(w io.Writer, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range many.Unwrap() {
			printErrors(w, e)
		}
		return
	}
	fmt.Fprintln(w, "error:", strings.ReplaceAll(err.Error(), "\n", "\n  "))
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "preemptcheck",
		Short: "Hold kube-scheduler's preemption against its specification",
		Long: `preemptcheck decides which preemptions the documented algorithm of kube-scheduler
allows in a cluster, and compares that, stage by stage, with what the real
kube-scheduler does, which is linked into this binary.

Exit status: 0 if everything agrees, known findings included; 1 if something was
found; 2 if something could not be done (bad input, not modelled) and nothing
was found.`,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	// Not cobra's own --version, which would be answered before --kubernetes.
	versionOnly := root.Flags().BoolP("version", "v", false, "version for preemptcheck")
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if *versionOnly {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), version())
			return err
		}
		return cmd.Help()
	}
	kubernetesFlag(root)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newCheck(), newExplain(), newMinimize(), newFuzz(), newFuzzWorker(), newStats(), newReport(), newMerge(), newExhaustiveCommand(), newDiff(), newGenerate(), newReferences(), newFindings())
	return root
}

func version() string {
	own := "(devel)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		own = info.Main.Version
	}
	return fmt.Sprintf("preemptcheck %s, kube-scheduler %s", own, inprocess.Source())
}

// referenceFlag adds --reference to a command.
func referenceFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "reference", inprocess.Version, "the scheduler to check: see \"preemptcheck references\"")
}

// flagsFor are the flags that make a command run that scheduler.
func flagsFor(reference string) string {
	if reference == inprocess.Version {
		return ""
	}
	return "--reference " + reference
}

// runnable are the schedulers that this binary can run, by name.
var runnable = map[string]func() reference.System{
	inprocess.Version: func() reference.System { return inprocess.New() },
}

// newChecker makes a Checker of the system of that name. With promises, it checks
// besides the differential what users are promised, which takes long on clusters
// of many nodes.
func newChecker(name string, promises ...properties.Property) (*properties.Checker, error) {
	system, err := newSystem(name)
	if err != nil {
		return nil, err
	}
	return &properties.Checker{System: system, Release: releaseOf(name), Properties: promises}, nil
}

// newPooledChecker is newChecker for so many goroutines at once.
func newPooledChecker(name string, workers int, promises ...properties.Property) (*properties.Checker, error) {
	var checker *properties.Checker
	var systems []reference.System
	for range workers {
		var err error
		if checker, err = newChecker(name, promises...); err != nil {
			return nil, err
		}
		systems = append(systems, checker.System)
	}
	checker.System = reference.NewPool(systems...)
	return checker, nil
}

// allPromises are what users are promised, however long it takes to check.
func allPromises() []properties.Property {
	return slices.Concat(properties.Invariants(), properties.Sampled())
}

// releaseOf is the release whose algorithm a system is held to.
func releaseOf(system string) model.Release {
	if releases.Known(system) {
		release, err := model.ParseRelease(system)
		if err != nil {
			panic(err)
		}
		return release
	}
	return model.Linked // of which a scheduler built from its own sources is a variation
}

func newSystem(name string) (reference.System, error) {
	if system := runnable[name]; system != nil {
		return system(), nil
	}
	if releases.Known(name) {
		return releases.New(name)
	}
	return nil, unknownSystem("--reference", name)
}

// canRun tells whether this binary can run the system of that name, once it is
// built.
func canRun(name string) bool { return runnable[name] != nil || releases.Known(name) }

func unknownSystem(flag, name string) error {
	return fmt.Errorf("%s: this binary cannot run %q, see \"preemptcheck references\"", flag, name)
}
