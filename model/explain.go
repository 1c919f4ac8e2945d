package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// ModelsGate tells whether Decide speaks for both positions of a feature gate.
func ModelsGate(name string) bool { return modelledGates[name] }

// Candidates are the names of the potential nodes where preemption helps, with
// the budgets and the equally important pods in the cluster's order: best first,
// nodes that tie by name.
func (d *Decision) Candidates() []string {
	if len(d.worlds) == 0 {
		return nil
	}
	var names []string
	runs := d.worlds[0].runs
	for _, name := range d.PotentialNodes {
		if runs[name].isCandidate() {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		c, _ := d.q.rules.compare(runs[a].listed, runs[b].listed)
		return cmp.Or(c, cmp.Compare(a, b))
	})
	return names
}

// Listed is what DryRunOn has first, without working out the other outcomes.
func (d *Decision) Listed(node string) (outcome *Outcome, failed *Verdict) {
	if len(d.worlds) == 0 || d.worlds[0].runs[node] == nil {
		return nil, nil
	}
	run := d.worlds[0].runs[node]
	return run.listed, run.failed
}

// Orders is how often Choices and Exact have to work out the victims on a node:
// for each order of the budgets, each order of equally important pods there.
func (d *Decision) Orders() int {
	if len(d.worlds) == 0 {
		return 0
	}
	perWorld := 0
	for _, run := range d.worlds[0].runs {
		orders := 1
		for _, group := range run.groups {
			orders = multiply(orders, arrangements(kindsOf(group)), maxOrders)
		}
		if orders > maxOrders {
			orders = 1
		}
		perWorld += orders
	}
	budgetOrders, _ := d.q.budgetOrders()
	return perWorld * len(budgetOrders)
}

// Values are what each criterion looks at, in turn, for people: the number of
// violations, the highest priority, the sum of the priorities (of which each
// counts from the lowest possible one), the number of victims, and the earliest
// start of a victim of the highest priority.
func (o *Outcome) Values() []string {
	start := "unknown" // a missing start time counts as now
	for _, p := range o.victims {
		if p.priority == o.highest() && p.Status.StartTime != nil && p.start.UnixNano() == o.earliestStart() {
			start = p.start.UTC().Format(time.RFC3339)
		}
	}
	return []string{
		strconv.Itoa(o.Violations),
		fmt.Sprint(o.highest()),
		strconv.FormatInt(o.sum(), 10),
		strconv.Itoa(len(o.victims)),
		start,
	}
}

// RejectedByExtender tells whether nothing but an extender keeps the preemptor
// from a node.
func (d *Decision) RejectedByExtender(node string) bool { return d.q.rejected[node] }

// FailedExtender is the name of the extender whose error has to end the cycle
// observed, or "".
func (d *Decision) FailedExtender(o *Observation) string {
	if d.filterFails != "" {
		return d.filterFails
	}
	_, fails := d.q.extend(d.observed(o))
	return fails
}

// observed are the candidates observed.
func (d *Decision) observed(o *Observation) map[string]*Outcome {
	candidates := map[string]*Outcome{}
	for _, name := range o.Candidates {
		if d.q.byName[name] != nil && len(o.DryRuns[name].Victims) > 0 {
			run := o.DryRuns[name]
			candidates[name] = &Outcome{Victims: run.Victims, Violations: run.Violations, victims: d.pods(name, run.Victims), ranks: make([]int, len(run.Victims))}
		}
	}
	return candidates
}

// Extended says what an extender does to a candidate.
type Extended struct {
	Extender string
	// Dropped: the node is no longer a candidate. Otherwise Victims and
	// Violations are what they have become.
	Dropped    bool
	Victims    []string
	Violations int
}

// ExtendersOn are the extenders that change the candidate a node is, with the
// budgets and the equally important pods in the cluster's order, in the order in
// which they are asked; fails names the one whose error ends the preemption.
func (d *Decision) ExtendersOn(node string) (changes []Extended, fails string) {
	listed, failed := d.Listed(node)
	if listed == nil || failed != nil {
		return nil, ""
	}
	all := d.q.extenders
	defer func() { d.q.extenders = all }()
	was := map[string]*Outcome{node: listed}
	for _, e := range all {
		d.q.extenders = []*Extender{e}
		var is map[string]*Outcome
		if is, fails = d.q.extend(was); fails != "" {
			return changes, fails
		}
		before, after := was[node], is[node]
		switch {
		case after == nil:
			return append(changes, Extended{Extender: e.Name, Dropped: true}), ""
		case !slices.Equal(before.Victims, after.Victims) || before.Violations != after.Violations:
			changes = append(changes, Extended{Extender: e.Name, Victims: after.Victims, Violations: after.Violations})
		}
		was = is
	}
	return changes, ""
}

// Uninterested tells whether there are extenders that are not asked about the
// preemptor.
func (d *Decision) Uninterested() bool {
	return len(d.q.extenders) < len(d.q.cluster.Settings.Extenders)
}
