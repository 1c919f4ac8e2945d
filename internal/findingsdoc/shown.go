package findingsdoc

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
)

// reasons say, for each finding that the linked release has, why it has its class:
// the promise at its source, what happens, and the threads that were read.
//
//go:embed reasons/*.md
var reasons embed.FS

// reason is the text that says why a finding has its class, which it names first.
func reason(e ledger.Entry) ([]byte, error) {
	text, err := reasons.ReadFile("reasons/" + e.ID + ".md")
	if err != nil {
		return nil, fmt.Errorf("nothing says why it is %s: %w", e.Class, err)
	}
	if want := "*" + strings.ToUpper(string(e.Class[:1])) + string(e.Class[1:]); !bytes.HasPrefix(text, []byte(want)) {
		return nil, fmt.Errorf("reasons/%s.md does not begin with %s", e.ID, want)
	}
	return text, nil
}

// linesOfProperty is how often a page shows that the same property is broken.
const linesOfProperty = 3

// shown writes what model and scheduler say of the witness, and the test.
func shown(ctx context.Context, out *bytes.Buffer, e ledger.Entry, system reference.System, witness *corpus.Case) error {
	test, ok := upstreamtests.LookUp(e.ID)
	if !ok {
		return errors.New("there is no test for it in internal/upstreamtests")
	}
	source, err := test.Source()
	if err != nil {
		return err
	}
	result, err := check(ctx, e, system, witness.Cluster)
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	switch x := witness.Expected(system.Name()); {
	case ofPlugin(e):
		fmt.Fprintln(out, "- Model: not needed. A plugin that is asked by itself breaks the promise.")
	case result.Unmodelled != nil:
		fmt.Fprintln(out, "- Model: it does not cover the cluster. The scheduler breaks the promise by what it answers itself.")
	case e.Quirk == "":
		fmt.Fprintln(out, "- Model: the same. The algorithm as documented breaks the promise.")
	case x != nil:
		fmt.Fprintf(out, "- Model: %s\n", expected(x, witness.Cluster.PreemptorGroup != ""))
	}
	fmt.Fprintf(out, "- kube-scheduler %s: %s\n", system.Name(), observed(result.Observation))
	lines := map[string]int{}
	for _, f := range result.Findings {
		if !slices.Contains(f.Known, e.ID) {
			continue
		}
		if lines[f.Property]++; lines[f.Property] > linesOfProperty {
			continue
		}
		where := string(f.Stage)
		if f.Node != "" {
			where += " on " + f.Node
		}
		fmt.Fprintf(out, "- Breaks `%s`, %s: %s\n", f.Property, where, strings.TrimSpace(f.Detail))
	}
	for _, property := range slices.Sorted(maps.Keys(lines)) {
		if more := lines[property] - linesOfProperty; more > 0 {
			fmt.Fprintf(out, "- Breaks `%s` %d times more\n", property, more)
		}
	}
	fmt.Fprint(out, "\n## Failing test\n\n")
	if test.Scenario() != "" {
		fmt.Fprintf(out, "%s; fails at %s.\n", scenario(test), failures(test))
		return nil
	}
	fmt.Fprintf(out, "For `%s`; fails at %s.\n\n```go\n%s```\n", test.File, failures(test), source)
	return nil
}

// scenario names that of a test that several findings share.
func scenario(test upstreamtests.Test) string {
	return fmt.Sprintf("Scenario “%s” of [%s](../../internal/upstreamtests/testdata/%s_test.go), a test for `%s`",
		test.Scenario(), test.Function(), test.SourceName(), test.File)
}

// failures says where a test fails, and with what.
func failures(test upstreamtests.Test) string {
	var fails []string
	for _, name := range slices.Sorted(maps.Keys(test.Fails)) {
		fails = append(fails, fmt.Sprintf("“%s”: %s", name, test.Fails[name]))
	}
	return strings.Join(fails, "; ")
}

// check runs the witness through the differential and the properties that the
// finding breaks.
func check(ctx context.Context, e ledger.Entry, system reference.System, c *model.Cluster) (*properties.Result, error) {
	checker := properties.Checker{System: system}
	for _, p := range all.Properties() {
		if slices.Contains(e.Properties, p.Name) {
			checker.Properties = append(checker.Properties, p)
		}
	}
	result, err := checker.Check(ctx, c)
	switch {
	case err != nil:
		return nil, err
	case result.Unmodelled != nil && e.Quirk != "":
		return nil, fmt.Errorf("the witness is not modelled: %w", result.Unmodelled)
	case !slices.ContainsFunc(result.Findings, func(f properties.Finding) bool { return slices.Contains(f.Known, e.ID) }):
		return nil, errors.New("the witness no longer shows it")
	}
	return result, nil
}

// ofPlugin tells whether all that a finding breaks is what a plugin promises the framework: that needs no model.
func ofPlugin(e ledger.Entry) bool {
	return e.Quirk == "" && len(e.Properties) > 0 && !slices.ContainsFunc(e.Properties, func(p string) bool { return !contract.Is(p) })
}
