package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

func newCheck() *cobra.Command {
	in := newInput()
	var scheduler string
	var workers int
	var classes []ledger.Class
	var output terminal.Format
	var failFast bool
	cmd := &cobra.Command{
		Use:   "check [PATH…]",
		Short: "Replay cases, or each pending pod of a cluster dump, against model and scheduler",
		Long: `Check runs one scheduling cycle for each case, in the model and in the real
kube-scheduler, and compares them stage by stage, and with what the case expects.
What the scheduler does is also held to the promises made to users, such as that
only pods of lower priority are preempted, and no more of them than it takes.

Without a PATH the live cluster is read, which --context, --kubeconfig and all other flags of
kubectl for a cluster choose: each pod that waits for the default scheduler is a case, and
--namespace and --selector say which of them are asked about.

A PATH is a file with a case, a timeline, a cluster dump as

    kubectl get nodes,pods,pdb,priorityclasses -A -o yaml

prints it (each pod that waits for the default scheduler is a case), a directory
or a bucket (s3://, gs://, azblob://, file://) with such files, or - for standard
input. A dump may hold more kinds:
where pods have volumes, add persistentvolumeclaims,persistentvolumes,
storageclasses,csinodes,csidrivers,csistoragecapacities,volumeattachments; where
they claim devices, resourceclaims,resourceslices,deviceclasses; where affinity
selects namespaces, namespaces. A pod that depends on a kind the dump lacks is
not modelled, and the message names the kind.

RESULT is one of
  agrees                the scheduler did what the algorithm allows, but for known findings
                        that show at every preemption: those are only counted at the end
  disagrees: ID (CLASS) it did not, in a way that is known: see "preemptcheck findings"
  remark: ID (CLASS)    it did not, in a way that is known, and that is debatable, or that
                        no cluster gets into
  passed over           it did not, in ways that are known, and of other classes than --class
  finding               it did not
  no longer reproduces  it did, but the case was saved for a finding
  unexpected            the case expects something else
  not modelled          something in the cluster is not covered by the model; what needs no
                        model was asked, and nothing new was found, if the details say so
  not known to the release
                        something in the cluster did not exist yet in that release,
                        or was behind a feature gate that was off
  undecided             a node has too many equally important pods to know all allowed
                        answers, and the scheduler's is none of those known
  error                 the scheduler could not be run

A timeline is run from its start to where all has come to rest, and on past the flush
of pods that wait for too long. With several schedulers, it is run with those that can
do so, and the others are named.

A case that "preemptcheck fuzz" saved says under "finding:" what was found, and
which command found it. A note tells if that does not occur as it did: because it
is known by now, because something else is found, or because nothing is.

With several schedulers, or all, the answer is a matrix, and then all that is not
as the cases say.

Exit status: 1 if there is a finding or something unexpected; else 2 if a file
was bad, or a cluster not modelled, undecided or not run, or if there are only timelines
and no scheduler can run them; else 0.`,
		Example: `  preemptcheck check corpus/cases
  preemptcheck check --context production
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml | preemptcheck check -
  preemptcheck check --reference v1.31.0,v1.31.14 corpus/cases
  preemptcheck check --reference all corpus/cases`,
	}
	in.ClusterFlags(cmd)
	flags.Config(cmd, &in.Configuration)
	flags.AutoReference(cmd, &scheduler)
	cmd.Flag("reference").Usage += "; several after commas, or all"
	flags.Class(cmd, &classes, "pass over known findings of other classes")
	cmd.Flags().BoolVar(&failFast, "fail-fast", false, "with one scheduler, end at the first case with a finding, or that expects something else")
	flags.Workers(cmd, &workers)
	cmd.Flag("workers").Usage = "with several schedulers, how many of them to run at once"
	terminal.OutputFlag(cmd, &output, terminal.Wide, terminal.Name, terminal.HTML)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		scheduler, err := in.Scheduler(cmd, args, scheduler)
		if err != nil {
			return err
		}
		names := references(scheduler)
		if len(names) > 1 && slices.Contains([]terminal.Format{terminal.Wide, terminal.Name}, output) {
			return fmt.Errorf("--output %s: is for one scheduler, and --reference names several", output)
		}
		made, err := checkers.NewAll(names, 1, all.Properties()...)
		if err != nil {
			return err
		}
		cases, inputErr := in.Load(cmd, args)
		if len(cases) == 0 && inputErr != nil {
			checkers.Close(made)
			return inputErr
		}
		if len(names) > 1 { // it closes them
			schedulers, err := schedulersFor(cases, names, made)
			if err != nil {
				return err
			}
			m, err := checkMatrix(cmd, schedulers, cases, workers, classes)
			if output == terminal.HTML {
				return terminal.ConcludePage(cmd, func(w io.Writer) error { return reports.Matrix(w, m) }, m.Differ > 0, m.NotDone > 0 || m.NothingRun(), inputErr, err)
			}
			return output.Conclude(cmd, m, m.WriteText, m.Differ > 0, m.NotDone > 0 || m.NothingRun(), inputErr, err)
		}
		defer checkers.Close(made)
		report := &replay.Report{}
		var life reference.LifeSystem
		if slices.ContainsFunc(cases, isTimeline) {
			if life, err = checkers.NewLife(names[0]); err != nil {
				return err
			}
		}
		if life != nil {
			defer life.Close()
		}
		var interrupted error
		progress := terminal.NewProgress(cmd.ErrOrStderr())
		for i, c := range cases {
			progress.Show(float64(i)/float64(len(cases)), func() string {
				return fmt.Sprintf("%d of %s, %d failed", i, words.Plural(len(cases), "case"), report.Failed)
			})
			if cmd.Context().Err() != nil {
				report.Interrupted = true
				interrupted = fmt.Errorf("interrupted after %d of %s", len(report.Cases), words.Plural(len(cases), "case"))
				break
			}
			j := judge(cmd.Context(), made[0], life, c, classes)
			report.Add(j)
			if failFast && report.Failed > 0 {
				break
			}
		}
		progress.Finish()
		if output == terminal.HTML {
			return terminal.ConcludePage(cmd, func(w io.Writer) error { return reports.Check(w, report) }, report.Failed > 0, report.NotDone > 0, inputErr, interrupted)
		}
		asText := map[terminal.Format]func(io.Writer){terminal.Text: report.WriteText, terminal.Wide: report.WriteWide, terminal.Name: report.WriteNames}[output]
		return output.Conclude(cmd, report, asText, report.Failed > 0, report.NotDone > 0, inputErr, interrupted)
	}
	return cmd
}

