package model

// numCandidates is NumCandidates with the arguments of the preemptor's profile.
func (cy *Cycle) numCandidates(potential int) int {
	profile := cy.Settings.profile(cy.Preemptor.Spec.SchedulerName)
	percentage, absolute := DefaultMinCandidateNodesPercentage, DefaultMinCandidateNodesAbsolute
	if s := profile.MinCandidateNodesPercentage; s != nil {
		percentage = *s
	}
	if s := profile.MinCandidateNodesAbsolute; s != nil {
		absolute = *s
	}
	return cy.NumCandidates(percentage, absolute, len(cy.Nodes), potential)
}

// NumCandidates is the number of candidates after which no more nodes need to be
// tried, given how many nodes the cluster has and how many of them are potential:
// a percentage of the cluster's nodes, but at least an absolute number and at most
// all there are to try (DefaultPreemptionArgs, types_pluginargs.go:31@v0.37.1). That
// a share of less than one node counts as one is our reading: the settings are
// documented to choose how long to search, not whether.
func NumCandidates(percentage, absolute int32, nodes, potential int) int {
	return min(max(nodes*int(percentage)/100, int(absolute), 1), potential)
}

// EnoughCandidates tells whether the search may end: there are as many candidates
// as are enough, one of which violates no budget. The doc comment of
// DryRunPreemption (preemption.go:427@v1.37.1) says that those are preferred; when
// the search ends is said in its body only. violating and others count the
// candidates so far.
func (d *Decision) EnoughCandidates(violating, others int) bool {
	return others > 0 && violating+others >= d.NumCandidates
}

// Shortlisted is how many of the candidates found are on the shortlist: of those
// that violate budgets, and of the others, at most NumCandidates each (as above).
func (d *Decision) Shortlisted(found int) int { return min(found, d.NumCandidates) }
