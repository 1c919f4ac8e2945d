package minimize

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// The liars, each at one stage.

// deletes says that a pod was deleted too.
func deletes(o *model.Observation, p *v1.Pod) {
	o.Actuation.Deleted = append(o.Actuation.Deleted, model.Key(p))
	slices.Sort(o.Actuation.Deleted)
}

func preempts(o *model.Observation) bool { return o.Actuation != nil && len(o.Actuation.Deleted) > 0 }

// deletesMoreImportant deletes a pod of higher priority besides the victims, if
// there are two budgets.
func deletesMoreImportant(c *model.Cluster, o *model.Observation) {
	for _, p := range c.Pods {
		if len(c.PodDisruptionBudgets) >= 2 && preempts(o) && model.Priority(p) > model.Priority(c.Preemptor) {
			deletes(o, p)
			return
		}
	}
}

// sparesLast does not delete the last of several victims.
func sparesLast(_ *model.Cluster, o *model.Observation) {
	if preempts(o) && len(o.Actuation.Deleted) > 1 {
		o.Actuation.Deleted = o.Actuation.Deleted[:len(o.Actuation.Deleted)-1]
	}
}

// failsOnDisk forgets the nomination where a node is labelled disk=odd and the
// preemptor asks for at least 300 bytes of memory.
func failsOnDisk(c *model.Cluster, o *model.Observation) {
	memory := c.Preemptor.Spec.Containers[0].Resources.Requests[v1.ResourceMemory]
	odd := func(n *v1.Node) bool { return n.Labels["disk"] == "odd" }
	if preempts(o) && slices.ContainsFunc(c.Nodes, odd) && memory.Value() >= 300 {
		o.Actuation.Nomination, o.Actuation.NominatedNode = model.NominationKept, ""
	}
}

// toleratesLater says that to remove pods from a tainted node could help.
func toleratesLater(_ *model.Cluster, o *model.Observation) {
	for name, v := range o.Filters {
		if v.Plugin == "TaintToleration" {
			v.Unresolvable = false
			o.Filters[name] = v
		}
	}
}

// refuses lets nobody preempt where a pod of lower priority is terminating, on
// whatever node.
func refuses(c *model.Cluster, o *model.Observation) {
	for _, p := range c.Pods {
		if p.DeletionTimestamp != nil && model.Priority(p) < model.Priority(c.Preemptor) && o.Eligible != nil {
			o.Eligible.OK = false
		}
	}
}

// triesFewer leaves out the last of several potential nodes.
func triesFewer(_ *model.Cluster, o *model.Observation) {
	if n := len(o.PotentialNodes); n > 1 {
		o.PotentialNodes = slices.Sorted(slices.Values(o.PotentialNodes))[:n-1]
	}
}

// countsTwice counts the violations of two victims twice.
func countsTwice(_ *model.Cluster, o *model.Observation) {
	for name, d := range o.DryRuns {
		if len(d.Victims) > 1 && d.Violations > 0 {
			d.Violations *= 2
			o.DryRuns[name] = d
		}
	}
}

// losesCandidate loses one of three candidates.
func losesCandidate(_ *model.Cluster, o *model.Observation) {
	if len(o.Candidates) > 2 {
		o.Candidates = slices.Clone(o.Candidates[1:])
	}
}

// picksMoreImportant picks a candidate with a first victim of higher priority
// than that of the best.
func picksMoreImportant(c *model.Cluster, o *model.Observation) {
	priority := func(node string) int32 {
		i := slices.IndexFunc(c.Pods, func(p *v1.Pod) bool { return model.Key(p) == o.DryRuns[node].Victims[0] })
		return model.Priority(c.Pods[i])
	}
	for _, name := range o.Candidates {
		if d := o.DryRuns[name]; priority(name) > priority(o.Pick.Node) {
			o.Pick = &model.Pick{Node: name, Victims: d.Victims, Violations: d.Violations}
			return
		}
	}
}
