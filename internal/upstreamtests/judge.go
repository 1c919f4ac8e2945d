package upstreamtests

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/harness"
)

// Run runs the tests against the scheduler that go.mod names and reports each to
// w. The error says which do not fail as they should: because the finding is
// fixed, or because the test cannot be built or does not work.
func Run(ctx context.Context, w io.Writer, tests []Test) error {
	upstream, _, err := harness.Copy(ctx, "upstream")
	if err != nil {
		return err
	}
	var packages, names []string
	for _, t := range tests {
		packages, names = append(packages, t.Package()), append(names, t.Function())
	}
	slices.Sort(packages)
	slices.Sort(names)
	events, err := goTest(ctx, upstream, tests, &change{}, slices.Compact(packages), "-run", "^("+strings.Join(slices.Compact(names), "|")+")$")
	if err != nil {
		return err
	}
	var wrong []string
	for _, t := range tests {
		problem := judge(t, events)
		if problem == "" {
			fmt.Fprintf(w, "fails as it should: %s (%s)\n", t.Name, t.Finding)
			continue
		}
		fmt.Fprintf(w, "WRONG: %s (%s): %s\n", t.Name, t.Finding, problem)
		wrong = append(wrong, t.Finding)
	}
	if len(wrong) == 0 {
		return nil
	}
	for _, e := range events {
		if e.Action == "build-output" {
			fmt.Fprint(w, e.Output)
		}
	}
	return fmt.Errorf("%d of %d tests do not fail as they should: %s", len(wrong), len(tests), strings.Join(wrong, ", "))
}

// written is a name as go test writes those of subtests.
func written(name string) string { return strings.ReplaceAll(name, " ", "_") }

// judge says what is wrong if a test does anything but fail in its subtests that
// should, for the expected reason, and pass in the others, of which there has to
// be one. A test that was not built has not run any.
func judge(t Test, events []event) string {
	results, output := map[string]string{}, map[string][]byte{}
	for _, e := range events {
		name, ok := strings.CutPrefix(e.Test, written(t.Name)+"/")
		if !ok || e.Package != t.Package() { // others may have a test of that name
			continue
		}
		switch e.Action {
		case "pass", "fail", "skip":
			results[name] = e.Action
		case "output":
			output[name] = append(output[name], e.Output...)
		}
	}
	if len(results) == 0 {
		return "it did not run"
	}
	want := map[string]string{}
	for name, message := range t.Fails {
		want[written(name)] = message
	}
	var passed int
	for name, result := range results {
		_, fails := want[name]
		switch {
		case fails && result == "fail":
		case !fails && result == "pass":
			passed++
		default:
			return fmt.Sprintf("%q: %s\n%s", name, result, output[name])
		}
	}
	for name, message := range want {
		if results[name] == "" {
			return fmt.Sprintf("%q did not run", name)
		}
		if !strings.Contains(string(output[name]), message) {
			return fmt.Sprintf("%q does not say %q:\n%s", name, message, output[name])
		}
	}
	if passed == 0 {
		return "no subtest passes, so nothing shows that the test works"
	}
	return ""
}
