package app

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/exposure"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// exposureFlags are those of the command exposure.
type exposureFlags struct {
	*source.Input
	output            terminal.Format
	options           exposure.Options
	view              exposure.View
	workload, witness string
	reference         string
	from              string // what command lines say of where the cluster is from
}

func newExposure() *cobra.Command {
	f := exposureFlags{Input: newInput()}
	cmd := &cobra.Command{
		Use:   "exposure [FILE]",
		Short: "Tell which workloads can be preempted, by whom, and how much of them at once",
		Long: `Exposure tells of each workload of a cluster which priority classes can preempt it, and which
pending pods would now; how many of its pods one pod of a class takes at most; whether its budgets
are honoured, or can be violated, and by which known finding; and what it loses when a node is lost.
What hurts most comes first.

AT ONCE is the worst case: the pod of a class asks for all that there is to be had on a node, and can
run on no other. --requests asks about a pod of a certain shape that can run anywhere in its place.
docs/exposure.md defines each column, and says what is left out.

FILE is a cluster dump (kubectl get nodes,pods,pdb,priorityclasses -A -o yaml), or - for standard
input. Without it the live cluster is read.`,
		Example: `  preemptcheck exposure --context production
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml > cluster.yaml
  preemptcheck exposure cluster.yaml
  preemptcheck exposure cluster.yaml --workload deployment/shop/web
  preemptcheck exposure cluster.yaml --requests cpu=4,memory=8Gi -o markdown`,
	}
	f.OnlyClusterFlags(cmd)
	for _, flag := range ofPods {
		_ = cmd.Flags().MarkHidden(flag)
	}
	cmd.Flags().StringArrayVarP(&f.Files, "filename", "f", nil, "file, or - for standard input; the same as an argument")
	terminal.OutputFlag(cmd, &f.output, terminal.Markdown, terminal.Name, terminal.Wide, terminal.HTML)
	cmd.Flags().IntVar(&f.view.Top, "top", 10, "how many workloads to show, 0 for all; json and yaml hold all")
	flags.NotNegative(cmd, "top", &f.view.Top)
	cmd.Flags().IntVar(&f.options.MaxPending, "pending", exposure.DefaultMaxPending, "how many pending pods to decide, of those that differ")
	flags.NotNegative(cmd, "pending", &f.options.MaxPending)
	cmd.Flags().IntVar(&f.options.MaxLosses, "losses", exposure.DefaultMaxLosses, "how many node losses to try, over all kinds of nodes")
	flags.NotNegative(cmd, "losses", &f.options.MaxLosses)
	cmd.Flags().StringVar(&f.workload, "workload", "", "tell all about this one, as `KIND/NAMESPACE/NAME`: deployment/shop/web")
	cmd.Flags().StringVar(&f.witness, "witness", "", "with --workload: print a case with the pod of this priority `CLASS` that takes most of it")
	requestsFlag(cmd, &f.options.Requests)
	cmd.Flags().StringVar(&f.reference, "reference", source.Auto, "the release whose documentation and known findings count; auto is the nearest to that of a live cluster, else "+inprocess.Version)
	flags.Config(cmd, &f.Configuration)
	flags.Before(cmd, func() error {
		if f.workload != "" && f.output == terminal.HTML {
			return errors.New("--workload: html is of all workloads; leave one of the two out")
		}
		if f.witness != "" && f.workload == "" {
			return errors.New("--witness: of which workload? Give --workload, too")
		}
		return nil
	})
	cmd.RunE = f.run
	return cmd
}

// requestsFlag adds --requests to a command.
func requestsFlag(cmd *cobra.Command, requests *v1.ResourceList) {
	var pairs map[string]string
	cmd.Flags().StringToStringVar(&pairs, "requests", nil, "ask about a pod with these requests that can run anywhere, such as cpu=4,memory=8Gi (default: the worst case)")
	flags.Before(cmd, func() error {
		for name, text := range pairs {
			q, err := resource.ParseQuantity(text)
			switch {
			case err != nil:
				return fmt.Errorf("--requests: %s=%s: %w", name, text, err)
			case q.Sign() < 0:
				return fmt.Errorf("--requests: %s=%s: must not be negative", name, text)
			case *requests == nil:
				*requests = v1.ResourceList{}
			}
			(*requests)[v1.ResourceName(name)] = q
		}
		return nil
	})
}

