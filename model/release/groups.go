package release

import (
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// memberRanksAsGroup: a pod that is disrupted by itself has the rank of a group if it
// names one. With the gate GenericWorkload off no pod does.
func memberRanksAsGroup(r *answers.Rules) {
	importance := r.Importance
	seen := func(u *unit.Unit) *unit.Unit {
		if u.Kind != unit.Pod || u.Pods[0].Spec.SchedulingGroup == nil {
			return u
		}
		return variant.Changed(u, func(u *unit.Unit) { u.Kind = unit.PodGroup })
	}
	r.Importance = func(a, b *unit.Unit) int { return importance(seen(a), seen(b)) }
}

// pickByOwnPriority: the criteria see each victim with its own priority. The first counts
// as the highest: victims come in order of their groups' priorities, so that it need
// not be, and of equally important ones any may be the first.
func pickByOwnPriority(r *answers.Rules) {
	r.First = func(p *filter.Pod) int32 { return model.Priority(p.Pod) }
	r.Criteria = slices.Clone(r.Criteria)
	for i := range r.Criteria {
		of := math.MaxInt
		if r.Criteria[i].Name == model.DefaultCriteria()[1].Name {
			of = 1
		}
		compare := r.Criteria[i].Compare
		r.Criteria[i].Compare = func(a, b *model.Outcome) int { return compare(byOwnPriority(a, of), byOwnPriority(b, of)) }
	}
}

// byOwnPriority is an outcome with the first victims having their own priority, and
// without the others. It is the same if all have that of their group anyway.
func byOwnPriority(o *model.Outcome, first int) *model.Outcome {
	if !slices.ContainsFunc(o.Pods, func(p *filter.Pod) bool { return p.Priority != model.Priority(p.Pod) }) {
		return o
	}
	return variant.Changed(o, func(o *model.Outcome) {
		o.Pods = slices.Clone(o.Pods[:min(first, len(o.Pods))])
		for i, p := range o.Pods {
			o.Pods[i] = withOwnPriority(p)
		}
	})
}

func withOwnPriority(p *filter.Pod) *filter.Pod {
	if p.Priority == model.Priority(p.Pod) {
		return p
	}
	return variant.Changed(p, func(p *filter.Pod) { p.Priority = model.Priority(p.Pod) })
}

// memberOnDeletedNodeIsError: what may be preempted on a node is gathered with the nodes of
// all pods that go together, of whatever priority, which have to exist.
func memberOnDeletedNodeIsError(r *answers.Rules) {
	const failure = "failed to get node info for node"
	dryRun, domain := r.DryRun, r.OfGroups.Domain
	r.DryRun = func(cy *model.Cycle, n *filter.Node, budgetOrder []int) *model.DryRunOnNode {
		if outlivesANode(cy, n) {
			return &model.DryRunOnNode{Node: n, Failed: &model.Verdict{Error: failure}}
		}
		return dryRun(cy, n, budgetOrder)
	}
	r.OfGroups.Domain = func(cy *podgroup.Cycle) ([]*unit.Unit, string) {
		if slices.ContainsFunc(cy.First.Nodes, func(n *filter.Node) bool { return outlivesANode(cy.First, n) }) {
			return nil, failure
		}
		return domain(cy)
	}
}

// outlivesANode tells whether something with a pod on a node has another on one that does not exist.
func outlivesANode(cy *model.Cycle, n *filter.Node) bool {
	return slices.ContainsFunc(cy.Units.On(n), func(u *unit.Unit) bool {
		return slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return p.Node == nil })
	})
}

// nominationByOwnPriority: whether the preemptor respects a nomination, or withdraws it, goes
// by the priority of the nominated pod.
func nominationByOwnPriority(r *answers.Rules) {
	respect, actuate := r.RespectNomination, r.Actuate
	r.RespectNomination = func(preemptor, nominated *filter.Pod) bool {
		return respect(withOwnPriority(preemptor), withOwnPriority(nominated))
	}
	r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
		return actuate(cy, variant.Changed(n, func(n *filter.Node) {
			n.Nominated = slices.Clone(n.Nominated)
			for i, p := range n.Nominated {
				n.Nominated[i] = withOwnPriority(p)
			}
		}), victims)
	}
}

// withoutGroups is a cluster whose pods are in no groups, if a pod is the preemptor.
func withoutGroups(c *model.Cluster) *model.Cluster {
	if c.Preemptor == nil || !c.Settings.FeatureGates[model.GateWorkload] {
		return c
	}
	out := *c
	out.Settings.FeatureGates = maps.Clone(c.Settings.FeatureGates)
	for _, gate := range []string{model.GateWorkload, model.GateComposite, model.GateTopology, podgroup.GatePolicy} {
		delete(out.Settings.FeatureGates, gate)
	}
	out.Extra = slices.DeleteFunc(slices.Clone(c.Extra), model.IsGroup)
	out.Pods = slices.Clone(c.Pods)
	for i, p := range out.Pods {
		if p.Spec.SchedulingGroup != nil {
			out.Pods[i] = variant.Changed(p, func(p *v1.Pod) { p.Spec.SchedulingGroup = nil })
		}
	}
	return &out
}
