package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

func newMinimize() *cobra.Command {
	var in input
	var duration time.Duration
	var classes uint64
	var workers int
	var dir, scheduler string
	var output format
	cmd := &cobra.Command{
		Use:   "minimize FILE",
		Short: "Make a cluster as small as it can be while the same is found in it",
		Long: `Minimize leaves out of a cluster all that a finding does not need: nodes, pods,
budgets, fields; it makes numbers small and names plain. What is left shows the
same property broken at the same stage, and if the finding is known, for the same
reason. If several things are found, the first new one is minimised, else the
first known one.

At the end each single further step was tried and lost the finding: the report on
standard error says what became of each, and which smallest edit makes everything
agree. Then the clusters with fewer nodes, pods or budgets that "preemptcheck
exhaustive" goes through are searched for the finding, up to the largest bound that
has at most --classes of them: if one has it, that one is minimised, else the
report says what was searched. When --for is over, or on an interrupt, the result
is the best so far, and the report says so.

What comes out does not depend on --workers.

The case goes to standard output, or with --out to a new file there. With -o json
or yaml, the report goes to standard output and holds the case.

Exit status: 0 if the cluster was minimised; 2 if nothing is found in it, or it
could not be read.`,
		Example: `  preemptcheck minimize corpus/cases/finding-budget-order.yaml
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml | preemptcheck minimize - --pod shop/web-0 --out findings`,
	}
	inputFlags(cmd, &in)
	cmd.Flags().DurationVar(&duration, "for", 5*time.Minute, "how long; 0 is until it is done")
	cmd.Flags().Uint64Var(&classes, "classes", 100_000, "how many classes of smaller clusters to search at most; 0 is no search")
	workersFlag(cmd, &workers)
	cmd.Flags().StringVar(&dir, "out", "", "directory to save the case in; it is created when it is needed")
	referenceFlag(cmd, &scheduler)
	outputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if workers < 1 {
			return errors.New("--workers: must be at least 1")
		}
		checker, err := newPooledChecker(scheduler, workers, allPromises()...)
		if err != nil {
			return err
		}
		defer checker.System.Close()
		cases, err := in.load(cmd, args)
		if err != nil {
			return err
		}
		c, err := single(cases)
		if err != nil {
			return err
		}
		ctx := cmd.Context()
		if duration > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, duration)
			defer cancel()
		}
		progress, start := newProgress(cmd.ErrOrStderr()), time.Now()
		m, err := minimised(ctx, checker, c, minimize.Options{Workers: workers, Certify: classes, Progress: func(p minimize.Progress) {
			progress.show(func() string { return fmt.Sprintf("%s: %s", time.Since(start).Round(time.Second), p) })
		}})
		progress.finish()
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
		switch {
		case cmd.Context().Err() != nil:
			m.Stopped = "interrupted"
		case ctx.Err() != nil:
			m.Stopped = "--for is over"
		}
		if dir != "" {
			if m.Saved, err = corpus.Save(dir, m.small); err != nil {
				return err
			}
		}
		if output != text {
			return output.print(cmd.OutOrStdout(), m, nil)
		}
		m.text(cmd.ErrOrStderr())
		if m.Saved != "" {
			_, err = fmt.Fprintln(cmd.OutOrStdout(), m.Saved)
		} else {
			_, err = io.WriteString(cmd.OutOrStdout(), m.Case)
		}
		return err
	}
	return cmd
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

// minimisation is the answer of minimize.
type minimisation struct {
	File        string                  `json:"file"`
	Fingerprint fingerprint.Fingerprint `json:"fingerprint"`
	Finding     string                  `json:"finding"`
	// Explanation says in a sentence what is found in the minimised cluster.
	Explanation string        `json:"explanation"`
	From        minimize.Size `json:"from"`
	To          minimize.Size `json:"to"`
	// Checks counts the clusters checked; Minimal says that no single further
	// step keeps the finding.
	Checks  int  `json:"checks"`
	Minimal bool `json:"minimal"`
	// Stopped says why there was no time for all of it.
	Stopped string `json:"stopped,omitempty"`
	// Smallest says which smaller clusters were searched for the finding.
	Smallest *minimize.Certificate `json:"smallest,omitempty"`
	// Needs says what becomes of the finding with each further step.
	Needs []minimize.Need `json:"needs,omitempty"`
	// Neighbour is the smallest edit known after which everything agrees.
	Neighbour string `json:"neighbour,omitempty"`
	Case      string `json:"case"`
	Saved     string `json:"saved,omitempty"`

	small *corpus.Case
}

