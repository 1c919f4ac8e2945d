package podgroup

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Placer makes the choices about placing members that the rules leave open. in is the topology domain in which that is done.
type Placer interface {
	// Group chooses which of the groups left is placed next, Member which member; -1 means that none is. enough tells whether those
	// that are left could do: then one has to be chosen.
	Group(in TopologyDomain, left []*Tree, enough bool) int
	Member(in TopologyDomain, left []*v1.Pod, enough bool) int
	// Place says on which node a member is placed beside the others, and with which devices; a node of "" is nowhere. ok is false
	// if the cycle ends there, in an error.
	Place(in TopologyDomain, member *v1.Pod, placed []Placement) (at Placement, ok bool)
	// Take chooses one of the domains within in, in each of which a group is scheduled. ok is false as above.
	Take(in TopologyDomain, t *Tree, among []Scheduled) (taken int, ok bool)
	// Ends says that the cycle ends in an error.
	Ends(failure string)
}

// Pass is what placing all members of a tree came to.
type Pass struct {
	// Placed are the members of groups that are scheduled, Tried all that were placed, each in order. Of a group that is not
	// scheduled in any topology domain these are those of the first one.
	Placed, Tried []Placement
	// Enough: the tree is scheduled, and a member is placed.
	Enough bool
}

// Scheduled is a domain in which a group can be scheduled, and how: it, and all that was placed before it.
type Scheduled struct {
	TopologyDomain
	Pass
}

// Place places the members of the tree, one group after another (KEP-6012, "Recursive Scheduling Cycle Execution"). What was placed
// of a group that is not scheduled is taken back. A group with a topology constraint is placed in each of its domains (KEP-5732, "Phase 2:
// Pod-Level Filtering and Feasibility Check"), and one of those in which it is scheduled is taken; of a group within another these
// are within the one that the other is tried in (KEP-6012, "CompositePodGroup Scheduling Algorithm").
func (cy *Cycle) Place(by Placer) Pass {
	p := &Pass{}
	enough, ok := cy.place(TopologyDomain{}, cy.Root, by, p)
	p.Enough = ok && cy.Succeeds(cy, enough, len(p.Placed))
	return *p
}

// place places a group in one of its topology domains.
func (cy *Cycle) place(in TopologyDomain, t *Tree, by Placer, p *Pass) (enough, ok bool) {
	domains, failure := cy.Topology(cy, t, in)
	if failure != "" {
		by.Ends(failure)
		return false, false
	}
	before := *p
	var among []Scheduled
	for i, domain := range domains {
		try := &Pass{Placed: slices.Clip(before.Placed), Tried: slices.Clip(before.Tried)}
		enough, ok := cy.placeIn(domain, t, by, try)
		if i == 0 || !ok {
			*p = *try
		}
		switch {
		case !ok:
			return false, false
		case enough:
			among = append(among, Scheduled{domain, *try})
		}
	}
	if len(among) == 0 {
		return false, true
	}
	taken, ok := by.Take(in, t, among)
	if ok {
		*p = among[taken].Pass
	}
	return ok, ok
}

// placeIn places a group in a topology domain.
func (cy *Cycle) placeIn(in TopologyDomain, t *Tree, by Placer, p *Pass) (enough, ok bool) {
	before, placed := len(p.Placed), 0
	for left := slices.Clone(t.Members); len(left) > 0; {
		next := by.Member(in, left, cy.Enough(cy, t, placed+len(left)))
		if next < 0 {
			break
		}
		member := left[next]
		left = slices.Delete(left, next, next+1)
		at, ok := by.Place(in, member, slices.Clone(p.Placed))
		if !ok {
			return false, false
		}
		if at.Node != "" {
			placed++
			p.Placed, p.Tried = append(p.Placed, at), append(p.Tried, at)
		}
	}
	for left := slices.Clone(t.Groups); len(left) > 0; {
		next := by.Group(in, left, cy.Enough(cy, t, placed+len(left)))
		if next < 0 {
			break
		}
		group := left[next]
		left = slices.Delete(left, next, next+1)
		enough, ok := cy.place(in, group, by, p)
		if !ok {
			return false, false
		}
		if enough {
			placed++
		}
	}
	if enough = cy.Enough(cy, t, placed); !enough {
		p.Placed = slices.Clip(p.Placed[:before])
	}
	return enough, true
}
