package groups

import (
	"cmp"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model"
)

// domains are the topology domains that a group is tried in, one after another.
type domains struct {
	// constrained: the group has a topology constraint. Otherwise there is one domain, that of the group above.
	constrained bool
	all         []*fwk.Placement
	// next is the first of them that is not tried yet, and in the state of the last one that was.
	next int
	in   fwk.PlacementCycleState
}

// Domains records the topology domains that a group is tried in next, and puts them in order.
func (r *Recorder) Domains(state fwk.PodGroupCycleState, group fwk.PodGroupInfo, placements []*fwk.Placement) {
	slices.SortFunc(placements, func(a, b *fwk.Placement) int { return cmp.Compare(a.Name, b.Name) })
	r.domains[state] = &domains{constrained: isConstrained(group), all: placements}
}

func isConstrained(group fwk.PodGroupInfo) bool {
	if g := group.GetPodGroup(); g != nil {
		return g.Spec.SchedulingConstraints != nil && len(g.Spec.SchedulingConstraints.Topology) > 0
	}
	g := group.GetCompositePodGroup()
	return g != nil && g.Spec.SchedulingConstraints != nil && len(g.Spec.SchedulingConstraints.Topology) > 0
}

// In records that a pass over the members, or groups, of a group goes on. Each domain has a state of its own.
func (r *Recorder) In(state fwk.PlacementCycleState) {
	r.in = state
	if d := r.domains[state.GetPodGroupSchedulingCycle()]; d != nil && state != d.in {
		d.next, d.in = d.next+1, state
	}
}

// current is the domain of a state; nil if nothing is known of it.
func (r *Recorder) current(state fwk.PlacementCycleState) *fwk.Placement {
	if state == nil {
		return nil
	}
	d := r.domains[state.GetPodGroupSchedulingCycle()]
	if d == nil || d.next == 0 || d.next > len(d.all) {
		return nil
	}
	return d.all[d.next-1]
}

// path are the names of the domain of a state and of those that it is part of, from the root of the tree down: of groups with a
// topology constraint.
func (r *Recorder) path(state fwk.PlacementCycleState) (names []string) {
	for state != nil {
		group := state.GetPodGroupSchedulingCycle()
		if at := r.current(state); at != nil && r.domains[group].constrained {
			names = append(names, at.Name)
		}
		state = group.GetParentPlacementCycleState()
	}
	slices.Reverse(names)
	return names
}

// Choose makes the first by name the best of the domains that are equally good, and records which is taken.
func (r *Recorder) Choose(state fwk.PodGroupCycleState, group fwk.PodGroupInfo, scores []fwk.PlacementPluginScores) {
	if len(scores) == 0 {
		return
	}
	slices.SortFunc(scores, func(a, b fwk.PlacementPluginScores) int {
		return cmp.Or(cmp.Compare(b.TotalScore, a.TotalScore), cmp.Compare(a.Placement.Name, b.Placement.Name))
	})
	for i := range scores {
		scores[i].TotalScore = int64(len(scores) - i)
	}
	choice := model.DomainChoice{Group: model.PodGroupKey(group.GetNamespace(), group.GetName()), Within: r.path(state.GetParentPlacementCycleState()), Domain: scores[0].Placement.Name}
	if group.GetCompositePodGroup() != nil {
		choice.Group = model.CompositePodGroupKey(group.GetNamespace(), group.GetName())
	}
	r.note(func(c *model.GroupCycle) {
		if r.second {
			c.SecondChoices = append(c.SecondChoices, choice)
		} else {
			c.FirstChoices = append(c.FirstChoices, choice)
		}
	})
}
