package explanation

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Outcome says in a few words what the scheduler did. Where it may take any of
// several nodes, all of them are named, so that the words do not depend on
// chance.
func Outcome(r *properties.Result) (outcome, decidedBy string) {
	o := r.Observation
	switch {
	case o.Crash != nil:
		return string(o.Crash.Kind), ""
	case o.CycleError != "":
		return "error", ""
	case o.ScheduledTo != "" && !slices.Contains(r.Decision.Fits, o.ScheduledTo):
		return "fits on " + o.ScheduledTo, "" // which should not be
	case o.ScheduledTo != "":
		return "fits on " + words.AnyOf(r.Decision.Fits), ""
	case o.Eligible != nil && !o.Eligible.OK:
		return "not eligible", ""
	case o.Pick == nil:
		return "no help", ""
	}
	decidedBy = explain.DecidedBy(r.Decision, o)
	nodes := []string{o.Pick.Node}
	if decidedBy == model.Tie && r.Decision.Orders() <= maxOrders {
		if all := nodesOf(r.Decision.Choices()); len(all) > 0 { // none, if the model says that nobody goes
			nodes = all
		}
	}
	return fmt.Sprintf("preempts %d on %s", len(o.Pick.Victims), words.AnyOf(nodes)), decidedBy
}

func nodesOf(choices []answers.Choice) []string {
	var nodes []string
	for _, c := range choices {
		nodes = append(nodes, c.Node)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// maxOrders bounds answers.Set.Orders: beyond it, working out all allowed answers
// takes longer than a few seconds.
const maxOrders = 50_000
