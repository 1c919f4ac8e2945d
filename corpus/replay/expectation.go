package replay

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/answers"
)

// unmet says which of the expectations the decision does not meet; e may be nil.
// The expectation is held against the model and not against the scheduler, which
// the differential holds against the model: so it can name every admissible
// answer, of which the scheduler shows one.
func unmet(e *corpus.Expectation, d *answers.Set) []string {
	if e == nil {
		return nil
	}
	choices := d.Choices()
	if got := outcomeOf(d, choices); got != e.Outcome {
		return []string{fmt.Sprintf("expected %s, but it is %s", e.Outcome, got)}
	}
	if exact, why := d.Exact(); !exact {
		return []string{"expected the answers to be known, but " + why}
	}
	var complaints []string
	met := make([]bool, len(e.Nominations))
	for _, c := range choices {
		i := slices.IndexFunc(e.Nominations, func(n corpus.Nomination) bool {
			return n.Node == c.Node && slices.Equal(n.Victims, c.Outcome.Victims) && n.Violations == c.Outcome.Violations
		})
		if i < 0 {
			complaints = append(complaints, "not expected, but allowed: "+nomination(c.Node, c.Outcome.Victims, c.Outcome.Violations))
			continue
		}
		met[i] = true
		want, got := slices.Sorted(slices.Values(e.Clears)), d.Preempts(c).Cleared
		if e.Clears != nil && !slices.Equal(want, got) {
			complaints = append(complaints, fmt.Sprintf("expected that %s withdraws the nominations of %v, but it does of %v", c.Node, want, got))
		}
	}
	for i, n := range e.Nominations {
		if !met[i] {
			complaints = append(complaints, "expected, but not allowed: "+nomination(n.Node, n.Victims, n.Violations))
		}
	}
	return complaints
}

func nomination(node string, victims []string, violations int) string {
	return fmt.Sprintf("%s with victims %v and %s", node, victims, words.Plural(violations, "violation"))
}

func outcomeOf(d *answers.Set, choices []answers.Choice) string {
	switch {
	case len(d.Fits) > 0:
		return corpus.Scheduled
	case d.Eligible == nil:
		return corpus.Error
	case !d.Eligible.OK:
		return corpus.NotEligible
	case len(choices) == 0:
		return corpus.NotHelpful
	}
	return corpus.Preempted
}
