package model

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// extenderRules are what Rules say about extenders.
type extenderRules struct {
	filter, interest, ignorable, abort, ignorableLast bool
	trims, counts                                     bool
	excludes                                          func(listed bool) (unresolvable bool)

	// Quirks: see Quirk.
	rejectionIsError, nothingLeftKeepsNomination bool
}

// interested are the extenders that are asked about the preemptor, in the order
// in which they are asked: as configured, but those that may be ignored last
// (scheduler.go:602@v1.37.1, buildExtenders). An extender is interested in a pod
// that requests one of its resources, or in all if it manages none
// (config/v1/types.go@v0.37.1, Extender.ManagedResources).
func (q *question) interested() []*Extender {
	var first, last []*Extender
	for i := range q.cluster.Settings.Extenders {
		e := &q.cluster.Settings.Extenders[i]
		switch {
		case q.rules.extenders.interest && !e.manages(q.cluster.Preemptor):
		case e.Ignorable && q.rules.extenders.ignorableLast:
			last = append(last, e)
		default:
			first = append(first, e)
		}
	}
	return append(first, last...)
}

func (e *Extender) manages(p *v1.Pod) bool {
	requests := func(c v1.Container) bool {
		return slices.ContainsFunc(e.ManagedResources, func(name string) bool {
			_, request := c.Resources.Requests[v1.ResourceName(name)]
			_, limit := c.Resources.Limits[v1.ResourceName(name)]
			return request || limit
		})
	}
	return len(e.ManagedResources) == 0 || slices.ContainsFunc(p.Spec.Containers, requests) || slices.ContainsFunc(p.Spec.InitContainers, requests)
}

// mayIgnore tells whether an extender's error is passed over, as if it had not
// been asked (kube-scheduler/framework/extender.go:71@v0.37.1, IsIgnorable).
func (q *question) mayIgnore(e *Extender) bool {
	return e.Ignorable && q.rules.extenders.ignorable || !q.rules.extenders.abort
}

// extendFilters adds the verdicts of the extenders, which are asked in turn about
// the nodes that pass all before, until none is left (schedule_one.go:894@v1.37.1,
// findNodesThatPassExtenders). A failed node can be resolved by preemption unless
// it is listed as one that cannot (kube-scheduler/extender/v1/types.go:96@v0.37.1,
// ExtenderFilterResult); one that is not listed has no status of its own, so that
// of all such nodes, which cannot be resolved (framework/types.go:1424@v1.37.1,
// NodeToStatus). An error that may not be ignored is that of the cycle.
func (q *question) extendFilters(verdicts map[string]*Verdict) (fails string) {
	if !q.rules.extenders.filter {
		return ""
	}
	q.rejected = map[string]bool{}
	for _, e := range q.extenders {
		if len(verdicts) == len(q.nodes) || e.Filter == nil {
			continue
		}
		if e.Filter.Fails {
			if q.mayIgnore(e) {
				continue
			}
			return e.Name
		}
		for _, n := range q.nodes {
			if verdicts[n.Name] != nil {
				continue
			}
			v := &Verdict{Plugin: ExtenderName, Reasons: []string{"extender " + e.Name}}
			switch {
			case slices.Contains(e.Filter.Excludes, n.Name):
				v.Unresolvable = q.rules.extenders.excludes(true)
			case slices.Contains(e.Filter.Rejects, n.Name):
				v.Unresolvable = q.rules.extenders.excludes(false)
			case slices.Contains(e.Filter.Omits, n.Name):
				v.Plugin = cmp.Or(strings.Join(q.pre.blamed, ","), ExtenderName)
				v.Unresolvable = q.rules.extenders.excludes(true) && !q.rules.excludedAreTried
				q.silent[n.Name] = !q.rules.excludedHaveStatus
			default:
				continue
			}
			verdicts[n.Name] = v
			q.rejected[n.Name] = true
		}
	}
	return ""
}

