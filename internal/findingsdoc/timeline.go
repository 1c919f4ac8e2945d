package findingsdoc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/story"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/reference"
)

// lived writes the story of the timeline that shows a finding.
func lived(ctx context.Context, out *bytes.Buffer, e ledger.Entry, system reference.System, witness *corpus.Case) error {
	fmt.Fprintf(out, "## Smallest timeline\n\n[%s.yaml](../../corpus/timelines/%[1]s.yaml)\n\n", e.Witness)
	fmt.Fprintf(out, "%s\n", strings.ReplaceAll(witness.Description, "\n", " "))
	if !release.Linked.In(e.Releases) {
		return nil // "preemptcheck explain --reference" tells it, with a scheduler that has it
	}
	life, ok := system.(reference.LifeSystem)
	if !ok {
		return errors.New("its timeline cannot be run with this scheduler")
	}
	l, findings, err := variation.Run(ctx, life.Live, witness.Timeline, true)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(findings, func(f lifetime.Finding) bool { return slices.Contains(f.Known, e.ID) }) {
		return errors.New("the witness no longer shows it")
	}
	if unmet := l.Trace.Unmet; len(unmet) > 0 {
		return fmt.Errorf("expected that %s, but %s", unmet[0].Expectation, unmet[0].Was)
	}
	fmt.Fprintf(out, "\n`preemptcheck explain corpus/timelines/%s.yaml` tells it:\n\n```\n", e.Witness)
	story.Tell(l, findings).WriteText(out)
	fmt.Fprintln(out, "```")
	test, ok := upstreamtests.LookUp(e.ID)
	if !ok {
		return errors.New("there is no test for it in internal/upstreamtests")
	}
	fmt.Fprint(out, "\n## Failing test\n\n")
	where := fmt.Sprintf("[%s](../../internal/upstreamtests/testdata/%s_test.go), a test for `%s`", test.Function(), test.SourceName(), test.File)
	if test.Scenario() != "" {
		where = scenario(test) + " that runs the scheduler in virtual time"
	}
	fmt.Fprintf(out, "%s; fails at %s.\n", where, failures(test))
	return nil
}
