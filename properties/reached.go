package properties

import (
	"fmt"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// maxReached is how many names a line of Reached holds.
const maxReached = 6

// Reached says how far the cycle of a pod came in which the scheduler breaks, a line for each stage of which something was seen.
func Reached(o *model.Observation) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	some := func(names []string) string { return words.Some(names, maxReached) }
	if len(o.Filters) > 0 {
		add("filter: it does not fit on %s", some(slices.Sorted(maps.Keys(o.Filters))))
	}
	if o.ScheduledTo != "" {
		add("filter: it is scheduled to %s", o.ScheduledTo)
	}
	switch e := o.Eligible; {
	case e == nil:
	case e.OK:
		add("eligible: it may preempt")
	default:
		add("eligible: it may not preempt")
	}
	if o.PotentialNodes != nil {
		add("potential nodes: %s", orNone(some(o.PotentialNodes)))
	}
	if o.DryRuns != nil {
		var runs []string
		for _, node := range slices.Sorted(maps.Keys(o.DryRuns)) {
			switch run := o.DryRuns[node]; {
			case run.Error != "":
				runs = append(runs, node+" (an error)")
			case run.Failed != nil:
				runs = append(runs, node+" (does not help)")
			default:
				runs = append(runs, fmt.Sprintf("%s (%s)", node, words.Plural(len(run.Victims), "victim")))
			}
		}
		add("dry run, those that ended: %s", orNone(some(runs)))
	}
	if len(o.Candidates) > 0 {
		add("candidates: %s", some(o.Candidates))
	}
	if o.AfterExtenders != nil {
		add("extenders leave %s", orNone(some(slices.Sorted(maps.Keys(o.AfterExtenders)))))
	}
	if p := o.Pick; p != nil {
		add("pick: %s, with %s", p.Node, orNone(some(p.Victims)))
	}
	// After a panic, which only ends a goroutine here, the cycle goes on: its calls tell nothing.
	if o.Aftermath != nil && o.Crash.Kind != model.Panic {
		for i, c := range o.Aftermath.Calls {
			if i == maxReached {
				add("and %d more API calls", len(o.Aftermath.Calls)-maxReached)
				break
			}
			add("actuate: %s", c)
		}
	}
	return all
}

func orNone(names string) string {
	if names == "" {
		return "none"
	}
	return names
}