func minimised(ctx context.Context, checker *properties.Checker, c *corpus.Case, o minimize.Options) (*minimisation, error) {
	want, err := mainFinding(ctx, checker, c.Cluster)
	if err != nil {
		return nil, err
	}
	r, err := minimize.Minimise(ctx, checker, c.Cluster, want, o)
	if err != nil {
		return nil, err
	}
	m := &minimisation{
		File: c.File, Fingerprint: fingerprint.OfFinding(&r.Finding), Finding: words.FirstLine(r.Finding.String()),
		From: minimize.SizeOf(c.Cluster), To: minimize.SizeOf(r.Cluster),
		Checks: r.Checks, Minimal: r.Minimal, Smallest: r.Smallest, Needs: r.Needs,
	}
	if r.Neighbour != nil {
		m.Neighbour = r.Neighbour.Edit
	}
	// Once more, for what there is to tell, even if the time is up.
	plain := properties.Checker{System: checker.System, Release: checker.Release, Decide: checker.Decide}
	shown, _ := plain.Check(context.WithoutCancel(ctx), r.Cluster) // else nil: the check itself fails
	m.Explanation = fingerprint.Explain(shown, &r.Finding)
	m.small = campaign.NewCase(fingerprint.Identify(&r.Finding, r.Cluster), m.Explanation, "minimised from "+c.File,
		fmt.Sprintf("%s minimize %s", program(), c.File), r.Cluster)
	if len(r.Finding.Known) > 0 {
		m.small.Finding, m.small.Findings = nil, r.Finding.Known
	}
	var written bytes.Buffer
	if err := m.small.Write(&written); err != nil {
		return nil, err
	}
	m.Case = written.String()
	return m, nil
}

// mainFinding chooses what to minimise. The differential is looked at by itself
// first, as all the rest takes long on a large cluster.
func mainFinding(ctx context.Context, checker *properties.Checker, c *model.Cluster) (fingerprint.Fingerprint, error) {
	quick := *checker
	quick.Properties, quick.Relations, quick.Filters = nil, 0, 0
	for _, checker := range []*properties.Checker{&quick, checker} {
		r, err := checker.Check(ctx, c)
		switch {
		case err != nil && ctx.Err() != nil:
			return fingerprint.Fingerprint{}, ctx.Err()
		case err != nil:
			return fingerprint.Fingerprint{Property: fingerprint.Failed}, nil
		case r.Unmodelled != nil:
			return fingerprint.Fingerprint{}, fmt.Errorf("not modelled: %w", r.Unmodelled)
		}
		if all := fingerprint.Of(r); len(all) > 0 && (all[0].Known == "" || checker != &quick) {
			return all[0], nil
		}
	}
	return fingerprint.Fingerprint{}, errors.New("nothing is found in it")
}

func (m *minimisation) text(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", m.Explanation)
	fmt.Fprintf(w, "from %s\nto   %s\nin   %s\n\n", m.From, m.To, words.Plural(m.Checks, "check"))
	if !m.Minimal {
		fmt.Fprintf(w, "not proven minimal: %s, and not every further step was tried\n\n", cmp.Or(m.Stopped, "the answers differ from time to time"))
		return
	}
	fmt.Fprintf(w, "minimal: none of the %s possible keeps the finding\n", words.Plural(len(m.Needs), "further step"))
	switch s := m.Smallest; {
	case s == nil:
	case s.Complete:
		fmt.Fprintf(w, "smallest: %s\n", s)
	default:
		fmt.Fprintf(w, "not proven smallest: %s, and %s\n", m.Stopped, s)
	}
	if m.Neighbour != "" {
		fmt.Fprintf(w, "nearest cluster on which everything agrees: %s\n", m.Neighbour)
	} else {
		fmt.Fprintln(w, "no single edit tried makes everything agree")
	}
	shown := deepest(m.Needs)
	fmt.Fprint(w, "\nWhat is left is needed")
	if len(shown) < len(m.Needs) {
		fmt.Fprint(w, " (-o json lists all steps)")
	}
	fmt.Fprint(w, ":\n\n")
	t := table.New("  ", "STEP", "THE FINDING BECOMES")
	for _, n := range shown {
		t.Row(n.Step, strings.ReplaceAll(n.Becomes, "\n", " "))
	}
	t.WriteText(w)
	fmt.Fprintln(w)
}

// deepest leaves out the steps that say no more than others: those that take away
// more of the same, with the same end.
func deepest(needs []minimize.Need) []minimize.Need {
	return slices.DeleteFunc(slices.Clone(needs), func(n minimize.Need) bool {
		return strings.HasPrefix(n.Step, "all objects of kind ") || slices.ContainsFunc(needs, func(less minimize.Need) bool {
			if less.Becomes != n.Becomes || less.Step == n.Step {
				return false
			}
			inside := strings.Contains(n.Step, ": without ") && (strings.HasPrefix(less.Step, n.Step+".") || strings.HasPrefix(less.Step, n.Step+"["))
			return inside || n.Step == less.Step+" and its room" || strings.HasPrefix(n.Step, less.Step+", ")
		})
	})
}