func (f *exposureFlags) run(cmd *cobra.Command, args []string) error {
	var only workload.Ref
	if f.workload != "" {
		var err error
		if only, err = workload.Parse(f.workload); err != nil {
			return fmt.Errorf("--workload: %w", err)
		}
	}
	for _, flag := range ofPods {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: exposure is of the whole cluster, as pods of all namespaces may preempt; --workload tells of one", flag)
		}
	}
	name, err := f.Scheduler(cmd, args, f.reference)
	if err != nil {
		return err
	}
	if f.options.Release, err = release.Parse(name); err != nil {
		return fmt.Errorf("--reference: %w", err)
	}
	s, err := f.LoadDump(cmd, args)
	if err != nil {
		return err
	}
	var pending []*model.Cluster
	for _, c := range s.Cases {
		pending = append(pending, c.Cluster)
	}
	// 0 of the flags is none.
	for _, most := range []*int{&f.options.MaxPending, &f.options.MaxLosses} {
		if *most == 0 {
			*most = -1
		}
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	f.options.Progress = func(share float64) { progress.Show(share, func() string { return "looking at the cluster" }) }
	report, err := exposure.Of(cmd.Context(), s.Dump, pending, f.options)
	progress.Finish()
	if err != nil {
		return err
	}
	f.from, report.File = f.Configuration.Flag()+where(cmd, append(args, f.Files...)), strings.Join(append(args, f.Files...), " ")
	if f.workload == "" {
		return f.print(cmd, report)
	}
	for _, its := range report.Workloads {
		if its.Name == only.Path() {
			return f.printOne(cmd, s.Dump, report, its)
		}
	}
	return fmt.Errorf("--workload: no pod of %s is on a node; %s exposure%s --top 0 -o name lists those that are", only.Path(), program.Command(), f.from)
}

// where is what a command line says of where the cluster is from: a file, or flags for the live one.
func where(cmd *cobra.Command, files []string) string {
	if len(files) > 0 {
		return " " + shell.Quote(files[0])
	}
	flags := ""
	for _, name := range []string{"kubeconfig", "context", "cluster", "server"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			flags += " --" + name + " " + shell.Quote(f.Value.String())
		}
	}
	return flags
}

func (f *exposureFlags) print(cmd *cobra.Command, report *exposure.Report) error {
	if f.output == terminal.HTML {
		return terminal.ConcludePage(cmd, func(w io.Writer) error { return reports.Exposure(w, report) }, false, false)
	}
	f.view.Wide = f.output == terminal.Wide
	return f.output.Conclude(cmd, report, func(w io.Writer) {
		switch f.output {
		case terminal.Markdown:
			report.WriteMarkdown(w, f.view)
		case terminal.Name:
			report.WriteNames(w, f.view)
		default:
			report.WriteText(w, f.view)
		}
	}, false, false)
}

// printOne tells of one workload.
func (f *exposureFlags) printOne(cmd *cobra.Command, dump *model.Cluster, report *exposure.Report, its *exposure.Workload) error {
	if f.witness != "" {
		return f.printWitness(cmd, dump, its)
	}
	show := exposure.Commands{
		Witness: func(class string) string {
			line := fmt.Sprintf("%s exposure%s --workload %s --witness %s", program.Command(), f.from, shell.Quote(its.Name), shell.Quote(class))
			if f.options.Requests != nil {
				line += " --requests " + shell.Quote(cmd.Flags().Lookup("requests").Value.String())
			}
			return line + " | " + program.Command() + " explain -"
		},
		Pending: func(pod string) string { return fmt.Sprintf("%s explain%s --pod %s", program.Command(), f.from, pod) },
	}
	return f.output.Conclude(cmd, its, func(w io.Writer) {
		switch f.output {
		case terminal.Name:
			fmt.Fprintln(w, its.Name)
		case terminal.Markdown:
			fmt.Fprintln(w, "```console")
			report.WriteDetail(w, its, show)
			fmt.Fprintln(w, "```")
		default:
			report.WriteDetail(w, its, show)
		}
	}, false, false)
}

// printWitness prints the case that shows what a class takes.
func (f *exposureFlags) printWitness(cmd *cobra.Command, dump *model.Cluster, its *exposure.Workload) error {
	for _, t := range its.Threats {
		if t.Class != f.witness {
			continue
		}
		c := exposure.Witness(dump, t, f.options)
		if c == nil {
			return fmt.Errorf("--witness: no pod of class %s takes a pod of %s", t.Class, its.Name)
		}
		if err := apiserver.AdmitFrom(dump, c); err != nil {
			return err
		}
		out := &corpus.Case{Name: exposure.WitnessName, Cluster: c,
			Description: fmt.Sprintf("A pod of class %s that takes %d pods of %s.", t.Class, t.AtOnce, its.Name)}
		return out.Write(cmd.OutOrStdout())
	}
	return fmt.Errorf("--witness: class %s cannot preempt %s", f.witness, its.Name)
}
