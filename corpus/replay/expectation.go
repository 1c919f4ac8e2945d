package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/properties"
)

// unmet says which of the expectations a result does not meet; e may be nil.
func unmet(e *corpus.Expectation, r *properties.Result) []string {
	switch {
	case e == nil:
		return nil
	case r.Group != nil:
		return unmetByGroup(e, r.Group)
	}
	return unmetByPod(e, r.Decision)
}

// unmetByPod says which of the expectations the decision does not meet. The expectation is held against the model and not against the scheduler, which
// the differential holds against the model: so it can name every admissible
// answer, of which the scheduler shows one.
func unmetByPod(e *corpus.Expectation, d *answers.Set) []string {
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

// maxCourses bounds the ways through the cycle of a pod group that are tried.
const maxCourses = 10_000

// unmetByGroup is unmetByPod for the cycle of a pod group.
func unmetByGroup(e *corpus.Expectation, s *podgroups.Set) (complaints []string) {
	courses, exact := explain.Courses(s, maxCourses)
	if !exact {
		return []string{"expected the answers to be known, but there are too many ways to place the pods"}
	}
	complain := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !slices.Contains(complaints, text) {
			complaints = append(complaints, text)
		}
	}
	met := make([]bool, len(e.Nominations))
	for _, c := range courses {
		if got := outcomeOfCourse(c); got != e.Outcome {
			complain("expected %s, but it is %s", e.Outcome, got)
			continue
		}
		if !c.Preempts {
			continue
		}
		victims := make([]string, len(c.Victims))
		for i, p := range c.Victims {
			victims[i] = filter.Key(p.Pod)
		}
		i := slices.IndexFunc(e.Nominations, func(n corpus.Nomination) bool {
			return maps.Equal(n.Members, c.Nominated) && slices.Equal(n.Victims, victims) && n.Violations == c.Violations
		})
		if i < 0 {
			complain("not expected, but allowed: %s", nomination(members(c.Nominated), victims, c.Violations))
			continue
		}
		met[i] = true
		want, got := slices.Sorted(slices.Values(e.Clears)), c.Actuation.Cleared
		if e.Clears != nil && !slices.Equal(want, got) {
			complain("expected that %s withdraws the nominations of %v, but it does of %v", members(c.Nominated), want, got)
		}
	}
	for i, n := range e.Nominations {
		if !met[i] {
			complain("expected, but not allowed: %s", nomination(members(n.Members), n.Victims, n.Violations))
		}
	}
	return complaints
}

// members are "default/a on node-1, default/b on node-2".
func members(nominated map[string]string) string {
	var all []string
	for _, pod := range slices.Sorted(maps.Keys(nominated)) {
		all = append(all, pod+" on "+nominated[pod])
	}
	return strings.Join(all, ", ")
}

func outcomeOfCourse(c *explain.Course) string {
	switch {
	case c.Waits || len(c.Awaited) > 0:
		return corpus.Waiting
	case c.Fails != "":
		return corpus.Error
	case c.Binds:
		return corpus.Scheduled
	case !c.Eligible.OK:
		return corpus.NotEligible
	case !c.Preempts:
		return corpus.NotHelpful
	}
	return corpus.Preempted
}