// extend lets the extenders that support preemption process the candidates, each
// what the one before has left, until nothing is left. They may take candidates
// away and change the victims, and what they return is preempted and compared as
// it is. A candidate without victims is an error, or ignored with the extender's
// other errors (preemption.go:235@v1.37.1, callExtenders;
// kube-scheduler/framework/extender.go:52@v0.37.1, ProcessPreemption). fails names
// the extender whose error ends the preemption.
func (q *question) extend(candidates map[string]*Outcome) (left map[string]*Outcome, fails string) {
	left = candidates
	for _, e := range q.extenders {
		if e.Preempt == nil {
			continue
		}
		if len(left) == 0 {
			break
		}
		if e.Preempt.Fails != "" {
			if q.mayIgnore(e) {
				continue
			}
			return nil, e.Name
		}
		next := map[string]*Outcome{}
		for name, o := range left {
			if e.Preempt.Nothing || slices.Contains(e.Preempt.Drops, name) {
				continue
			}
			o = q.changed(e.Preempt, name, o)
			switch {
			case len(o.victims) > 0:
				next[name] = o
			case !q.mayIgnore(e):
				return nil, e.Name
			}
		}
		left = next
	}
	return left, ""
}

func (q *question) changed(p *ExtenderPreempt, node string, o *Outcome) *Outcome {
	i := slices.IndexFunc(p.Changes, func(c VictimChange) bool { return c.Node == node })
	if i < 0 {
		return o
	}
	c, out := &p.Changes[i], *o
	if q.rules.extenders.trims {
		out.Victims, out.victims, out.ranks = slices.Clone(o.Victims), slices.Clone(o.victims), slices.Clone(o.ranks)
		if c.Reverses {
			slices.Reverse(out.Victims)
			slices.Reverse(out.victims)
			slices.Reverse(out.ranks)
		}
		if c.Keeps != nil {
			n := min(int(*c.Keeps), len(out.victims))
			out.Victims, out.victims, out.ranks = out.Victims[:n], out.victims[:n], out.ranks[:n]
		}
	}
	if c.Violations != nil && q.rules.extenders.counts {
		out.Violations = int(*c.Violations)
	}
	return &out
}

// noneLeft is what becomes of a preemption of whose candidates extenders leave
// none: the pod cannot be scheduled even with preemption, so its nomination is
// cleared; after an error all stays as it was (preemption.go:163@v1.37.1, doc
// comment of Preempt).
func (q *question) noneLeft(fails string) *Actuation {
	if fails != "" || q.rules.extenders.nothingLeftKeepsNomination || !q.rules.clearsWithoutCandidates {
		return &Actuation{Nomination: NominationKept}
	}
	return &Actuation{Nomination: NominationCleared}
}

// extendersPreempt tells whether an extender has a say in what is preempted.
func (q *question) extendersPreempt() bool {
	return slices.ContainsFunc(q.extenders, func(e *Extender) bool { return e.Preempt != nil })
}

// admitsExtenders compares what the extenders left of the candidates observed.
func (q *question) admitsExtenders(o *Observation, left map[string]*Outcome, fails string) *Disagreement {
	switch {
	case fails != "" && (o.Pick != nil || o.PostFilterCode != "Error" && o.PostFilterCode != ""):
		return disagree(StageExtenders, "", "an error of extender "+fails, o.PostFilterCode).of(kindNoError)
	case fails == "" && o.PostFilterCode == "Error":
		return disagree(StageExtenders, "", "no error", o.PostFilterMessage).of(kindError)
	case fails != "" || o.AfterExtenders == nil:
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(q.byName)) {
		want, got := left[name], o.AfterExtenders[name]
		switch {
		case want == nil && got.Victims == nil:
		case want == nil:
			return disagree(StageExtenders, name, "dropped", got).of(kindNoCandidate)
		case !slices.Equal(want.Victims, got.Victims) || want.Violations != got.Violations:
			return disagree(StageExtenders, name, fmt.Sprint(DryRun{Victims: want.Victims, Violations: want.Violations}), got).of(KindChoice)
		}
	}
	return nil
}