func isTimeline(c *corpus.Case) bool { return c.Timeline != nil }

// judge checks a case, or a timeline.
func judge(ctx context.Context, checker *properties.Checker, life reference.LifeSystem, c *corpus.Case, classes []ledger.Class) (j *replay.Judgement) {
	if c.Timeline != nil {
		j = replay.JudgeTimeline(ctx, life, c, classes...)
	} else {
		j = replay.Judge(ctx, checker, c, classes...)
	}
	reproduce(j, checker, c)
	return j
}

// schedulersFor are those with the names, which can run timelines if there is one among the cases
// and they are of a release that can.
func schedulersFor(cases []*corpus.Case, names []string, made []*properties.Checker) (schedulers []replay.Scheduler, err error) {
	for i, name := range names {
		s := replay.Scheduler{Name: name, Checker: made[i]}
		if err == nil && slices.ContainsFunc(cases, isTimeline) {
			s.Life, err = checkers.NewLife(name)
		}
		schedulers = append(schedulers, s)
	}
	if err != nil {
		for i := range schedulers {
			schedulers[i].Close()
		}
	}
	return schedulers, err
}

// references are the schedulers that the value of --reference names: one, several
// after commas, or all.
func references(value string) (names []string) {
	if value != "all" {
		return strings.Split(value, ",")
	}
	for _, s := range systems.All() {
		names = append(names, s.Name)
	}
	// The one linked in is the first.
	slices.SortFunc(names, func(a, b string) int { return systems.ReleaseOf(a).Compare(systems.ReleaseOf(b)) })
	return names
}

// checkMatrix checks the cases with several schedulers. The error is an interrupt.
func checkMatrix(cmd *cobra.Command, schedulers []replay.Scheduler, cases []*corpus.Case, workers int, classes []ledger.Class) (*replay.Matrix, error) {
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	m := replay.NewMatrix(cmd.Context(), schedulers, cases, workers, func(done, of int) {
		progress.Show(float64(done)/float64(of), func() string { return fmt.Sprintf("%d of %d checks", done, of) })
	}, classes...)
	progress.Finish()
	for _, row := range m.Cases {
		for i, j := range row.Judgements {
			reproduce(j, schedulers[i].Checker, row.Case)
		}
	}
	if m.Interrupted {
		return m, errors.New("interrupted")
	}
	return m, nil
}
