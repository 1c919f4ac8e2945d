package probe

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// cycle is a result made ready for the probes. It holds what they ask for, worked
// out once. What happened is read from the observation. The model is asked only for
// what does not show there, such as the pods that were reprieved.
type cycle struct {
	*properties.Result
	priority  int32  // of the preemptor
	nominated string // the preemptor's node, "" if it has none
	decidedBy string // see answers.Set.DecidedBy
	runs      []run  // in the order of the cluster's nodes
	// pick is the choice, and victims the pods preempted, most important first.
	// There are none where chance decided between candidates that tie, because the
	// same cluster has to be counted the same each time.
	pick    *model.Pick
	victims []*v1.Pod
}

// run is the dry run on a node.
type run struct {
	node string
	model.DryRun
	// possible are the pods that the victims are chosen from, if there are any
	// victims.
	possible []possible
}

// possible is a possible victim, and what became of it.
type possible struct {
	explain.PossibleVictim
	victim bool
}

func newCycle(r *properties.Result) *cycle {
	c := &cycle{Result: r, priority: model.Priority(r.Cluster.Preemptor), nominated: r.Cluster.Preemptor.Status.NominatedNodeName}
	o := r.Observation
	if o.Pick != nil {
		if c.decidedBy = explain.DecidedBy(r.Decision, o); c.decidedBy != model.Tie {
			c.pick = o.Pick
		}
	}
	for _, n := range r.Cluster.Nodes {
		dry, tried := o.DryRuns[n.Name]
		if !tried {
			continue
		}
		run := run{node: n.Name, DryRun: dry}
		if len(dry.Victims) > 0 {
			for _, p := range explain.PossibleVictims(r.Decision, n.Name) {
				victim := slices.Contains(dry.Victims, model.Key(p.Pod))
				run.possible = append(run.possible, possible{p, victim})
				if victim && c.pick != nil && c.pick.Node == n.Name {
					c.victims = append(c.victims, p.Pod)
				}
			}
		}
		c.runs = append(c.runs, run)
	}
	return c
}

// exercised are the indices of the probes that the cycle exercised.
func (c *cycle) exercised() []int {
	var indices []int
	for i := range probes {
		if probes[i].occurs(c) {
			indices = append(indices, i)
		}
	}
	return indices
}

// failed tells whether a filter fails the preemptor on some node.
func (c *cycle) failed(plugin string, unresolvable bool) bool {
	for _, v := range c.Observation.Filters {
		if v.Unresolvable == unresolvable && v.Plugin == plugin {
			return true
		}
	}
	return false
}

// fails tells whether a filter fails the preemptor on some node for that reason,
// in the words of the model: those of the scheduler may change.
func (c *cycle) fails(plugin, reason string) bool {
	for _, v := range c.Decision.Verdicts {
		if v.Plugin == plugin && slices.Contains(v.Reasons, reason) {
			return true
		}
	}
	return false
}

// dryRun tells whether something is so of a dry run.
func (c *cycle) dryRun(holds func(r *run) bool) bool {
	for i := range c.runs {
		if holds(&c.runs[i]) {
			return true
		}
	}
	return false
}

// dryRunFailed tells whether a filter fails a dry run.
func (c *cycle) dryRunFailed(plugin string, unresolvable bool) bool {
	return c.dryRun(func(r *run) bool {
		return r.Failed != nil && r.Failed.Plugin == plugin && r.Failed.Unresolvable == unresolvable
	})
}

// possible tells whether something is so of a pod that could be preempted.
func (c *cycle) possible(holds func(p *possible) bool) bool {
	return c.dryRun(func(r *run) bool {
		for i := range r.possible {
			if holds(&r.possible[i]) {
				return true
			}
		}
		return false
	})
}

// victim tells whether something is so of a pod that is preempted.
func (c *cycle) victim(holds func(p *v1.Pod) bool) bool { return slices.ContainsFunc(c.victims, holds) }

// anyPod tells whether something is so of the preemptor, or of a pod that could
// be preempted.
func (c *cycle) anyPod(holds func(p *v1.Pod) bool) bool {
	return len(c.runs) > 0 && holds(c.Cluster.Preemptor) || c.possible(func(p *possible) bool { return holds(p.Pod) })
}

