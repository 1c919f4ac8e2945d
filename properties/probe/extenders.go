package probe

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
)

// extenderProbes are about what extenders do to nodes and candidates.
var extenderProbes = []Probe{
	{"extender rejects", "an extender fails a node that passes all filters, which preemption may resolve", few,
		func(c *cycle) bool { return c.failed(model.ExtenderName, false) }},
	{"extender excludes", "an extender fails a node that passes all filters, which preemption does not resolve", few,
		func(c *cycle) bool { return c.failed(model.ExtenderName, true) }},
	{"extender alone in the way", "a dry run preempts nobody, as only an extender rejects the node", once,
		func(c *cycle) bool {
			return c.dryRun(func(r *run) bool { return len(r.Victims) == 0 && c.rejectedOnly(r.node) })
		}},
	{"extender fails the filter", "the error of an extender that is not ignorable ends the cycle", once,
		func(c *cycle) bool { return c.Observation.CycleError != "" && len(c.Cluster.Nodes) > 0 && c.extended() }},
	{"extender drops", "an extender takes a node off the candidates, and others stay", few,
		func(c *cycle) bool {
			return len(c.Observation.AfterExtenders) > 0 && len(c.Observation.AfterExtenders) < len(c.Observation.Candidates)
		}},
	{"extenders leave nothing", "extenders take all candidates away", few,
		func(c *cycle) bool {
			return c.Observation.AfterExtenders != nil && len(c.Observation.AfterExtenders) == 0 && len(c.Observation.Candidates) > 0
		}},
	{"extender trims", "an extender spares some of the victims of a node", few,
		func(c *cycle) bool {
			return c.afterExtenders(func(before, after model.DryRun) bool { return len(after.Victims) < len(before.Victims) })
		}},
	{"extender reorders", "an extender puts the victims of a node in another order", few,
		func(c *cycle) bool {
			return c.afterExtenders(func(before, after model.DryRun) bool {
				return len(after.Victims) == len(before.Victims) && !slices.Equal(after.Victims, before.Victims)
			})
		}},
	{"extender recounts violations", "an extender returns another number of budget violations", few,
		func(c *cycle) bool {
			return c.afterExtenders(func(before, after model.DryRun) bool { return after.Violations != before.Violations })
		}},
	{"extender fails the preemption", "the error of an extender that is not ignorable ends the preemption", few,
		func(c *cycle) bool {
			return c.extended() && c.Observation.PostFilterCode == "Error" && len(c.Observation.Candidates) > 0
		}},
	{"extender ignored", "an ignorable extender fails, and the preemption goes on without it", few,
		func(c *cycle) bool {
			return c.Observation.AfterExtenders != nil && c.extender(func(e *model.Extender) bool {
				return e.Ignorable && e.Preempt != nil && e.Preempt.Fails != "" && len(e.ManagedResources) == 0
			})
		}},
	{"extender not interested", "an extender is not asked, as the pod requests none of its resources", few,
		func(c *cycle) bool { return len(c.Observation.Candidates) > 0 && explain.Uninterested(c.Decision) }},
}

func (c *cycle) extended() bool { return len(c.Cluster.Settings.Extenders) > 0 }

func (c *cycle) extender(holds func(e *model.Extender) bool) bool {
	for i := range c.Cluster.Settings.Extenders {
		if holds(&c.Cluster.Settings.Extenders[i]) {
			return true
		}
	}
	return false
}

// rejectedOnly tells whether only an extender is in the way on a node, by what was
// observed.
func (c *cycle) rejectedOnly(node string) bool {
	v := c.Observation.Filters[node]
	return v.Plugin == model.ExtenderName && !v.Unresolvable && c.Observation.DryRuns[node].Error != ""
}

// afterExtenders tells whether something is so of a candidate that extenders left.
func (c *cycle) afterExtenders(holds func(before, after model.DryRun) bool) bool {
	for node, after := range c.Observation.AfterExtenders {
		if holds(c.Observation.DryRuns[node], after) {
			return true
		}
	}
	return false
}
