package app

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/page/cycle"
	"github.com/preemptcheck/preemptcheck/internal/page/lanes"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/arrival"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
)

func newExplain() *cobra.Command {
	in := newInput()
	var reference string
	var output terminal.Format
	var nodes, cascade int
	var all bool
	cmd := &cobra.Command{
		Use:   "explain [FILE] [-f MANIFESTS]",
		Short: "Tell what would be preempted where, and why, stage by stage",
		Long: `Explain goes through the scheduling cycle of one pending pod: why it does not fit
on the nodes as they are, what preemption would cost on each node where it helps,
which criterion decides between those, and what would then be deleted and cleared.
It ends with whether the real kube-scheduler does the same. Of a pod group that is scheduled as a
whole it tells where its pods would go without everything of lower priority, and what of that is
not given back. The promises to users
that "preemptcheck check" holds it to besides are not looked at, nor is a known finding told
that shows at every preemption. Of a cluster that the model does not cover it tells what the
scheduler did, and whether that got through.

A timeline is told as a story, with the times of the scheduler's clock, and ends with how
long each pod was pending, and what for: for the end of its victims, for an event that is late,
in backoff, for the flush, and so on. docs/timelines.md says what each part is.

FILE is a case, a timeline or a cluster dump (see "preemptcheck dump"), or - for standard input.
Without it the live cluster is read, which --context, --kubeconfig and all other flags of kubectl
for a cluster choose. If several pods are pending, --pod says which one is meant.

With -f it tells what comes of manifests that are not in the cluster yet: pods, Deployments,
ReplicaSets, StatefulSets, DaemonSets, Jobs, with the classes, budgets, claims and pod groups that
come with them. Their pods come one after another: what each preempts is gone before the next. It
tells who goes, which budgets that violates, what stays pending and why, and what the preempted do
next: their controllers replace them, and the replacements may preempt in turn, to the level that
--cascade gives. docs/arrivals.md says what is assumed. A file of -f that holds nodes, or is a case, is a
cluster, as FILE is; all others are what comes.`,
		Example: `  preemptcheck explain -f web.yaml
  preemptcheck explain cluster.yaml -f web.yaml
  preemptcheck explain corpus/cases/fewest-violations-decides.yaml
  preemptcheck explain --pod shop/web-0
  preemptcheck explain cluster.yaml --pod shop/web-0`,
	}
	in.ClusterFlags(cmd)
	cmd.Flags().Lookup("filename").Usage = "manifests of what is to come, or a cluster: file, directory, or - for standard input"
	flags.Config(cmd, &in.Configuration)
	flags.AutoReference(cmd, &reference)
	terminal.OutputFlag(cmd, &output, terminal.HTML)
	cmd.Flags().IntVar(&nodes, "nodes", 10, "how many candidates to show, the best first")
	flags.NotNegative(cmd, "nodes", &nodes)
	cmd.Flags().BoolVar(&all, "all", false, "show all of what is cut at ten otherwise")
	cmd.Flags().IntVar(&cascade, "cascade", 3, "with -f: to which level of preempted pods to follow what they do next")
	flags.NotNegative(cmd, "cascade", &cascade)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if all {
			nodes = math.MaxInt
		}
		manifests, files, err := in.Manifests(cmd, args)
		if err != nil {
			return err
		}
		switch {
		case manifests != nil && in.Pod != "":
			return errors.New("--pod: chooses a pending pod of a cluster, but all that comes by -f is told")
		case manifests == nil && cmd.Flags().Changed("cascade"):
			return errors.New("--cascade: is for manifests that come by -f")
		}
		reference, err := in.Scheduler(cmd, args, reference)
		if err != nil {
			return err
		}
		checker, err := checkers.New(reference, 1)
		if err != nil {
			return err
		}
		defer checker.System.Close()
		if manifests != nil {
			return explainArrivals(cmd, in, args, manifests, files, checker, output, arrival.Bounds{Levels: cascade}, nodes)
		}
		c, err := in.LoadOne(cmd, args)
		if err != nil {
			return err
		}
		if c.Timeline != nil {
			return explainTimeline(cmd, output, reference, c)
		}
		off, on := explanation.GateOff(c.Cluster)
		stop := terminal.NewProgress(cmd.ErrOrStderr()).Watch("going through the cycle of " + c.Cluster.PreemptorKey())
		r, err := checker.Check(cmd.Context(), cmp.Or(off, c.Cluster))
		stop()
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
		found, contact := len(r.Unexplained()) > 0, ""
		for _, f := range r.Findings {
			if fingerprint.GoesToContact(fingerprint.OfFinding(&f), f.Detail) {
				contact = fingerprint.ToContact
			}
		}
		if r.Unmodelled != nil && r.Observation != nil {
			e := explanation.OfUnmodelled(r)
			e.File, e.Reference.ToContact = c.File, contact
			if output == terminal.HTML {
				return terminal.ConcludePage(cmd, func(w io.Writer) error { return cycle.WriteUnmodelled(w, r.Cluster, e) }, found, true)
			}
			return output.Conclude(cmd, e, e.WriteText, found, true)
		}
		if r.Unmodelled != nil {
			var errs []error
			for _, field := range words.Lines(r.Unmodelled) {
				errs = append(errs, fmt.Errorf("%s: not modelled: %s", c.File, field))
			}
			return errors.Join(errs...)
		}
		if r.Group != nil {
			e := explanation.Group(r)
			e.File, e.Reference.ToContact = c.File, contact
			if output == terminal.HTML {
				return terminal.ConcludePage(cmd, func(w io.Writer) error { return cycle.WriteGroup(w, r.Cluster, e) }, found, false)
			}
			return output.Conclude(cmd, e, e.WriteText, found, false)
		}
		if output == terminal.HTML {
			nodes = len(c.Cluster.Nodes) // all are drawn
		}
		e := explanation.Of(r, nodes)
		e.File, e.Reference.ToContact, e.All = c.File, contact, all
		if on != nil {
			grouped, err := checker.Check(cmd.Context(), on)
			if err != nil {
				return fmt.Errorf("%s: with %s on: %w", c.File, model.GateWorkload, err)
			}
			e.WithGate = explanation.Compared(r, grouped, nodes)
		}
		if output == terminal.HTML {
			return terminal.ConcludePage(cmd, func(w io.Writer) error { return cycle.Write(w, r.Cluster, e) }, found, false)
		}
		return output.Conclude(cmd, e, e.WriteText, found, false)
	}
	return cmd
}

// explainTimeline tells a timeline as a story.
func explainTimeline(cmd *cobra.Command, output terminal.Format, reference string, c *corpus.Case) error {
	life, err := checkers.NewLife(reference)
	if err != nil {
		return err
	}
	if life == nil {
		return fmt.Errorf("%s: %s cannot be run through timelines", c.File, reference)
	}
	defer life.Close()
	stop := terminal.NewProgress(cmd.ErrOrStderr()).Watch("running the timeline")
	l, findings, err := variation.Run(cmd.Context(), life.Live, c.Timeline, true)
	stop()
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	told := story.Tell(l, findings)
	told.Name, told.File = c.Name, c.File
	found := len(lifetime.Unexplained(findings)) > 0
	if output == terminal.HTML {
		return terminal.ConcludePage(cmd, func(w io.Writer) error { return lanes.Write(w, l, findings, told) }, found, false)
	}
	return output.Conclude(cmd, told, told.WriteText, found, false)
}