func terminating(p *v1.Pod) bool { return p.DeletionTimestamp != nil }

func hasSidecar(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c v1.Container) bool {
		return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
	})
}

// inOrder tells whether something is so of two pods of one node that could be
// preempted, of which the first is not less important.
func (c *cycle) inOrder(holds func(first, later *possible) bool) bool {
	return c.dryRun(func(r *run) bool {
		for i := range r.possible {
			for j := i + 1; j < len(r.possible); j++ {
				if holds(&r.possible[i], &r.possible[j]) {
					return true
				}
			}
		}
		return false
	})
}

func (c *cycle) node(name string) *v1.Node {
	i := slices.IndexFunc(c.Cluster.Nodes, func(n *v1.Node) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return c.Cluster.Nodes[i]
}

func (c *cycle) eligible() bool   { return c.Observation.Eligible != nil && c.Observation.Eligible.OK }
func (c *cycle) ineligible() bool { return c.Observation.Eligible != nil && !c.Observation.Eligible.OK }

func (c *cycle) never() bool {
	policy := c.Cluster.Preemptor.Spec.PreemptionPolicy
	return policy != nil && *policy == v1.PreemptNever
}

// held tells whether some node is kept for a nominated pod of which something is
// so: see answers.Set.HeldFor.
func (c *cycle) held(holds func(p *v1.Pod) bool) bool {
	for node := range c.Observation.Filters {
		if slices.ContainsFunc(explain.HeldFor(c.Decision, node), holds) {
			return true
		}
	}
	return false
}

// ignoresNominated tells whether a pod of another scheduler, which matters no less
// than the preemptor, is nominated to a node that is filtered.
func (c *cycle) ignoresNominated() bool {
	return len(c.Observation.Filters) > 0 && slices.ContainsFunc(c.Cluster.Pods, func(p *v1.Pod) bool {
		return p.Spec.NodeName == "" && p.Status.NominatedNodeName != "" && !c.Cluster.Settings.Schedules(p.Spec.SchedulerName) &&
			model.Priority(p) >= c.priority && c.node(p.Status.NominatedNodeName) != nil
	})
}

// disrupted tells whether a budget that selects the pod lists it in
// status.disruptedPods.
func (c *cycle) disrupted(p *possible) bool {
	for _, b := range c.Cluster.PodDisruptionBudgets {
		if _, listed := b.Status.DisruptedPods[p.Pod.Name]; listed && b.Namespace == p.Pod.Namespace && properties.Selects(b, p.Pod) {
			return true
		}
	}
	return false
}

// selectedFromElsewhere tells whether a budget of another namespace selects the
// pod.
func (c *cycle) selectedFromElsewhere(p *possible) bool {
	for _, b := range c.Cluster.PodDisruptionBudgets {
		if b.Namespace != p.Pod.Namespace && properties.Selects(b, p.Pod) {
			return true
		}
	}
	return false
}

// searchesOn tells whether more candidates were found than the shortlist needs,
// as those that came first violate budgets.
func (c *cycle) searchesOn() bool {
	candidates := 0
	for i := range c.runs {
		if len(c.runs[i].Victims) > 0 {
			candidates++
		}
	}
	return candidates > c.Decision.NumCandidates && c.Decision.NumCandidates > 0
}

// firstOfGroup tells whether the pod fits on some node, as it is or by preemption,
// as the first of those that its affinity selects.
func (c *cycle) firstOfGroup() bool {
	for _, n := range c.Cluster.Nodes {
		if c.Decision.Verdicts[n.Name] == nil && explain.FirstOfGroup(c.Decision, n.Name) {
			return true
		}
	}
	return c.dryRun(func(r *run) bool { return len(r.Victims) > 0 && explain.FirstOfGroup(c.Decision, r.node) })
}

// needsNominated tells whether some node fails, as it is or in a dry run, only
// because the pods that are nominated to it are not there yet.
func (c *cycle) needsNominated() bool {
	for node := range c.Observation.Filters {
		if explain.NeedsNominated(c.Decision, node) {
			return true
		}
	}
	return false
}
