package model

// Result is what a cycle comes to once preemption is asked.
type Result struct {
	DryRuns map[string]*DryRunOnNode // by potential node, of those tried
	// Candidates are shortlisted, with what the extenders leave of them.
	Candidates map[string]*Outcome
	Node       string // the node picked, or ""
	DecidedBy  string // the criterion, Tie or OnlyCandidate
	*Actuation
}

// Preempt goes on from a Decision whose pod is eligible: dry runs, candidates,
// extenders, pick, actuate. What the algorithm leaves open is taken as it comes: pods
// and budgets in the cluster's order, dry runs one after another from
// Settings.DryRunOffset on, and of equally good nodes any.
func (d *Decision) Preempt() *Result {
	cy := d.Cycle
	r := &Result{DryRuns: map[string]*DryRunOnNode{}, Candidates: map[string]*Outcome{}}
	var found [2]int // candidates without violations, and with
	for i := range d.PotentialNodes {
		name := d.PotentialNodes[(cy.Settings.Offset()+i)%len(d.PotentialNodes)]
		run := cy.DryRun(cy, cy.Node(name), nil)
		r.DryRuns[name] = run
		if !run.IsCandidate() {
			continue
		}
		kind := min(run.Listed.Violations, 1)
		if found[kind]++; d.Shortlisted(found[kind]) == found[kind] {
			r.Candidates[name] = run.Listed
		}
		if d.EnoughCandidates(found[1], found[0]) {
			break
		}
	}
	if len(r.Candidates) == 0 {
		r.Actuation = cy.NoCandidate(d)
		return r
	}
	left, failed := cy.CallExtenders(r.Candidates)
	if r.Candidates = left; len(left) == 0 {
		r.Actuation = cy.NoneLeft(failed != "")
		return r
	}
	nodes, by := cy.Pick(left)
	r.Node, r.DecidedBy = nodes[0], by
	r.Actuation = cy.Actuate(cy, cy.Node(r.Node), left[r.Node].Pods)
	return r
}
