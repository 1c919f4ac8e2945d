package probe

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/release"
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
	subject   *properties.Subject
	runs      []run // in the order of the cluster's nodes
	// pick is the choice, and victims the pods preempted, most important first.
	// There are none where chance decided between candidates that tie, because the
	// same cluster has to be counted the same each time.
	pick    *model.Pick
	victims []*v1.Pod
}

// run is the dry run on a node.
type run struct {
	*cycle
	node string
	model.DryRun
	// possible are the pods that the victims are chosen from, if there are any
	// victims.
	possible []possible
}

// possible is a possible victim, and what became of it.
type possible struct {
	*cycle
	explain.PossibleVictim
	victim bool
}

func newCycle(r *properties.Result) *cycle {
	c := &cycle{Result: r, priority: model.Priority(r.Cluster.Preemptor), nominated: r.Cluster.Preemptor.Status.NominatedNodeName,
		subject: &properties.Subject{Cluster: r.Cluster, Release: release.Linked}}
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
		run := run{cycle: c, node: n.Name, DryRun: dry}
		if len(dry.Victims) > 0 {
			for _, p := range explain.PossibleVictims(r.Decision, n.Name) {
				victim := slices.Contains(dry.Victims, model.Key(p.Pod))
				run.possible = append(run.possible, possible{c, p, victim})
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

// occurs tells whether something happens in a cycle.
type occurs = func(c *cycle) bool

// Whether a filter fails a node for good, or removing pods may resolve it.
const resolvable, forGood = false, true

// failed: a filter fails the preemptor on some node.
func failed(plugin string, unresolvable bool) occurs {
	return func(c *cycle) bool {
		for _, v := range c.Observation.Filters {
			if v.Unresolvable == unresolvable && v.Plugin == plugin {
				return true
			}
		}
		return false
	}
}

// fails: a filter fails the preemptor on some node for that reason, in the words of
// the model: those of the scheduler may change.
func fails(plugin, reason string) occurs {
	return func(c *cycle) bool {
		for node := range c.Decision.Verdicts {
			if c.failsOn(node, plugin, reason) {
				return true
			}
		}
		return false
	}
}

func (c *cycle) failsOn(node, plugin, reason string) bool {
	v := c.Decision.Verdicts[node]
	return v != nil && v.Plugin == plugin && slices.Contains(v.Reasons, reason)
}

// helps: preemption helps on a node where the filter fails the preemptor for that
// reason.
func helps(plugin, reason string) occurs {
	return anyDryRun(func(r *run) bool { return len(r.Victims) > 0 && r.failsOn(r.node, plugin, reason) })
}

// anyDryRun: something is so of a dry run.
func anyDryRun(holds func(r *run) bool) occurs {
	return func(c *cycle) bool {
		return slices.ContainsFunc(c.runs, func(r run) bool { return holds(&r) })
	}
}

// dryRunFailed: a filter fails a dry run.
func dryRunFailed(plugin string, unresolvable bool) occurs {
	return anyDryRun(func(r *run) bool {
		return r.Failed != nil && r.Failed.Plugin == plugin && r.Failed.Unresolvable == unresolvable
	})
}

// anyPossible: something is so of a pod that could be preempted.
func anyPossible(holds func(p *possible) bool) occurs {
	return anyDryRun(func(r *run) bool {
		return slices.ContainsFunc(r.possible, func(p possible) bool { return holds(&p) })
	})
}

// inOrder: something is so of two pods of one node that could be preempted, of which
// the first is not less important.
func inOrder(holds func(first, later *possible) bool) occurs {
	return anyDryRun(func(r *run) bool {
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

// anyVictim: something is so of a pod that is preempted.
func anyVictim(holds func(p *v1.Pod) bool) occurs {
	return func(c *cycle) bool { return slices.ContainsFunc(c.victims, holds) }
}

// anyPod: something is so of the preemptor, or of a pod that could be preempted.
func anyPod(holds func(p *v1.Pod) bool) occurs {
	possible := anyPossible(func(p *possible) bool { return holds(p.Pod) })
	return func(c *cycle) bool { return len(c.runs) > 0 && holds(c.Cluster.Preemptor) || possible(c) }
}

// held: some node is kept for a nominated pod of a priority of which, beside the
// preemptor's own, something is so: see explain.HeldFor.
func held(holds func(its, own int32) bool) occurs {
	return func(c *cycle) bool {
		for node := range c.Observation.Filters {
			if slices.ContainsFunc(explain.HeldFor(c.Decision, node), func(p *v1.Pod) bool { return holds(model.Priority(p), c.priority) }) {
				return true
			}
		}
		return false
	}
}

// heldForVolumes: some node is kept for a nominated pod, which has a claim of the preemptor's,
// or claims where there are not enough places for volumes.
func (c *cycle) heldForVolumes() bool {
	for node, v := range c.Decision.Verdicts {
		if v == nil {
			continue
		}
		holds := func(p *v1.Pod) bool {
			return v.Plugin == "NodeVolumeLimits" && claims(p) || sharesClaim(p, c.Cluster.Preemptor)
		}
		nominated := func(p *v1.Pod) bool { return p.Spec.NodeName == "" && p.Status.NominatedNodeName == node && holds(p) }
		if slices.ContainsFunc(c.Cluster.Pods, nominated) &&
			(slices.ContainsFunc(explain.HeldFor(c.Decision, node), holds) || slices.ContainsFunc(explain.DryRunHeldFor(c.Decision, node), holds)) {
			return true
		}
	}
	return false
}

// sharesClaim tells whether two pods mount one claim.
func sharesClaim(a, b *v1.Pod) bool {
	return a.Namespace == b.Namespace && slices.ContainsFunc(a.Spec.Volumes, func(v v1.Volume) bool {
		return v.PersistentVolumeClaim != nil && slices.ContainsFunc(b.Spec.Volumes, func(w v1.Volume) bool {
			return w.PersistentVolumeClaim != nil && w.PersistentVolumeClaim.ClaimName == v.PersistentVolumeClaim.ClaimName
		})
	})
}

// besideNominatedVolumes: the preemptor has claims, and so has a pod of no lower priority that
// is nominated to where it goes.
func (c *cycle) besideNominatedVolumes() bool {
	to := c.Observation.ScheduledTo
	if c.pick != nil {
		to = c.pick.Node
	}
	return to != "" && claims(c.Cluster.Preemptor) && slices.ContainsFunc(c.Cluster.Pods, func(p *v1.Pod) bool {
		return p.Spec.NodeName == "" && p.Status.NominatedNodeName == to && model.Priority(p) >= c.priority && claims(p) && c.Cluster.Settings.Schedules(p.Spec.SchedulerName)
	})
}

// claims tells whether a pod has volumes by claims.
func claims(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.PersistentVolumeClaim != nil || v.Ephemeral != nil })
}

// afterExtenders: something is so of a candidate that extenders left.
func afterExtenders(holds func(before, after model.DryRun) bool) occurs {
	return func(c *cycle) bool {
		for node, after := range c.Observation.AfterExtenders {
			if holds(c.Observation.DryRuns[node], after) {
				return true
			}
		}
		return false
	}
}

func terminating(p *v1.Pod) bool { return p.DeletionTimestamp != nil }

func hasSidecar(p *v1.Pod) bool {
	return slices.ContainsFunc(p.Spec.InitContainers, func(c v1.Container) bool {
		return c.RestartPolicy != nil && *c.RestartPolicy == v1.ContainerRestartPolicyAlways
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
func (c *cycle) extended() bool   { return len(c.Cluster.Settings.Extenders) > 0 }

func (c *cycle) never() bool {
	policy := c.Cluster.Preemptor.Spec.PreemptionPolicy
	return policy != nil && *policy == v1.PreemptNever
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
func (p *possible) disrupted() bool {
	return slices.ContainsFunc(p.Cluster.PodDisruptionBudgets, func(b *policyv1.PodDisruptionBudget) bool {
		_, listed := b.Status.DisruptedPods[p.Pod.Name]
		return listed && b.Namespace == p.Pod.Namespace && properties.Selects(b, p.Pod)
	})
}

// selectedFromElsewhere tells whether a budget of another namespace selects the
// pod.
func (p *possible) selectedFromElsewhere() bool {
	return slices.ContainsFunc(p.Cluster.PodDisruptionBudgets, func(b *policyv1.PodDisruptionBudget) bool {
		return b.Namespace != p.Pod.Namespace && properties.Selects(b, p.Pod)
	})
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
	return anyDryRun(func(r *run) bool { return len(r.Victims) > 0 && explain.FirstOfGroup(c.Decision, r.node) })(c)
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

// rejectedByExtenderAlone tells whether only an extender is in the way on the node, by
// what was observed.
func (r *run) rejectedByExtenderAlone() bool {
	v := r.Observation.Filters[r.node]
	return v.Plugin == model.ExtenderName && !v.Unresolvable && r.Error != ""
}

// sharesClaim tells whether a filter counts the volumes of the node, on which two pods
// mount the same claim.
func (r *run) sharesClaim() bool {
	if r.Observation.Filters[r.node].Plugin != "NodeVolumeLimits" {
		return false
	}
	mountedBy := map[string]*v1.Pod{}
	for _, p := range r.Cluster.Pods {
		if p.Spec.NodeName != r.node {
			continue
		}
		for _, v := range p.Spec.Volumes {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			key := p.Namespace + "/" + v.PersistentVolumeClaim.ClaimName
			if first, again := mountedBy[key]; again && first != p {
				return true
			}
			mountedBy[key] = p
		}
	}
	return false
}
