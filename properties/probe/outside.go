package probe

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/outside"
)

// OfPlugin are the probes of a modelled plugin that is not Kubernetes' own, which are asked instead of the others where a
// scheduler has it.
func OfPlugin(name string) []Probe { return slices.Clone(outsideProbes[name]) }

var outsideProbes = map[string][]Probe{
	outside.PreemptionToleration: {
		{"tolerates for ever", "a pod of lower priority is spared for ever, on a node that is tried", few, stands(outside.ForEver, false)},
		{"tolerates still", "a pod of lower priority is spared for some time yet", few, stands(outside.Still, false)},
		{"tolerates since unknown", "a pod is spared of which it is not known since when it is scheduled", few, stands(outside.SinceUnknown, false)},
		{"toleration is over", "a victim tolerates the preemptor no longer", few, stands(outside.Over, true)},
		{"minimum is met", "the class of a victim asks for a priority that the preemptor has", few, stands(outside.MinimumMet, true)},
		{"nobody but the tolerant", "a node has pods of lower priority, and all tolerate the preemptor", few, (*cycle).onlyTolerant},
		{"tolerant beside a victim", "a less important pod is spared that tolerates the preemptor, and another one on the node is not", few, (*cycle).tolerantBesideVictim},
	},
	outside.CapacityScheduling: {
		{"no quota of its own", "the preemptor's namespace has no quota, and it preempts", few, func(c *cycle) bool { return c.Observation.Pick != nil && !c.quotas().Own }},
		{"over max", "the pod fails as its quota would use more than its max", few, func(c *cycle) bool { return failed(outside.CapacityScheduling, resolvable)(c) && c.quotas().Max }},
		{"over the sum of min", "the pod fails as all quotas would use more than the sum of their min", few,
			func(c *cycle) bool { return failed(outside.CapacityScheduling, resolvable)(c) && !c.quotas().Max }},
		{"borrower preempted", "a pod of another namespace has to go, whose quota uses more than its min", few, takesFrom(true)},
		{"higher priority preempted", "such a pod has a priority that is not lower", few, (*cycle).takesHigher},
		{"own namespace preempted", "over its min, a preemptor takes a pod of its own namespace", few, takesFrom(false)},
		{"others spared", "a node has a pod of lower priority of another quota, which may not be taken", few, (*cycle).sparesOthers},
		{"quota in the way", "a node does not help, as the quotas would use too much once its victims are gone", few, (*cycle).quotaInTheWay},
	},
}

// dryRunPods calls visit with the pods on each node of which a dry run was seen, and whether they are victims there.
func (c *cycle) dryRunPods(visit func(p *filter.Pod, victim bool) (found bool)) bool {
	for name, run := range c.Observation.DryRuns {
		n := c.Decision.Cycle.Node(name)
		if n != nil && slices.ContainsFunc(n.Pods, func(p *filter.Pod) bool { return visit(p, slices.Contains(run.Victims, p.Key)) }) {
			return true
		}
	}
	return false
}

func (c *cycle) lower(p *filter.Pod) bool { return p.Priority < c.Decision.Cycle.Preemptor.Priority }

func stands(as outside.Standing, victim bool) occurs {
	return func(c *cycle) bool {
		return c.dryRunPods(func(p *filter.Pod, is bool) bool {
			return c.lower(p) && is == victim && outside.StandingOf(c.Decision.Cycle, p) == as
		})
	}
}

func (c *cycle) spared(p *filter.Pod) bool {
	as := outside.StandingOf(c.Decision.Cycle, p)
	return c.lower(p) && (as == outside.ForEver || as == outside.Still)
}

func (c *cycle) onlyTolerant() bool {
	for name, run := range c.Observation.DryRuns {
		n := c.Decision.Cycle.Node(name)
		if n != nil && run.Failed != nil && run.Failed.Unresolvable && slices.ContainsFunc(n.Pods, c.spared) &&
			!slices.ContainsFunc(n.Pods, func(p *filter.Pod) bool { return c.lower(p) && !c.spared(p) }) {
			return true
		}
	}
	return false
}

func (c *cycle) tolerantBesideVictim() bool {
	return c.dryRunPods(func(victim *filter.Pod, is bool) bool {
		return is && slices.ContainsFunc(victim.Node.Pods, func(p *filter.Pod) bool { return c.spared(p) && p.Priority <= victim.Priority })
	})
}

func (c *cycle) quotas() outside.Quotas { return outside.QuotasOf(c.Decision.Cycle) }

func takesFrom(others bool) occurs {
	return func(c *cycle) bool {
		q := c.quotas()
		return q.Own && c.dryRunPods(func(p *filter.Pod, victim bool) bool {
			return victim && (p.Namespace != c.Cluster.Preemptor.Namespace) == others
		})
	}
}

func (c *cycle) takesHigher() bool {
	return c.dryRunPods(func(p *filter.Pod, victim bool) bool { return victim && !c.lower(p) })
}

func (c *cycle) sparesOthers() bool {
	q := c.quotas()
	return q.Own && c.dryRunPods(func(p *filter.Pod, victim bool) bool {
		return !victim && p.Namespace != c.Cluster.Preemptor.Namespace && c.lower(p) && (q.Min || !q.Borrows(p))
	})
}

func (c *cycle) quotaInTheWay() bool {
	for _, run := range c.Observation.DryRuns {
		if run.Failed != nil && run.Failed.Plugin == "" && !run.Failed.Unresolvable {
			return true
		}
	}
	return false
}

// exercisedOfPlugin are the names of the probes of a modelled plugin that the cycle exercised.
func (c *cycle) exercisedOfPlugin() (names []string) {
	for _, p := range outsideProbes[c.Modelled] {
		if p.occurs(c) {
			names = append(names, p.Name)
		}
	}
	return names
}
