package checkers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// What the environment tells a child, and a child that isolates the scheduler.
const (
	isChild  = "PREEMPTCHECK_CHILD"
	isolates = "PREEMPTCHECK_ISOLATES"
)

// InChild tells whether this process is a child of the program that the user called, as ChildEnvironment has it.
func InChild() bool { return os.Getenv(isChild) != "" }

// ChildEnvironment returns what the environment tells a process that is to check clusters in the place of this one. If it is to
// isolate, each scheduler has a process of its own there.
func ChildEnvironment(isolate bool) []string {
	value := ""
	if isolate {
		value = "1"
	}
	return []string{isChild + "=1", isolates + "=" + value}
}

// isolatesAll tells whether this is a child that isolates each scheduler.
func isolatesAll() bool { return os.Getenv(isolates) != "" }

// mayBeginAnew tells whether this is a child whose scheduler runs in it.
func mayBeginAnew() bool { return InChild() && !isolatesAll() }

// NewIsolatedPool returns what systems.NewPool does, with each scheduler in a process of its own; the caller closes it. The error
// tells that it cannot be run.
func NewIsolatedPool(name string, workers int) (reference.System, error) {
	return systems.NewIsolatedPool(name, workers, isolated(name))
}

// isolated is the command of a process that runs a scheduler alone.
func isolated(name string) func() *exec.Cmd {
	return func() *exec.Cmd {
		executable, err := os.Executable()
		if err != nil {
			executable = os.Args[0]
		}
		cmd := exec.Command(executable, "scheduler", "--reference", name)
		cmd.Env = append(os.Environ(), isChild+"=", isolates+"=", "GOMAXPROCS=1", "GOGC=400")
		return cmd
	}
}

// Scheduler makes the hidden command that the processes of NewIsolatedPool run.
func Scheduler() *cobra.Command {
	var reference string
	cmd := &cobra.Command{
		Use:    "scheduler",
		Short:  "Show what a scheduler does with the clusters on standard input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			klog.OsExit = func(code int) {
				fmt.Fprintf(os.Stderr, "fatal error: the scheduler exits with status %d\n\n%s", code, debug.Stack())
				os.Exit(code)
			}
			system, err := systems.NewPool(reference, 1)
			if err != nil {
				return err
			}
			defer system.Close()
			// An interrupt of a terminal reaches all processes, but it is the one that asks
			// that decides when this one ends: by closing its input.
			return releases.ServeIsolated(context.WithoutCancel(cmd.Context()), system, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags.Reference(cmd, &reference)
	return cmd
}
