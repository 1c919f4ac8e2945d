package model

import "slices"

// Decision is every answer to a Cluster that the rules allow, with reasons. It
// is a set, because the algorithm leaves open which of several equally
// important pods, and which of several equally good nodes, is taken.
type Decision struct {
	// Error is why the cycle ends in an error while nodes are filtered; the later
	// fields are then empty. "" if it does not.
	Error string
	// Verdicts says why each node fails the preemptor. A node that is not in it
	// fits.
	Verdicts map[string]*Verdict
	// Fits are the nodes on which the pod runs without preempting anything, of
	// which it takes one. The later fields are then empty.
	Fits []string
	// Eligible says whether the pod may preempt; nil if that was never asked,
	// because the pod fits somewhere or the cluster has no nodes.
	Eligible *Eligibility
	// PotentialNodes are the nodes where removing pods could help, sorted.
	PotentialNodes []string
	// Shortlist is the number of candidates that is enough to choose from.
	Shortlist int

	q      *question
	worlds []*world
	// budgetOrdersExact is false when there were too many orders of the budget
	// list to try.
	budgetOrdersExact bool
	// endsInError: PostFilter failed before preemption was asked.
	endsInError bool
	// filterFails names the extender whose error ends the cycle, if one does.
	filterFails string
}

// world is what follows from one order of the budget list: it is the same for
// all nodes of a cycle.
type world struct {
	order []int // nil: the cluster's
	runs  map[string]*dryRun
}

// Decide works out what the rules allow for c. c is not changed, and must not be
// until the Decision is no longer used. The error is an Unmodelled if something
// in c could matter that the model does not cover.
func Decide(c *Cluster, rules *Rules) (*Decision, error) {
	if missing := unmodelled(c, rules); len(missing) > 0 {
		return nil, missing
	}
	q := newQuestion(c, rules)
	if missing := q.undecidedStorage(); missing != nil {
		return nil, missing
	}
	d := &Decision{q: q}
	if d.Error = q.pre.err; d.Error != "" && len(q.nodes) > 0 {
		return d, nil
	}
	if rules.unknownDomainPanics && q.pre.rejection == nil && slices.ContainsFunc(q.nodes, func(n *node) bool { return q.unknownDomain(n, q.yieldsTo(n)) }) {
		return &Decision{q: q, Error: panics}, nil
	}
	d.Verdicts = q.verdicts()
	if name := q.missingNode(); name != "" && rules.missingNodeIsError && (!rules.nominatedFirst || d.Verdicts[c.Preemptor.Status.NominatedNodeName] != nil || q.byName[c.Preemptor.Status.NominatedNodeName] == nil) {
		d.Error, d.Verdicts = "there is no node "+name, nil
		return d, nil
	}
	if d.filterFails = q.extendFilters(d.Verdicts); d.filterFails != "" {
		d.Error, d.Verdicts = "extender "+d.filterFails+" fails", nil
		return d, nil
	}
	for _, n := range q.nodes {
		switch failed := d.Verdicts[n.Name]; {
		case failed == nil:
			d.Fits = append(d.Fits, n.Name)
		case failed.Error != "":
			d.Error = failed.Error
		}
	}
	if d.Error != "" {
		d.Verdicts, d.Fits = nil, nil
		return d, nil
	}
	if n := c.Preemptor.Status.NominatedNodeName; rules.nominatedFirst && slices.Contains(d.Fits, n) {
		// The nominated node is tried before all others
		// (schedule_one.go:669@v1.37.1).
		d.Fits = []string{n}
	}
	if rules.claims.allocatedFailsScore && len(d.Fits) > 1 && q.claims != nil && q.claims.open > 0 && len(q.claims.allocated) > 0 {
		d.Error = "scoring fails"
		d.Verdicts, d.Fits = nil, nil
		return d, nil
	}
	if len(d.Fits) > 0 || len(q.nodes) == 0 {
		return d, nil
	}
	// The state that DynamicResources has when it has been asked itself is missing.
	if q.pre.stopped && (q.pre.rejection == nil || q.pre.rejection.Plugin != dynamicResources) && rules.preFilterRejectionIsError {
		d.endsInError = true
		return d, nil
	}
	eligible := q.eligible(d.Verdicts)
	d.Eligible = &eligible
	if !eligible.OK {
		return d, nil
	}
	for _, n := range q.nodes {
		if !d.Verdicts[n.Name].Unresolvable {
			d.PotentialNodes = append(d.PotentialNodes, n.Name)
		}
	}
	slices.Sort(d.PotentialNodes)
	removes := func(name string) bool {
		n := q.byName[name]
		return q.unknownDomain(n, slices.DeleteFunc(slices.Clone(n.pods), func(p *pod) bool { return !q.preemptable(p) }))
	}
	if rules.unknownDomainPanics && slices.ContainsFunc(d.PotentialNodes, removes) {
		return &Decision{q: q, Error: panics}, nil
	}
	d.Shortlist = q.shortlist(len(d.PotentialNodes))
	d.worlds = []*world{d.newWorld(nil)}
	return d, nil
}

