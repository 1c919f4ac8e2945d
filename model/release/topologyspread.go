package release

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// terminatingPodUncounted: a terminating pod, which spread constraints do not count,
// is taken off the count when it is removed.
func terminatingPodUncounted(p filter.Plugin) filter.Plugin {
	return spreadAccounts(func(a *spreadAccount) { a.countsTerminating = true })(p)
}

// emptySpreadSelector: an empty selector of a spread constraint counts no pod of
// those that are there, but the preemptor, and those removed and added.
func emptySpreadSelector(p filter.Plugin) filter.Plugin {
	return spreadAccounts(func(a *spreadAccount) {
		for _, c := range a.spread.Constraints {
			if !c.Selector.Empty() {
				continue
			}
			for i := range c.Nodes {
				c.Nodes[i].Standing = 0
			}
			for i := range c.Domains {
				c.Domains[i].Standing = 0
			}
		}
	})(p)
}

// spreadAccount counts as upstream does: the pods bound to the node first, and then
// it adds and takes away what differs, by other rules.
type spreadAccount struct {
	filter.State
	spread *filter.SpreadState
	// countsTerminating: terminating pods are added and taken away, too.
	countsTerminating bool
}

func spreadAccounts(change func(*spreadAccount)) variant.OfPlugin {
	return variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		spread, ok := filter.As[*filter.SpreadState](st)
		if !ok {
			return st, a
		}
		account, ok := filter.As[*spreadAccount](st)
		if !ok {
			account = &spreadAccount{st, spread, false}
			st = account
		}
		change(account)
		return st, a
	})
}

// Inner implements filter.Wrapper.
func (a *spreadAccount) Inner() filter.State { return a.State }

// Fits implements filter.State.
func (a *spreadAccount) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	for _, c := range a.spread.Constraints {
		differ := c.Counts
		if a.countsTerminating {
			differ = c.Selects
		}
		counted := c.Nodes[n.Index].Standing
		for _, p := range v.Pods {
			if differ[p.Index] && !within(n.Pods, p) {
				counted++
			}
		}
		for _, p := range n.Pods {
			if differ[p.Index] && !within(v.Pods, p) {
				counted--
			}
		}
		if failed := c.FitsWith(n, counted); failed != nil {
			return failed
		}
	}
	return nil
}

// leftOutNodesCounted: the pods of nodes that spread constraints leave out count, if
// a node of the same domain is not left out. It comes after emptySpreadSelector.
func leftOutNodesCounted(p filter.Plugin) filter.Plugin {
	return variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if spread, ok := filter.As[*filter.SpreadState](st); ok {
			for _, c := range spread.Constraints {
				for _, at := range c.Nodes {
					if at.Domain >= 0 && !at.Eligible && c.Domains[at.Domain].Eligible {
						c.Domains[at.Domain].Standing += at.Standing
					}
				}
			}
		}
		return st, a
	})(p)
}

// unknownDomain tells whether a constraint selects one of some pods that come to a
// node, or go, though no eligible node is in the node's domain: the scheduler then
// panics. st is the State of PodTopologySpread.
func unknownDomain(st filter.State, n *filter.Node, pods []*filter.Pod) bool {
	spread, ok := filter.As[*filter.SpreadState](st)
	if !ok {
		return false
	}
	for _, c := range spread.Constraints { // a node without one of the keys is passed over
		if c.Nodes[n.Index].Domain < 0 {
			return false
		}
	}
	return slices.ContainsFunc(spread.Constraints, func(c *filter.SpreadConstraint) bool {
		return !c.Domains[c.Nodes[n.Index].Domain].Eligible &&
			slices.ContainsFunc(pods, func(p *filter.Pod) bool { return c.Selects[p.Index] })
	})
}
