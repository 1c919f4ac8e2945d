package model

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Algorithm is preemption as the documentation, the KEPs and the doc comments of
// Kubernetes describe it: its filter plugins, its criteria, and its steps by name.
// The steps are the functions of this package, each in the file that is named
// after its stage. They are fields, so that another algorithm can be made by
// replacing one of them; Documented is the only one that this package knows.
type Algorithm struct {
	// Filter (filter.go, extenders.go).
	Plugins           []filter.Plugin // in the order in which they are asked
	PreFilter         func(cy *Cycle) PreFiltered
	NominatedFirst    func(cy *Cycle) *filter.Node
	RespectNomination func(preemptor, nominated *filter.Pod) bool
	Fits              func(cy *Cycle, n *filter.Node, v filter.View) *Verdict
	LeftOut           func(cy *Cycle, verdicts map[string]*Verdict) *Verdict
	Filter            func(cy *Cycle) (verdicts map[string]*Verdict, failure string)

	// Eligible (eligible.go).
	MayPreempt func(preemptor, p *filter.Pod) bool
	Awaited    func(p *filter.Pod) bool
	Eligible   func(cy *Cycle, verdicts map[string]*Verdict) Eligibility

	// Dry run (dryrun.go, budgets.go, importance.go).
	Importance    func(a, b *filter.Pod) int
	Protects      func(b *Budget, p *filter.Pod) bool
	TakeBudgets   func(left []int32, budgets []int) (violated int)
	ReprieveOrder func(violated []int) []int
	Reprieve      func(cy *Cycle, run *DryRunOnNode, possible []*filter.Pod, budgetOrder []int) *Outcome
	DryRun        func(cy *Cycle, n *filter.Node, budgetOrder []int) *DryRunOnNode

	// Candidates, pick (candidates.go, pick.go).
	NumCandidates func(percentage, absolute int32, nodes, potential int) int
	Criteria      []Criterion

	// Actuate (actuate.go).
	Actuate     func(cy *Cycle, n *filter.Node, victims []*filter.Pod) *Actuation
	NoCandidate func(cy *Cycle, tried bool) *Actuation
	NoneLeft    func(cy *Cycle, failure string) *Actuation
}

// Documented is the algorithm of Kubernetes v1.37.1.
func Documented() *Algorithm {
	return &Algorithm{
		Plugins:           DefaultPlugins(),
		PreFilter:         PreFilter,
		NominatedFirst:    NominatedFirst,
		RespectNomination: RespectNomination,
		Fits:              Fits,
		LeftOut:           LeftOut,
		Filter:            Filter,
		MayPreempt:        MayPreempt,
		Awaited:           TerminatingByPreemption,
		Eligible:          Eligible,
		Importance:        MoreImportant,
		Protects:          Protects,
		TakeBudgets:       TakeBudgets,
		ReprieveOrder:     ReprieveOrder,
		Reprieve:          Reprieve,
		DryRun:            DryRunNode,
		NumCandidates:     NumCandidates,
		Criteria:          DefaultCriteria(),
		Actuate:           Actuate,
		NoCandidate:       NoCandidate,
		NoneLeft:          NoneLeft,
	}
}

// Decision is what the algorithm decides before it has to choose between equals.
// What comes after depends on choices that the algorithm leaves open: the order of
// equally important pods, the order of the budgets, the node at which dry runs
// begin, and the last tie between candidates. The functions of dryrun.go,
// candidates.go, pick.go and actuate.go take these choices as arguments.
type Decision struct {
	Cycle *Cycle
	// Error is why the cycle ends in an error while nodes are filtered; the later
	// fields are then empty. "" if it does not.
	Error string
	// FilterFails names the extender whose error that is, if it is one's.
	FilterFails string
	// Verdicts says why each node fails the preemptor. A node that is not in it
	// fits.
	Verdicts map[string]*Verdict
	// Fits are the nodes on which the pod runs without preempting anything, of
	// which it takes one. The later fields are then empty.
	Fits []string
	// PostFilterError is why preemption is not even asked; no documented rule sets
	// it. The later fields are then empty.
	PostFilterError string
	// Eligible says whether the pod may preempt; nil if that was never asked,
	// because the pod fits somewhere or the cluster has no nodes.
	Eligible *Eligibility
	// PotentialNodes are the nodes where removing pods could help, sorted.
	PotentialNodes []string
	// NumCandidates is the number of candidates that is enough to choose from.
	NumCandidates int
}

// Decide goes through the cycle up to the dry runs.
func (a *Algorithm) Decide(c *Cluster) *Decision {
	cy := a.NewCycle(c)
	d := &Decision{Cycle: cy}
	if d.Verdicts, d.Error = cy.Filter(cy); d.Error != "" {
		d.Verdicts = nil
		return d
	}
	if d.FilterFails = cy.FilterByExtenders(d.Verdicts); d.FilterFails != "" {
		d.Error, d.Verdicts = "extender "+d.FilterFails+" fails", nil
		return d
	}
	if d.Error = firstError(cy, d.Verdicts); d.Error != "" {
		d.Verdicts = nil
		return d
	}
	d.Fits = fittingNodes(cy, d.Verdicts)
	if len(d.Fits) > 0 || len(cy.Nodes) == 0 {
		return d
	}
	eligible := cy.Eligible(cy, d.Verdicts)
	d.Eligible = &eligible
	if !eligible.OK {
		return d
	}
	d.PotentialNodes = PotentialNodes(cy, d.Verdicts)
	d.NumCandidates = cy.numCandidates(len(d.PotentialNodes))
	return d
}

// firstError is that of the nodes on which a filter cannot tell, if there are any.
func firstError(cy *Cycle, verdicts map[string]*Verdict) (text string) {
	for _, n := range cy.Nodes {
		if v := verdicts[n.Name]; v != nil && v.Error != "" {
			text = v.Error
		}
	}
	return text
}

// fittingNodes are the nodes of which the preemptor takes one. If its nominated
// node is one of them, it takes that: it is tried before all others, and if the
// pod fits there no other is looked at (KEP-1923, PreferNominatedNode;
// schedule_one.go:669@v1.37.1, findNodesThatFitPod).
func fittingNodes(cy *Cycle, verdicts map[string]*Verdict) []string {
	var fits []string
	first := cy.NominatedFirst(cy)
	for _, n := range cy.Nodes {
		if verdicts[n.Name] != nil {
			continue
		}
		if n == first {
			return []string{n.Name}
		}
		fits = append(fits, n.Name)
	}
	return fits
}

// PotentialNodes are the names of the nodes where removing pods could help:
// those whose failure is Unschedulable, not UnschedulableAndUnresolvable
// (kube-scheduler/framework/interface.go:76@v0.37.1; preemption.go:201@v1.37.1,
// findCandidates). Sorted.
func PotentialNodes(cy *Cycle, verdicts map[string]*Verdict) []string {
	var names []string
	for _, n := range cy.Nodes {
		if !verdicts[n.Name].Unresolvable {
			names = append(names, n.Name)
		}
	}
	slices.Sort(names)
	return names
}
