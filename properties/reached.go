package properties

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// maxReached is how many names a line of Reached holds.
const maxReached = 6

func some(names []string) string { return words.Some(names, maxReached) }

// Reached says how far a cycle came in which the scheduler breaks, a line for each stage of which something was seen.
func Reached(o *model.Observation) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if o.Group != nil {
		all = reachedByGroup(o.Group)
	}
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

// reachedByGroup is Reached for the stages that only the cycle of a pod group has.
func reachedByGroup(g *model.GroupCycle) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	pass := func(name string, tries []model.MemberTry) {
		var said []string
		for _, t := range tries {
			switch {
			case t.Error != "":
				said = append(said, t.Pod+" (an error)")
			case t.Node == "":
				said = append(said, t.Pod+" (fits nowhere)")
			default:
				said = append(said, fmt.Sprintf("%s (%s)", t.Pod, t.Node))
			}
		}
		if len(said) > 0 {
			add("%s: %s", name, some(said))
		}
	}
	pass("first pass, members that were tried", g.First)
	if e := g.Eligible; e != nil && !e.OK {
		add("eligible: it may not preempt")
	}
	if g.SecondCalls > 0 {
		add("eligible: it may preempt, and its potential victims are taken away")
	}
	pass("second pass, members that were tried", g.Second)
	if len(g.Tried) > 0 {
		var tried []string
		for _, u := range g.Tried {
			unit := strings.Join(u.Pods, " and ")
			if u.Failed != "" {
				unit += " (not beside " + u.Failed + ")"
			}
			tried = append(tried, unit)
		}
		add("units that were given back, or tried to be: %s", some(tried))
	}
	if g.Code != "" {
		add("preemption ends with %s", g.Code)
	}
	return all
}

func orNone(names string) string {
	if names == "" {
		return "none"
	}
	return names
}
