package podgroups

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// end is how a cycle ends.
type end struct {
	podgroup.Course
	binds   bool // members are bound where they were placed first
	waits   bool // for victims of a preemption before: nominations stay
	idle    []idle
	victims []*unit.Unit
}

// admitsEnd compares what reached the API, and what becomes of each member.
func (s *Set) admitsEnd(o *model.Observation, e end) *answers.Disagreement {
	g := o.Group
	if g.Waits != "" {
		return nil
	}
	if dis := s.admitsOutcome(o, e, bound(o)); dis != nil {
		return dis
	}
	want := &model.Actuation{}
	if e.Preempts {
		want = s.Actuate(s.Cycle, e.Second, e.victims)
	}
	for _, list := range []struct {
		does      string
		want, did []string
	}{
		{"deletes", want.Deleted, o.Actuation.Deleted},
		{"marks", want.DisruptionTarget, o.Actuation.DisruptionTarget},
		{"withdraws", want.Cleared, o.Actuation.Cleared},
		{"writes besides", nil, o.Actuation.Other},
	} {
		if !slices.Equal(list.want, list.did) {
			return disagree(model.StageActuate, "", list.does, list.want, list.did)
		}
	}
	if dis := cmp.Or(s.admitsDeallocations(e.idle, o.Actuation.Deallocated), s.admitsAllocations(o, e)); dis != nil {
		return dis
	}
	for _, m := range s.Members {
		key := model.Key(m)
		got, told := g.Members[key]
		switch isBound := slices.ContainsFunc(e.bound(), func(at podgroup.Placement) bool { return at.Pod == m }); {
		case isBound == told:
			return disagree(model.StageActuate, "", "tells members that are not bound", !isBound, fmt.Sprintf("%s: %v", key, told))
		case isBound || e.binds:
			continue // what becomes of a nomination beside members that are bound is not promised
		}
		now := m.Status.NominatedNodeName
		node := s.Nominate(s.Cycle, m, e.Course)
		if e.waits {
			node = now
		}
		patched := now
		switch got.Nomination {
		case model.NominationSet:
			patched = got.NominatedNode
		case model.NominationCleared:
			patched = ""
		}
		held := node
		if s.First.Node(node) == nil { // a node that is gone
			held = got.Held
		}
		if patched != node || got.Held != held {
			return disagree(model.StageActuate, "", "nominations", fmt.Sprintf("%s to %q", key, node), fmt.Sprintf("to %q, and the scheduler holds %q", patched, got.Held))
		}
	}
	return nil
}

// admitsOutcome compares whether it ends in an error, who is bound where, and whether anybody is preempted.
func (s *Set) admitsOutcome(o *model.Observation, e end, binds []string) *answers.Disagreement {
	switch want := sorted(placements(e.bound())); {
	case o.CycleError != "" && !e.Failed:
		return disagree(model.StageActuate, "", "ends in an error", "no error", o.CycleError)
	case !e.Preempts && len(o.Group.Victims) > 0:
		return disagree(model.StageActuate, "", "victims", "none", o.Group.Victims)
	case !slices.Equal(want, sorted(binds)):
		return disagree(model.StageActuate, "", "binds", want, sorted(binds))
	}
	return nil
}

// bound are the members that are bound, and where.
func (e *end) bound() []podgroup.Placement {
	if e.binds {
		return e.First
	}
	return nil
}

// placements are members and nodes.
func placements(placed []podgroup.Placement) (all []string) {
	for _, at := range placed {
		all = append(all, model.Key(at.Pod)+" to "+at.Node)
	}
	return all
}

// placedTo are the members, and the nodes, that units are preempted for.
func placedTo(g *model.GroupCycle) (all []string) {
	for i, name := range g.Placed {
		all = append(all, name+" to "+g.PlacedTo[i])
	}
	return all
}

// bound is who was bound where.
func bound(o *model.Observation) (all []string) {
	for _, c := range o.Aftermath.Calls {
		if c.Verb == "bind" && c.Failed == "" {
			all = append(all, c.Object+" to "+c.Node)
		}
	}
	return all
}

func sorted(names []string) []string { return slices.Sorted(slices.Values(names)) }
