package model

import (
	"cmp"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// DryRunOnNode is what preemption on one node comes to.
type DryRunOnNode struct {
	Node *filter.Node
	// Failed says why preemption does not help; its Plugin is "" if the node has no
	// pod of lower priority. An error with nothing Possible came before the dry run.
	Failed *Verdict
	// Possible are the units of lower priority with a pod on the node, most important
	// first, equally important ones in the cluster's order.
	Possible []*unit.Unit
	// Listed is the outcome when equally important units are taken in the cluster's
	// order. It is nil if preemption does not help. An outcome without victims is an
	// error.
	Listed *Outcome
}

// IsCandidate tells whether the node may be picked.
func (run *DryRunOnNode) IsCandidate() bool {
	return run.Failed == nil && len(run.Listed.Pods) > 0
}

// Begun tells whether the dry run came about: no scheduler shows one that failed before.
func (run *DryRunOnNode) Begun() bool {
	return run.Failed == nil || run.Failed.Error == "" || len(run.Possible) > 0
}

// Outcome is one way in which preemption on a node may turn out.
type Outcome struct {
	// Victims have to go, most important first. Pods are the same, as the Cycle has
	// them.
	Victims []string
	Pods    []*filter.Pod
	// Violations counts the victims whose eviction violates a budget.
	Violations int
	// Violates names the budget that a victim's eviction violates.
	Violates map[string]string
	// Reprieved could have been victims, but may stay: in the order in which
	// they were considered.
	Reprieved []string
}

// NoVictims is the reason of a node that has no pod of lower priority.
const NoVictims = "No preemption victims found for incoming pod"

// DryRunNode works out which pods of n would have to go. All pods that may be
// preempted are taken away; if the preemptor fits then, as many as possible are
// given back (docs: concepts/scheduling-eviction/pod-priority-preemption,
// "Preemption"; the doc comment of SelectVictimsOnNode,
// default_preemption.go:286@v1.37.1, promises a minimum set and leaves open how it
// is found). If no pod has to go, only an extender rejects the node. Extenders are
// not asked again during the dry run, so preemption does not help there.
func DryRunNode(cy *Cycle, n *filter.Node, budgetOrder []int) *DryRunOnNode {
	run := &DryRunOnNode{Node: n}
	for _, u := range cy.Units.On(n) {
		if cy.MayPreempt(cy, u) {
			run.Possible = append(run.Possible, u)
		}
	}
	if len(run.Possible) == 0 {
		run.Failed = filter.Unresolvable(NoVictims)
		return run
	}
	if run.Failed = cy.FitsIn(run.Emptied()); run.Failed != nil {
		return run
	}
	slices.SortStableFunc(run.Possible, cy.Importance)
	run.Listed = cy.Reprieve(cy, run, run.Possible, budgetOrder)
	if len(run.Listed.Pods) == 0 && cy.OnlyExtender[n.Name] {
		run.Failed = &Verdict{Plugin: ExtenderName, Reasons: []string{"the extender rejects the node, not the pods on it"}}
	}
	return run
}

// Reprieve gives back as many of the possible victims as it can, one after
// another, each if the preemptor still fits; the rest are the victims, most
// important first (the comments in the body of SelectVictimsOnNode,
// default_preemption.go:286@v1.37.1; docs: as above). possible is run.Possible with
// equally important pods in any order.
func Reprieve(cy *Cycle, run *DryRunOnNode, possible []*unit.Unit, budgetOrder []int) *Outcome {
	violations, violated := cy.Violations(possible, budgetOrder)
	o := &Outcome{}
	s := run.Emptied()
	var evicted []int // indices into possible
	for _, i := range cy.ReprieveOrder(violations) {
		u := possible[i]
		back := s.Back(u)
		if cy.FitsIn(back) == nil {
			s = back
			for _, p := range u.Pods {
				o.Reprieved = append(o.Reprieved, p.Key)
			}
			continue
		}
		s = back.Away(u)
		evicted = append(evicted, i)
		o.Violations += violations[i]
		for _, p := range u.Pods {
			if b, violates := violated[p]; violates {
				if o.Violates == nil {
					o.Violates = map[string]string{}
				}
				o.Violates[p.Key] = Key(cy.Budgets[b])
			}
		}
	}
	slices.Sort(evicted)
	for _, i := range evicted {
		o.Pods = append(o.Pods, possible[i].Pods...)
	}
	o.Victims = keys(o.Pods)
	return o
}

// ReprieveOrder is the order in which units are reprieved, as indices: first those
// whose eviction violates a budget, then the others, each from the most important
// one down (docs: pod-priority-preemption, "PodDisruptionBudget is supported, but
// not guaranteed"). violations is that of Cycle.Violations.
func ReprieveOrder(violations []int) []int {
	order := make([]int, 0, len(violations))
	for _, violating := range []bool{true, false} {
		for i, count := range violations {
			if count > 0 == violating {
				order = append(order, i)
			}
		}
	}
	return order
}

// Scene is a node as a dry run supposes it to be. A unit that goes, goes everywhere
// (docs: concepts/workloads/workload-api/disruption-and-priority, "all pods from the
// PodGroup have to be disrupted together"): constraints that look at other nodes do not
// find its pods there any more.
type Scene struct {
	Node *filter.Node
	filter.View
	// Gone are the pods that are gone from other nodes, in the cluster's order.
	Gone []*filter.Pod
}

// Emptied is the node without its possible victims.
func (run *DryRunOnNode) Emptied() Scene { return SceneOf(run.Node).Away(run.Possible...) }

// SceneOf is a node as it is.
func SceneOf(n *filter.Node) Scene { return Scene{Node: n, View: filter.View{Pods: n.Pods}} }

// Away is the scene once units are gone.
func (s Scene) Away(units ...*unit.Unit) Scene {
	pods := make([]*filter.Pod, 0, len(units))
	s.Gone = slices.Clone(s.Gone)
	for _, u := range units {
		pods = append(pods, u.On(s.Node)...)
		s.Gone = append(s.Gone, u.Elsewhere(s.Node)...)
	}
	slices.SortFunc(s.Gone, func(a, b *filter.Pod) int { return cmp.Compare(a.Index, b.Index) })
	s.View = s.View.Away(pods...)
	return s
}

// Back is the scene once a unit that was gone is given back.
func (s Scene) Back(u *unit.Unit) Scene {
	if len(s.Gone) > 0 {
		back := make(map[*filter.Pod]bool, len(u.Pods))
		for _, p := range u.Pods {
			back[p] = true
		}
		s.Gone = slices.DeleteFunc(slices.Clone(s.Gone), func(p *filter.Pod) bool { return back[p] })
	}
	s.View = s.View.Back(u.On(s.Node)...)
	return s
}

// FitsIn says why the preemptor does not fit on the node of a scene, or nil if it
// does.
func (cy *Cycle) FitsIn(s Scene) *Verdict {
	world := cy.without(s.Gone)
	return cy.Fits(world, world.Nodes[s.Node.Index], s.View)
}
