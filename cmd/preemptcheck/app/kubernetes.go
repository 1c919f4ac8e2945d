package app

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/internal/harness"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// otherKubernetes is the error by which a command line asks to be run by this
// program built against the source in dir.
type otherKubernetes struct{ dir string }

func (e *otherKubernetes) Error() string { return "to be built against " + e.dir }

// kubernetesFlag adds --kubernetes to all commands. It is looked at when the rest
// of the command line has been found good: a build takes minutes.
func kubernetesFlag(root *cobra.Command) {
	var dir string
	root.PersistentFlags().StringVar(&dir, program.KubernetesFlag, "",
		"run the kube-scheduler of the Kubernetes source in `DIR`: a working tree, or a copy of the module")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case !cmd.Flags().Changed(program.KubernetesFlag):
			return nil
		case dir == "":
			return errors.New("--kubernetes: which directory?")
		}
		return &otherKubernetes{dir}
	}
}

// run builds this program against the source, and has it take the place of this
// process. It returns only if that fails.
func (e *otherKubernetes) run(ctx context.Context, args []string, log io.Writer) error {
	binary, err := harness.Build(ctx, e.dir, log)
	if err != nil {
		return err
	}
	return become(binary, append([]string{os.Args[0]}, withoutKubernetes(args)...))
}

// become makes this process run another program, with the same standard streams,
// environment and process id. It returns only if that fails, or where processes
// cannot do that: there it runs the other, and returns its exit status. An interrupt
// reaches both, and this one waits.
func become(binary string, args []string) error {
	err := syscall.Exec(binary, args, os.Environ())
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	cmd := &exec.Cmd{Path: binary, Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	err = cmd.Run()
	if failed := (*exec.ExitError)(nil); err == nil || errors.As(err, &failed) {
		return terminal.Exit(cmd.ProcessState.ExitCode())
	}
	return err
}

// withoutKubernetes is the command line without the flag --kubernetes.
func withoutKubernetes(args []string) []string {
	var rest []string
	for i := 0; i < len(args); i++ {
		switch name, _, hasValue := strings.Cut(args[i], "="); {
		case args[i] == "--":
			return append(rest, args[i:]...)
		case name != "--"+program.KubernetesFlag:
			rest = append(rest, args[i])
		case !hasValue:
			i++
		}
	}
	return rest
}
