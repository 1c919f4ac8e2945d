package release

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// spreadAccount is a State that counts as upstream does: the pods bound to the node
// first, and then it adds and takes away what differs.
func spreadAccount(st filter.State, spread *filter.SpreadState) variant.Judge {
	return variant.Judge{State: st, Verdict: func(n *filter.Node, v filter.View) *filter.Verdict {
		for _, c := range spread.Constraints {
			counts := func(p *filter.Pod) int {
				if c.Counts[p.Index] {
					return 1
				}
				return 0
			}
			if failed := c.FitsWith(n, c.Nodes[n.Index].Standing+differ(n, v, counts)); failed != nil {
				return failed
			}
		}
		return nil
	}}
}

// comeBack adds to what stands the pods that were away when PreFilter counted, and that count once they are back.
func comeBack(s *filter.Snapshot, c *filter.SpreadConstraint, counts func(p *filter.Pod) bool) {
	for _, n := range s.Nodes {
		at := &c.Nodes[n.Index]
		for _, p := range backOn(n) {
			if !counts(p) {
				continue
			}
			if at.Standing++; at.Eligible {
				c.Domains[at.Domain].Standing++
			}
		}
	}
}

// backOn are the pods of a node that were away from it, and are back.
func backOn(n *filter.Node) (pods []*filter.Pod) {
	away := map[string]bool{}
	for _, move := range n.Moves {
		key := move.Pod.Key
		if !move.Back {
			away[key] = true
		} else if at := slices.IndexFunc(n.Pods, func(p *filter.Pod) bool { return p.Key == key }); away[key] && at >= 0 {
			pods = append(pods, n.Pods[at])
		}
	}
	return pods
}

func terminatingPodUncounted(s *filter.Snapshot, st filter.State, spread *filter.SpreadState) filter.State {
	terminates := func(p *filter.Pod) bool { return p.DeletionTimestamp != nil && p.Namespace == s.Preemptor.Namespace }
	if !slices.ContainsFunc(s.Nodes, func(n *filter.Node) bool {
		return slices.ContainsFunc(n.Pods, terminates) || slices.ContainsFunc(n.Nominated, terminates) ||
			slices.ContainsFunc(n.Moves, func(m filter.Move) bool { return terminates(m.Pod) })
	}) && !slices.ContainsFunc(s.Homeless, terminates) {
		return st
	}
	for _, c := range spread.Constraints {
		comeBack(s, c, func(p *filter.Pod) bool { return c.Selects[p.Index] && !c.Counts[p.Index] })
	}
	before := &filter.SpreadState{Constraints: spread.Constraints}
	spread.Constraints = variant.Each(spread.Constraints, func(c **filter.SpreadConstraint) {
		*c = variant.Changed(*c, func(c *filter.SpreadConstraint) { c.Counts = c.Selects })
	})
	eachGone(s, spread, func(c, whole *filter.SpreadConstraint, gone *filter.Pod) {
		c.Counts = whole.Selects
		if whole.Selects[gone.Index] && !whole.Counts[gone.Index] {
			takeOff(c, gone)
		}
	})
	account := spreadAccount(st, spread)
	account.Same = before.Alike
	return account
}

// eachGone calls visit for each constraint and each pod that is gone from another node, with the
// constraint as it was before.
func eachGone(s *filter.Snapshot, spread *filter.SpreadState, visit func(c, whole *filter.SpreadConstraint, gone *filter.Pod)) {
	before, gone := s.Before()
	if len(gone) == 0 {
		return
	}
	st, _ := (filter.PodTopologySpread{}).PreFilter(before)
	whole := st.(*filter.SpreadState)
	for i, c := range spread.Constraints {
		for _, p := range gone {
			visit(c, whole.Constraints[i], p)
		}
	}
}

// takeOff has a constraint count one pod less on the node of a pod.
func takeOff(c *filter.SpreadConstraint, p *filter.Pod) {
	at := &c.Nodes[p.Node.Index]
	at.Standing--
	if at.Eligible {
		c.Domains[at.Domain].Standing--
	}
}

func emptySpreadSelector(s *filter.Snapshot, st filter.State, spread *filter.SpreadState) filter.State {
	if !slices.ContainsFunc(spread.Constraints, func(c *filter.SpreadConstraint) bool { return c.Selector.Empty() }) {
		return st
	}
	for _, c := range spread.Constraints {
		if !c.Selector.Empty() {
			continue
		}
		for i := range c.Nodes {
			c.Nodes[i].Standing = 0
		}
		for i := range c.Domains {
			c.Domains[i].Standing = 0
		}
		comeBack(s, c, func(p *filter.Pod) bool { return c.Counts[p.Index] })
	}
	eachGone(s, spread, func(c, whole *filter.SpreadConstraint, gone *filter.Pod) {
		if c.Selector.Empty() && (c.Counts[gone.Index] || whole.Counts[gone.Index]) {
			takeOff(c, gone)
		}
	})
	return spreadAccount(st, spread)
}

// leftOutNodesCounted comes after emptySpreadSelector.
func leftOutNodesCounted(st *filter.SpreadState) {
	for _, c := range st.Constraints {
		for _, at := range c.Nodes {
			if at.Domain >= 0 && !at.Eligible && c.Domains[at.Domain].Eligible {
				c.Domains[at.Domain].Standing += at.Standing
			}
		}
	}
}

// unknownDomain tells whether a constraint selects one of some pods that come to a
// node, or go, though no eligible node is in the node's domain.
func unknownDomain(cy *model.Cycle, n *filter.Node, pods []*filter.Pod) bool {
	spread, ok := filter.As[*filter.SpreadState](cy.State("PodTopologySpread"))
	if !ok || slices.ContainsFunc(spread.Constraints, func(c *filter.SpreadConstraint) bool { return c.Nodes[n.Index].Domain < 0 }) {
		return false // a node without one of the keys is passed over
	}
	return slices.ContainsFunc(spread.Constraints, func(c *filter.SpreadConstraint) bool {
		return !c.Domains[c.Nodes[n.Index].Domain].Eligible &&
			slices.ContainsFunc(pods, func(p *filter.Pod) bool { return c.Selects[p.Index] })
	})
}

// leastOfTwo is the State of a plugin that knows of no more than two domains how many pods they have: those with the
// most, if that helps. The number of domains is known.
func leastOfTwo(_ *filter.Snapshot, st filter.State, spread *filter.SpreadState) filter.State {
	return variant.Judge{State: st, Verdict: func(n *filter.Node, v filter.View) *filter.Verdict {
		for _, c := range spread.Constraints {
			known := c.Domains
			defer func() { c.Domains = known }()
			c.Domains = othersRaised(c, n, v)
		}
		return st.Fits(n, v)
	}}
}

// othersRaised are the domains of a constraint, of which those that the node is not in have as many pods as the one with the
// second most, or more.
func othersRaised(c *filter.SpreadConstraint, n *filter.Node, v filter.View) []filter.SpreadDomain {
	at := c.Nodes[n.Index]
	var counts []int
	for i, d := range c.Domains {
		if i == at.Domain && at.Eligible {
			d.Standing -= at.Standing
			for _, p := range v.Pods {
				if c.Counts[p.Index] {
					d.Standing++
				}
			}
		}
		if d.Eligible {
			counts = append(counts, d.Standing)
		}
	}
	if len(counts) < 3 {
		return c.Domains
	}
	slices.Sort(counts)
	second := counts[len(counts)-2]
	raised := slices.Clone(c.Domains)
	for i := range raised {
		if i != at.Domain {
			raised[i].Standing = max(raised[i].Standing, second)
		}
	}
	return raised
}
