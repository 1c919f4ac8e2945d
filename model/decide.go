package model

import "slices"

// Decision is every answer to a Cluster that the rules allow, with reasons. It
// is a set, because the algorithm leaves open which of several equally
// important pods, and which of several equally good nodes, is taken.
type Decision struct {
	// Error is why the cycle ends in an error, before any node is looked at; the
	// later fields are then empty. "" if it does not.
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
	if missing := unmodelled(c); len(missing) > 0 {
		return nil, missing
	}
	q := newQuestion(c, rules)
	d := &Decision{q: q}
	if d.Error = q.pre.err; d.Error != "" && len(q.nodes) > 0 {
		return d, nil
	}
	d.Verdicts = q.verdicts()
	for _, n := range q.nodes {
		if d.Verdicts[n.Name] == nil {
			d.Fits = append(d.Fits, n.Name)
		}
	}
	if n := c.Preemptor.Status.NominatedNodeName; slices.Contains(d.Fits, n) {
		// The nominated node is tried before all others
		// (schedule_one.go:669@v1.37.1).
		d.Fits = []string{n}
	}
	if len(d.Fits) > 0 || len(q.nodes) == 0 {
		return d, nil
	}
	if q.pre.stopped && rules.preFilterRejectionIsError {
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
	d.Shortlist = q.shortlist(len(d.PotentialNodes))
	d.worlds = []*world{d.newWorld(nil)}
	return d, nil
}

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

// Choice is one allowed answer.
type Choice struct {
	Node    string
	Outcome *Outcome
	// DecidedBy is the criterion that decided for the node; Tie; or
	// OnlyCandidate.
	DecidedBy string
}

// Choices are all allowed answers: which node may be nominated, with which
// victims. None means that preemption does not help.
func (d *Decision) Choices() []Choice {
	var choices []Choice
	if len(d.worlds) == 0 {
		return nil
	}
	for _, w := range d.allWorlds() {
		var candidates []*dryRun
		for _, name := range d.PotentialNodes {
			run := w.runs[name]
			d.q.enumerate(run, w.order)
			if run.isCandidate() {
				candidates = append(candidates, run)
			}
		}
		for _, run := range candidates {
			for _, o := range run.outcomes {
				by, ok := d.q.mayPick(run, o, candidates, d.Shortlist)
				known := slices.ContainsFunc(choices, func(c Choice) bool { return c.Node == run.node.Name && c.Outcome.same(o) })
				if ok && !known {
					choices = append(choices, Choice{run.node.Name, o, by})
				}
			}
		}
	}
	return choices
}

func (d *dryRun) isCandidate() bool { return d.failed == nil && len(d.listed.victims) > 0 }

// mayPick tells whether run's node may be chosen with outcome o. Candidates are
// tried in any order until the shortlist is long enough and holds one without
// violations, so all it takes is enough other candidates that can turn out no
// better than o. The order of equally important pods is free on each node, so
// one such outcome of a candidate suffices. A choice with violations needs in
// addition that no candidate is without: the search goes on until it finds one
// (preemption.go:430@v1.37.1, DryRunPreemption).
func (q *question) mayPick(run *dryRun, o *Outcome, candidates []*dryRun, shortlist int) (decidedBy string, ok bool) {
	if shortlist == 0 {
		return "", false
	}
	noBetter, at := 0, -1
	for _, other := range candidates {
		if other == run {
			continue
		}
		nearest, worse, violating := len(q.rules.criteria), false, false
		for _, theirs := range other.outcomes {
			violating = violating || theirs.Violations > 0
			if o.Violations > 0 && theirs.Violations == 0 {
				continue
			}
			if c, i := q.rules.compare(o, theirs); c <= 0 {
				if !worse || i < nearest {
					nearest = i
				}
				worse = true
			}
		}
		if o.Violations > 0 && !violating {
			return "", false
		}
		if worse {
			noBetter++
			at = max(at, nearest)
		}
	}
	if noBetter < min(shortlist, len(candidates))-1 {
		return "", false
	}
	switch {
	case len(candidates) == 1:
		return OnlyCandidate, true
	case at < 0 || at == len(q.rules.criteria):
		return Tie, true
	default:
		return q.rules.criteria[at].Name, true
	}
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
