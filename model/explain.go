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
