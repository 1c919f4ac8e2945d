// Package findingsdoc writes docs/findings.md from the ledger: for each known
// finding what was promised, what happens instead, the smallest cluster on which
// it does, and a test that fails in the scheduler's own packages because of it.
package findingsdoc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
)

const introduction = `# Findings

<!-- Generated from properties/ledger.go. To write it anew: make golden -->

Ways in which kube-scheduler's preemption breaks what its documentation promises, found by running the real scheduler and a model of the documented algorithm on
the same clusters. Each has a smallest cluster that is checked again and again, and a table test in the style of the scheduler's own: add it to the file it names
and it fails, until the finding is fixed. ` + "`make upstream-tests`" + ` shows that for all of them.

`

// Render writes the document for the entries: it runs the witness of each, from
// the folder cases, on the system. An entry without a witness, one that the
// witness no longer shows, or one without a test is an error.
func Render(ctx context.Context, entries []properties.LedgerEntry, system reference.System, cases string) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(introduction)
	for i, e := range entries {
		fmt.Fprintf(&out, "%d. [%s](#%s)\n", i+1, e.Title, e.ID)
	}
	var problems []error
	withdrawn := false
	for _, e := range entries {
		var err error
		if model.Linked.In(e.Releases) {
			err = section(ctx, &out, e, system, cases)
		} else {
			if !withdrawn {
				fmt.Fprintf(&out, "\n# Findings that %s no longer has\n", model.Linked)
				withdrawn = true
			}
			err = withdrawnSection(&out, e, cases)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("finding %s: %w", e.ID, err))
		}
	}
	return out.Bytes(), errors.Join(problems...)
}

// withdrawnSection runs nothing: "preemptcheck check --reference" does, with the
// schedulers that have the finding.
func withdrawnSection(out *bytes.Buffer, e properties.LedgerEntry, cases string) error {
	witness, err := load(filepath.Join(cases, e.Witness+".yaml"))
	if err != nil {
		return err
	}
	if !slices.Contains(witness.Findings, e.ID) {
		return errors.New("the witness is none of it")
	}
	entry(out, e, witness)
	return nil
}

// entry is what the ledger says, and the witness.
func entry(out *bytes.Buffer, e properties.LedgerEntry, witness *corpus.Case) {
	fmt.Fprintf(out, "\n<a id=%q></a>\n\n## %s\n\n", e.ID, e.Title)
	fmt.Fprintf(out, "`%s`, %s, %s\n\n", e.ID, e.Releases, upstream(e.Upstream))
	fmt.Fprintf(out, "**Promised:** %s\\\n%s\n\n", e.Promise, e.Source)
	fmt.Fprintf(out, "**Happens:** %s\\\n%s\n\n", e.Happens, e.Where)
	fmt.Fprintf(out, "**Smallest cluster:** [%s.yaml](../corpus/cases/%[1]s.yaml)\n\n```\n%s```\n\n", e.Witness, Summary(witness.Cluster))
	fmt.Fprintf(out, "%s\n\n", strings.ReplaceAll(witness.Description, "\n", " "))
}

func section(ctx context.Context, out *bytes.Buffer, e properties.LedgerEntry, system reference.System, cases string) error {
	test, ok := upstreamtests.LookUp(e.ID)
	if !ok {
		return errors.New("there is no test for it in internal/upstreamtests")
	}
	source, err := test.Source()
	if err != nil {
		return err
	}
	witness, err := load(filepath.Join(cases, e.Witness+".yaml"))
	if err != nil {
		return err
	}
	result, err := check(ctx, e, system, witness.Cluster)
	if err != nil {
		return err
	}

	entry(out, e, witness)
	if e.Quirk == "" {
		fmt.Fprintln(out, "- Model: the same. The algorithm as documented breaks the promise.")
	} else if x := witness.Expected(system.Name()); x != nil {
		fmt.Fprintf(out, "- Model: %s\n", expected(x))
	}
	fmt.Fprintf(out, "- kube-scheduler %s: %s\n", system.Name(), observed(result.Observation))
	for _, f := range result.Findings {
		if !slices.Contains(f.Known, e.ID) {
			continue
		}
		where := string(f.Stage)
		if f.Node != "" {
			where += " on " + f.Node
		}
		fmt.Fprintf(out, "- Breaks `%s`, %s: %s\n", f.Property, where, strings.TrimSpace(f.Detail))
	}

	var fails []string
	for _, name := range slices.Sorted(maps.Keys(test.Fails)) {
		fails = append(fails, fmt.Sprintf("“%s”: %s", name, test.Fails[name]))
	}
	fmt.Fprintf(out, "\n<details>\n<summary>Test for <code>%s</code>, fails at %s</summary>\n\n", test.File, strings.Join(fails, "; "))
	fmt.Fprintf(out, "```go\n%s```\n\n</details>\n", source)
	return nil
}

func load(file string) (*corpus.Case, error) {
	stream, err := corpus.Load(file)
	if err != nil {
		return nil, err
	}
	if len(stream.Cases) != 1 {
		return nil, fmt.Errorf("%s: want one case, got %d", path.Base(file), len(stream.Cases))
	}
	return stream.Cases[0], nil
}

// check runs the witness through the differential and the properties that the
// finding breaks.
func check(ctx context.Context, e properties.LedgerEntry, system reference.System, c *model.Cluster) (*properties.Result, error) {
	checker := properties.Checker{System: system}
	for _, p := range append(properties.Invariants(), properties.Sampled()...) {
		if slices.Contains(e.Properties, p.Name) {
			checker.Properties = append(checker.Properties, p)
		}
	}
	result, err := checker.Check(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case result.Unmodelled != nil:
		return nil, fmt.Errorf("the witness is not modelled: %w", result.Unmodelled)
	case !slices.ContainsFunc(result.Findings, func(f properties.Finding) bool { return slices.Contains(f.Known, e.ID) }):
		return nil, errors.New("the witness no longer shows it")
	}
	return result, nil
}

// upstream links an issue or pull request of the form repository#number.
func upstream(ref string) string {
	repo, number, ok := strings.Cut(ref, "#")
	if !ok {
		return ref
	}
	return fmt.Sprintf("[%s](https://github.com/kubernetes/%s/issues/%s)", ref, repo, number)
}
