package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
)

func newCheck() *cobra.Command {
	var in input
	var reference string
	var workers int
	var classes []properties.Class
	var output format
	cmd := &cobra.Command{
		Use:   "check PATH…",
		Short: "Replay cases, or each pending pod of a cluster dump, against model and scheduler",
		Long: `Check runs one scheduling cycle for each case, in the model and in the real
kube-scheduler, and compares them stage by stage, and with what the case expects.
What the scheduler does is also held to the promises made to users, such as that
only pods of lower priority are preempted, and no more of them than it takes.

A PATH is a file with a case, a cluster dump as

    kubectl get nodes,pods,pdb,priorityclasses -A -o yaml

prints it (each pod that waits for the default scheduler is a case), a directory
with such files, or - for standard input. A dump may hold more kinds:
where pods have volumes, add persistentvolumeclaims,persistentvolumes,
storageclasses,csinodes,csidrivers,csistoragecapacities,volumeattachments; where
they claim devices, resourceclaims,resourceslices,deviceclasses; where affinity
selects namespaces, namespaces. A pod that depends on a kind the dump lacks is
not modelled, and the message names the kind.

RESULT is one of
  agrees                the scheduler did what the algorithm allows
  disagrees: ID (CLASS) it did not, in a way that is known: see "preemptcheck findings"
  remark: ID (CLASS)    it did not, in a way that is known, and that is debatable, or that
                        no cluster gets into
  passed over           it did not, in ways that are known, and of other classes than --class
  finding               it did not
  no longer reproduces  it did, but the case was saved for a finding
  unexpected            the case expects something else
  not modelled          something in the cluster is not covered by the model
  not known to the release
                        something in the cluster did not exist yet in that release,
                        or was behind a feature gate that was off
  undecided             a node has too many equally important pods to know all allowed
                        answers, and the scheduler's is none of those known
  error                 the scheduler could not be run

A case that "preemptcheck fuzz" saved says under "finding:" what was found, and
which command found it. A note tells if that does not occur as it did: because it
is known by now, because something else is found, or because nothing is.

With several schedulers, or all, the answer is a matrix, and then all that is not
as the cases say.

Exit status: 1 if there is a finding or something unexpected; else 2 if a file
was bad, or a cluster not modelled, undecided or not run; else 0.`,
		Example: `  preemptcheck check corpus/cases
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml | preemptcheck check -
  preemptcheck check --reference v1.31.0,v1.31.14 corpus/cases
  preemptcheck check --reference all corpus/cases`,
	}
	inputFlags(cmd, &in)
	referenceFlag(cmd, &reference)
	cmd.Flag("reference").Usage += "; several after commas, or all"
	classFlag(cmd, &classes, "pass over known findings of other classes")
	workersFlag(cmd, &workers)
	cmd.Flag("workers").Usage = "with several schedulers, how many of them to run at once"
	outputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if names := references(reference); len(names) > 1 {
			return checkMatrix(cmd, names, in, args, workers, classes, output)
		}
		checker, err := newChecker(reference, all.Properties()...)
		if err != nil {
			return err
		}
		defer checker.System.Close()
		cases, inputErr := in.load(cmd, args)
		if len(cases) == 0 && inputErr != nil {
			return inputErr
		}
		report := &replay.Report{}
		for _, c := range cases {
			if cmd.Context().Err() != nil {
				report.Interrupted = true
				break
			}
			j := replay.Judge(cmd.Context(), checker, c, classes...)
			reproduce(j, checker, c)
			report.Add(j)
		}
		if err := output.print(cmd.OutOrStdout(), report, report.WriteText); err != nil {
			return err
		}
		if inputErr != nil {
			printErrors(cmd.ErrOrStderr(), inputErr)
		}
		if report.Interrupted {
			fmt.Fprintf(cmd.ErrOrStderr(), "error: interrupted after %d of %s\n", len(report.Cases), words.Plural(len(cases), "case"))
		}
		return status(report.Failed > 0, inputErr != nil || report.NotDone > 0 || report.Interrupted)
	}
	return cmd
}