// panics is the Error of a scheduler that panics, by a quirk.
const panics = "the scheduler panics"

func (d *Decision) newWorld(order []int) *world {
	w := &world{order: order, runs: make(map[string]*dryRun, len(d.PotentialNodes))}
	for _, name := range d.PotentialNodes {
		w.runs[name] = d.q.dryRunOn(d.q.byName[name], order)
	}
	return w
}

// allWorlds are the worlds of all orders of the budget list that matter.
func (d *Decision) allWorlds() []*world {
	if len(d.worlds) == 1 && !d.budgetOrdersExact {
		orders, exact := d.q.budgetOrders()
		if !exact {
			return d.worlds
		}
		d.budgetOrdersExact = true
		for _, order := range orders[1:] {
			d.worlds = append(d.worlds, d.newWorld(order))
		}
	}
	return d.worlds
}

// Exact tells whether the Decision holds all allowed answers. It does not if a
// node has so many equally important, distinguishable pods that they can be
// arranged in more than 5,040 ways (7 such pods), or if overlapping budgets can
// be listed in more than 120 orders; why says which.
func (d *Decision) Exact() (exact bool, why string) {
	if d.worlds == nil {
		return true, ""
	}
	for _, w := range d.allWorlds() {
		for _, name := range d.PotentialNodes {
			d.q.enumerate(w.runs[name], w.order)
			if !w.runs[name].exact {
				return false, "node " + name + " has too many equally important pods to try all their orders"
			}
		}
	}
	if !d.budgetOrdersExact {
		return false, "too many overlapping budgets to try all orders of their list"
	}
	return true, ""
}

// DryRunOn says what preemption on a potential node comes to, with the budgets
// in the cluster's order: every outcome that the order of equally important pods
// can lead to, the one of the cluster's own order first, or why it does not help.
func (d *Decision) DryRunOn(node string) (outcomes []*Outcome, failed *Verdict) {
	if len(d.worlds) == 0 || d.worlds[0].runs[node] == nil {
		return nil, nil
	}
	w := d.worlds[0]
	run := w.runs[node]
	d.q.enumerate(run, w.order)
	return run.outcomes, run.failed
}

// Preempts is what preempting with the given choice changes in the cluster.
func (d *Decision) Preempts(c Choice) *Actuation {
	return d.q.actuate(d.q.byName[c.Node], c.Outcome.victims)
}

// Gives tells whether an observation is the answer c, up to pods that can stand
// in for each other.
func (d *Decision) Gives(c Choice, o *Observation) bool {
	if o.Pick == nil || o.Pick.Node != c.Node {
		return false
	}
	run := *d.worlds[0].runs[c.Node]
	run.outcomes = []*Outcome{c.Outcome}
	return run.find(DryRun{Victims: o.Pick.Victims, Violations: o.Pick.Violations}) != nil
}
