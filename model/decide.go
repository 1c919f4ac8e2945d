package model

import (
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// Algorithm is preemption as the documentation, the KEPs and the doc comments of
// Kubernetes describe it: its filter plugins, its criteria, and those of its steps
// that another algorithm may replace. A step is a function of this package, in the
// file that is named after its stage. Documented is the only algorithm that this
// package knows.
type Algorithm struct {
	// Filter (filter.go, extenders.go).
	Plugins           []filter.Plugin // in the order in which they are asked
	PreFilter         func(cy *Cycle) PreFiltered
	NominatedFirst    func(cy *Cycle) *filter.Node
	RespectNomination func(preemptor, nominated *filter.Pod) bool
	Fits              func(cy *Cycle, n *filter.Node, v filter.View) *Verdict
	LeftOut           func(cy *Cycle) *Verdict
	Filter            func(cy *Cycle) (verdicts map[string]*Verdict, failure string)
	NodesToFind       func(percentage *int32, nodes int) int
	// Found are the nodes that a search which may end early came to (search.go). No
	// document says which: nil stands for all.
	Found map[string]bool

	// Units are which pods are preempted together (unit.Of).
	Units func(s *filter.Snapshot, groups *unit.Groups) *unit.Units

	// Eligible (eligible.go).
	MayPreempt func(cy *Cycle, u *unit.Unit) bool
	Awaited    func(p *filter.Pod) bool
	Eligible   func(cy *Cycle, verdicts map[string]*Verdict) Eligibility

	// Dry run (dryrun.go, budgets.go, importance.go).
	Importance    func(a, b *unit.Unit) int
	Protects      func(b *Budget, p *filter.Pod) bool
	TakeBudgets   func(left []int32, budgets []int) (violated int)
	ReprieveOrder func(violations []int) []int
	Reprieve      func(cy *Cycle, run *DryRunOnNode, possible []*unit.Unit, budgetOrder []int) *Outcome
	DryRun        func(cy *Cycle, n *filter.Node, budgetOrder []int) *DryRunOnNode

	// Candidates, pick (candidates.go, pick.go).
	NumCandidates func(percentage, absolute int32, nodes, potential int) int
	Criteria      []Criterion

	// Actuate (actuate.go).
	Actuate     func(cy *Cycle, n *filter.Node, victims []*filter.Pod) *Actuation
	NoCandidate func(d *Decision) *Actuation
	NoneLeft    func(extenderFailed bool) *Actuation
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
		NodesToFind:       NodesToFind,
		Units:             unit.Of,
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

// Decision is the cycle up to the dry runs. What comes after depends on choices that
// the algorithm leaves open: the order of equally important pods, the order of the
// budgets, the node at which dry runs begin, and the last tie between candidates.
// Preempt goes on with these choices made in the simplest way.
type Decision struct {
	Cycle *Cycle
	// Errors are why the cycle ends in an error while nodes are filtered: words by
	// which the text of the error is known. Nodes are filtered in parallel, so any of
	// several may end it. The later fields are then empty. None if it does not.
	Errors []string
	// FilterFails names the extender whose error that is, if it is one's.
	FilterFails string
	// Verdicts says why each node fails the preemptor. A node that is not in it
	// fits.
	Verdicts map[string]*Verdict
	// Search is set if the scheduler may end its search for nodes early, and if Fits and
	// all that comes after depend on which it found: they are then as if those of
	// Algorithm.Found were.
	Search *Search
	// Fits are the nodes on which the pod runs without preempting anything, of
	// which it takes one. The later fields are then empty.
	Fits []string
	// PostFilterError is why preemption is not even asked, in words as those of
	// Errors; no documented rule sets it. The later fields are then empty.
	PostFilterError string
	// Eligible says whether the pod may preempt; nil if that was never asked,
	// because the pod fits somewhere or the cluster has no nodes.
	Eligible *Eligibility
	// PotentialNodes are the nodes where removing pods could help, sorted.
	PotentialNodes []string
	// NumCandidates is the number of candidates that is enough to choose from.
	NumCandidates int
}

// Decide goes through the scheduling cycle of a cluster, up to the dry runs.
func (a *Algorithm) Decide(c *Cluster) *Decision { return a.NewCycle(c).Decide() }

// Decide goes through the cycle up to the dry runs.
func (cy *Cycle) Decide() *Decision {
	d := &Decision{Cycle: cy}
	var failure string
	if d.Verdicts, failure = cy.Filter(cy); failure != "" {
		d.Errors = []string{failure}
	} else {
		d.Errors = filterErrors(cy, d.Verdicts)
	}
	if len(d.Errors) > 0 {
		d.Verdicts = nil
		return d
	}
	d.Search = cy.newSearch(d.Verdicts)
	if d.FilterFails = cy.filterByExtenders(d); d.FilterFails != "" {
		d.Errors, d.Verdicts = []string{ExtenderFilterError}, nil
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

// filterByExtenders adds the verdicts of the extenders on the nodes that the search found.
func (cy *Cycle) filterByExtenders(d *Decision) (failed string) {
	if d.Search == nil {
		return cy.FilterByExtenders(d.Verdicts)
	}
	all := maps.Clone(d.Verdicts)
	failed = cy.FilterByExtenders(all)
	for _, name := range d.Search.Passing {
		d.Search.Omitted[name] = cy.Absent[name]
	}
	if cy.Found == nil {
		maps.Copy(d.Verdicts, all)
		return failed
	}
	rejected := cy.OnlyExtender // also of nodes that the search did not find
	cy.leaveOut(d.Verdicts, cy.Found)
	failed = cy.FilterByExtenders(d.Verdicts)
	cy.OnlyExtender = rejected
	return failed
}

// filterErrors are those of the nodes on which a filter cannot tell. The cycle does not come to them if the pod fits on its nominated node,
// by the extenders, too: see fittingNodes.
func filterErrors(cy *Cycle, verdicts map[string]*Verdict) (errors []string) {
	if first := cy.NominatedFirst(cy); first != nil {
		asked := maps.Clone(verdicts)
		if cy.FilterByExtenders(asked) == "" && asked[first.Name] == nil {
			return nil
		}
	}
	for _, n := range cy.Nodes {
		if v := verdicts[n.Name]; v != nil && v.Error != "" {
			errors = append(errors, v.Error)
		}
	}
	return errors
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
