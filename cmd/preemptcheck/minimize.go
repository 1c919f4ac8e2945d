package main

import (
	"bytes"
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
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

func newMinimize() *cobra.Command {
	var in input
	var duration time.Duration
	var dir, reference string
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
agree. When --for is over, or on an interrupt, the result is the best so far.

The case goes to standard output, or with --out to a new file there. With -o json
or yaml, the report goes to standard output and holds the case.

Exit status: 0 if the cluster was minimised; 2 if nothing is found in it, or it
could not be read.`,
		Example: `  preemptcheck minimize corpus/cases/finding-budget-order.yaml
  kubectl get nodes,pods,pdb,priorityclasses -A -o yaml | preemptcheck minimize - --pod shop/web-0 --out findings`,
	}
	inputFlags(cmd, &in)
	cmd.Flags().DurationVar(&duration, "for", 5*time.Minute, "how long; 0 is until it is done")
	cmd.Flags().StringVar(&dir, "out", "", "directory to save the case in; it is created when it is needed")
	referenceFlag(cmd, &reference)
	outputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		checker, err := newChecker(reference, slices.Concat(properties.Invariants(), properties.Relations())...)
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
		m, err := minimised(ctx, checker, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
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

// minimisation is the answer of minimize.
type minimisation struct {
	File        string                  `json:"file"`
	Fingerprint fingerprint.Fingerprint `json:"fingerprint"`
	Finding     string                  `json:"finding"`
	From        size                    `json:"from"`
	To          size                    `json:"to"`
	// Checks counts the clusters checked; Minimal says that no single further
	// step keeps the finding.
	Checks  int  `json:"checks"`
	Minimal bool `json:"minimal"`
	// Needs says what becomes of the finding with each further step.
	Needs []minimize.Need `json:"needs,omitempty"`
	// Neighbour is the smallest edit known after which everything agrees.
	Neighbour string `json:"neighbour,omitempty"`
	Case      string `json:"case"`
	Saved     string `json:"saved,omitempty"`

	small *corpus.Case
}

type size struct {
	Nodes   int `json:"nodes"`
	Pods    int `json:"pods"` // without the preemptor
	Budgets int `json:"budgets"`
}

func sizeOf(c *model.Cluster) size {
	return size{len(c.Nodes), len(c.Pods), len(c.PodDisruptionBudgets)}
}

func (s size) String() string {
	return plural(s.Nodes, "node") + ", " + plural(s.Pods, "pod") + ", " + plural(s.Budgets, "budget")
}

func minimised(ctx context.Context, checker *properties.Checker, c *corpus.Case) (*minimisation, error) {
	want, err := mainFinding(ctx, checker, c.Cluster)
	if err != nil {
		return nil, err
	}
	r, err := minimize.Minimise(ctx, checker, c.Cluster, want)
	if err != nil {
		return nil, err
	}
	m := &minimisation{
		File: c.File, Fingerprint: want, Finding: firstLine(r.Finding.String()),
		From: sizeOf(c.Cluster), To: sizeOf(r.Cluster),
		Checks: r.Checks, Minimal: r.Minimal, Needs: r.Needs,
	}
	if r.Neighbour != nil {
		m.Neighbour = r.Neighbour.Edit
	}
	m.small = &corpus.Case{
		Name:        slug(want.Property, string(want.Stage)),
		Description: m.Finding,
		Origin:      "minimised from " + c.File,
		Findings:    r.Finding.Known,
		Cluster:     r.Cluster,
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
	quick.Properties, quick.Relations = nil, 0
	for _, checker := range []*properties.Checker{&quick, checker} {
		r, err := checkCluster(ctx, checker, c)
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
	fmt.Fprintf(w, "%s\n\n", m.Finding)
	fmt.Fprintf(w, "from %s\nto   %s\nin %s, ", m.From, m.To, plural(m.Checks, "check"))
	if !m.Minimal {
		fmt.Fprintln(w, "and not proven minimal: there was no time to try every further step")
		return
	}
	fmt.Fprintf(w, "and minimal: none of the %s possible keeps the finding\n\n", plural(len(m.Needs), "further step"))
	t := newTable("", "STEP", "BECOMES")
	for _, n := range m.Needs {
		t.row(n.Step, strings.ReplaceAll(n.Becomes, "\n", " "))
	}
	t.write(w)
	if m.Neighbour != "" {
		fmt.Fprintf(w, "\nnearest cluster on which everything agrees: %s\n", m.Neighbour)
	} else {
		fmt.Fprintln(w, "\nno single edit tried makes everything agree")
	}
	fmt.Fprintln(w)
}
