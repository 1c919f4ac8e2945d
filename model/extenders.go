package model

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// ExtenderFilterError is in the text of the error that a failing ExtenderFilter
// answers with.
const ExtenderFilterError = "the filter fails"

// interestedExtenders are the extenders that are asked about the preemptor, in the
// order in which they are asked: as configured, but those that may be ignored last
// (scheduler.go:602@v1.37.1, buildExtenders). An extender is interested in a pod
// that requests one of its resources, or in all if it manages none
// (config/v1/types.go@v0.37.1, Extender.ManagedResources).
func interestedExtenders(c *Cluster) []*Extender {
	var first, last []*Extender
	for i := range c.Settings.Extenders {
		e := &c.Settings.Extenders[i]
		switch {
		case !e.Manages(c.Preemptor):
		case e.Ignorable:
			last = append(last, e)
		default:
			first = append(first, e)
		}
	}
	return append(first, last...)
}

// Manages tells whether the extender is interested in a pod.
func (e *Extender) Manages(p *v1.Pod) bool {
	requests := func(c v1.Container) bool {
		return slices.ContainsFunc(e.ManagedResources, func(name string) bool {
			_, request := c.Resources.Requests[v1.ResourceName(name)]
			_, limit := c.Resources.Limits[v1.ResourceName(name)]
			return request || limit
		})
	}
	return len(e.ManagedResources) == 0 || slices.ContainsFunc(p.Spec.Containers, requests) || slices.ContainsFunc(p.Spec.InitContainers, requests)
}

// FilterByExtenders adds the verdicts of the extenders, which are asked in turn
// about the nodes that pass all before, until none is left
// (schedule_one.go:894@v1.37.1, findNodesThatPassExtenders). A failed node can be
// resolved by preemption unless it is listed as one that cannot
// (kube-scheduler/extender/v1/types.go:96@v0.37.1, ExtenderFilterResult). A node
// that is not listed has no status of its own. An error ends the cycle, unless the
// extender may be ignored (kube-scheduler/framework/extender.go:78@v0.37.1,
// IsIgnorable); failed names the extender.
func (cy *Cycle) FilterByExtenders(verdicts map[string]*Verdict) (failed string) {
	cy.OnlyExtender = map[string]bool{}
	for _, e := range cy.Extenders {
		if len(verdicts) == len(cy.Nodes) || e.Filter == nil {
			continue
		}
		if e.Filter.Fails {
			if e.Ignorable {
				continue
			}
			return e.Name
		}
		for _, n := range cy.Nodes {
			if verdicts[n.Name] != nil {
				continue
			}
			v := &Verdict{Plugin: ExtenderName}
			switch {
			case slices.Contains(e.Filter.Excludes, n.Name):
				v.Unresolvable = true
			case slices.Contains(e.Filter.Rejects, n.Name):
			case slices.Contains(e.Filter.Omits, n.Name):
				v = cy.LeftOut(cy)
				v.Plugin = cmp.Or(v.Plugin, ExtenderName)
				cy.Absent[n.Name] = true
			default:
				continue
			}
			v.Reasons = []string{"extender " + e.Name}
			verdicts[n.Name] = v
			cy.OnlyExtender[n.Name] = true
		}
	}
	return ""
}

// ExtendersPreempt tells whether an extender has a say in what is preempted.
func (cy *Cycle) ExtendersPreempt() bool {
	return slices.ContainsFunc(cy.Extenders, func(e *Extender) bool { return e.Preempt != nil })
}

// CallExtenders lets the extenders that support preemption process the candidates,
// each what the one before has left, until nothing is left. They may take
// candidates away and change the victims, and what they return is preempted and
// compared as it is. A candidate without victims is an error; if the extender is
// ignorable, the candidate is dropped (preemption.go:229@v1.37.1, callExtenders;
// kube-scheduler/framework/extender.go:66@v0.37.1, ProcessPreemption). failed names
// the extender whose error ends the preemption.
func (cy *Cycle) CallExtenders(candidates map[string]*Outcome) (left map[string]*Outcome, failed string) {
	left = candidates
	for _, e := range cy.Extenders {
		if e.Preempt == nil {
			continue
		}
		if len(left) == 0 {
			break
		}
		if left, failed = e.process(left); failed != "" {
			return nil, failed
		}
	}
	return left, ""
}

// process is what one extender leaves of the candidates.
func (e *Extender) process(candidates map[string]*Outcome) (left map[string]*Outcome, failed string) {
	if e.Preempt.Fails != "" {
		if e.Ignorable {
			return candidates, ""
		}
		return nil, e.Name
	}
	left = map[string]*Outcome{}
	for name, o := range candidates {
		if e.Preempt.Nothing || slices.Contains(e.Preempt.Drops, name) {
			continue
		}
		switch o = e.Preempt.changed(name, o); {
		case len(o.Pods) > 0:
			left[name] = o
		case !e.Ignorable:
			return nil, e.Name
		}
	}
	return left, ""
}

// changed is what an extender makes of the candidate that a node is.
func (p *ExtenderPreempt) changed(node string, o *Outcome) *Outcome {
	i := slices.IndexFunc(p.Changes, func(c VictimChange) bool { return c.Node == node })
	if i < 0 {
		return o
	}
	c, out := &p.Changes[i], *o
	out.Pods = slices.Clone(o.Pods)
	if c.Reverses {
		slices.Reverse(out.Pods)
	}
	if c.Keeps != nil {
		out.Pods = out.Pods[:min(int(*c.Keeps), len(out.Pods))]
	}
	out.Victims = keys(out.Pods)
	if c.Violations != nil {
		out.Violations = int(*c.Violations)
	}
	return &out
}

// keys are the keys of pods; never nil.
func keys(pods []*filter.Pod) []string {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = p.Key
	}
	return names
}
