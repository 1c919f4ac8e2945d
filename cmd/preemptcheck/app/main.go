// Package app is the command line of preemptcheck, as a library: a program of its own that calls Main is preemptcheck, with
// the plugins that it adds linked in.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/campaigns"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/job"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/lists"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/mutate"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// Option changes the program.
type Option func()

// WithPlugin adds a plugin to the profiles of the scheduler that is linked in, in the manner of kube-scheduler's own
// app.WithPlugin: with its defaults, it is enabled at all extension points that it implements, besides the default plugins.
func WithPlugin(name string, factory frameworkruntime.PluginFactory) Option {
	return WithConfiguredPlugin(linked.Plugin{Name: name, New: factory})
}

// WithConfiguredPlugin is WithPlugin for a plugin that takes arguments, or takes the place of others.
func WithConfiguredPlugin(p linked.Plugin) Option { return func() { linked.Register(p) } }

// Main runs the command line of the process, and ends the process.
func Main(options ...Option) {
	for _, o := range options {
		o()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	debug.SetMaxStack(maxStack)
	status := 0
	if guards = true; checkers.InChild() {
		status = asChild(ctx)
	} else {
		status = Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	}
	stop()
	os.Exit(status)
}

// Run executes one command line and returns the exit status.
func Run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	var other *otherKubernetes
	switch {
	case errors.As(err, &other):
		err = other.run(ctx, args, errOut)
	case errors.As(err, new(guard)):
		err = guard{}.run(ctx, args)
	}
	var code terminal.Exit
	switch {
	case err == nil:
		return terminal.Agrees
	case errors.As(err, &code):
		return int(code)
	}
	terminal.PrintErrors(errOut, err)
	return campaigns.CouldNot(ctx)
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
			_, err := fmt.Fprintln(cmd.OutOrStdout(), program.Version())
			return err
		}
		return cmd.Help()
	}
	beQuiet := root.PersistentFlags().BoolP("quiet", "q", false, "tell nothing but the answer and errors")
	kubernetesFlag(root)
	other := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if *beQuiet {
			root.SetErr(terminal.Quiet(root.ErrOrStderr()))
		}
		return other(cmd, args)
	}
	root.AddCommand(guarded(newCheck()), guarded(newExplain()), guarded(newMinimize()), guarded(newExhaustiveCommand()), guarded(newDiff()),
		newExposure(), newGenerate(), newDump(),
		campaigns.Fuzz(), campaigns.Plugins(), campaigns.Stats(), campaigns.Report(), campaigns.Merge(), job.New(),
		lists.References(), lists.Findings(), lists.RBAC(), lists.Manual(program.Version()), mutate.New(),
		campaigns.FuzzWorker(), checkers.Scheduler())
	root.InitDefaultCompletionCmd()
	namedAsCalled(root, program.Name())
	return root
}

// namedAsCalled has help call the program, and all its commands, by the name by which it was called.
func namedAsCalled(root *cobra.Command, name string) {
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: name}
	if name == root.Name() {
		return
	}
	for _, cmd := range append(root.Commands(), root) {
		for _, text := range []*string{&cmd.Long, &cmd.Example} {
			*text = strings.NewReplacer("\n  preemptcheck ", "\n  "+name+" ", "| preemptcheck ", "| "+name+" ", `"preemptcheck `, `"`+name+" ").Replace("\n" + *text)[1:]
		}
	}
}
