// Package observation describes what one scheduler did with one cluster.
//
// The drivers of other releases compile observation.go too: it may import nothing
// but the standard library.
package observation

import "fmt"

// Observation is what one scheduler did with one cluster, stage by stage.
// Objects are named by model.Key, nodes by name. A stage that was not reached, or that
// the system cannot show, is nil.
type Observation struct {
	// System names the scheduler observed, for example "v1.37.1".
	System string

	// Filters is the verdict on each node that was filtered and failed.
	Filters map[string]Verdict
	// ScheduledTo is the node the pod fits on without preemption, or "".
	ScheduledTo string
	// CycleError is set when the cycle ended in an error that is not "the pod
	// fits on no node": the error's text.
	CycleError string

	Eligible *Eligibility
	// PotentialNodes holds the names of the nodes preemption was tried on.
	PotentialNodes []string
	// DryRuns is the result of each simulated preemption that ran.
	DryRuns map[string]DryRun
	// Candidates are the names of the shortlisted nodes.
	Candidates []string
	// AfterExtenders is what the extenders left of Candidates; nil if there are
	// none, or if one of them failed.
	AfterExtenders map[string]DryRun
	// Pick is the candidate chosen.
	Pick *Pick
	// Actuation is what reached the API, also when nothing was preempted.
	Actuation *Actuation

	// PostFilterCode and PostFilterMessage are the status that PostFilter
	// returned: Success, Unschedulable, Error, …
	PostFilterCode    string
	PostFilterMessage string

	// PinnedBudgetOrder says that the system listed the budgets in the order of
	// model.Cluster.PodDisruptionBudgets.
	PinnedBudgetOrder bool
	// PinnedDryRuns says that the system made the dry runs one after another, in
	// order of the names of the potential nodes, from model.Settings.DryRunOffset on, or
	// from the first node if that is nil.
	PinnedDryRuns bool
}

// Verdict says why a node fails the pod.
type Verdict struct {
	// Plugin is the filter that failed the pod, for example "NodeResourcesFit", or
	// model.ExtenderName.
	Plugin string
	// Unresolvable says that removing pods from the node cannot help
	// (UnschedulableAndUnresolvable as against Unschedulable).
	Unresolvable bool
	// Error is set where a filter cannot tell: the cycle, or the dry run, then ends
	// in an error. The model sets it for known bugs only.
	Error string
	// Reasons are the plugin's messages. They are for people: never compared.
	Reasons []string
}

func (v Verdict) String() string {
	if v.Unresolvable {
		return v.Plugin + " (unresolvable)"
	}
	return v.Plugin
}

// Eligibility says whether the pod may preempt others.
type Eligibility struct {
	OK bool
	// Reason is for people, when OK is false: never compared.
	Reason string
}

// DryRun is what preemption on one node would cost.
type DryRun struct {
	// Victims, most important first. Empty when preemption does not help.
	Victims []string
	// Violations is the number of budget violations counted.
	Violations int
	// Failed says why preemption on this node does not help; nil when it does.
	// Its Plugin is "" when the node holds no pod of lower priority, and when
	// the dry run ended in an error.
	Failed *Verdict
	// Error is the text of an internal error.
	Error string
}

func (d DryRun) String() string {
	switch {
	case d.Error != "":
		return "error: " + d.Error
	case d.Failed != nil && d.Failed.Plugin == "":
		return "no victims"
	case d.Failed != nil:
		return "does not fit: " + d.Failed.String()
	default:
		return fmt.Sprintf("victims %v, %d violations", d.Victims, d.Violations)
	}
}

// Pick is the node chosen, and what is to be preempted there.
type Pick struct {
	Node       string
	Victims    []string // most important first
	Violations int
}

// NominationMode says what becomes of the preemptor's status.nominatedNodeName.
type NominationMode string

// The modes.
const (
	NominationKept    NominationMode = "kept"    // left as it is
	NominationSet     NominationMode = "set"     // set to Actuation.NominatedNode
	NominationCleared NominationMode = "cleared" // set to ""
)

// Actuation is what a cycle changed in the cluster. Lists of names are sorted.
type Actuation struct {
	Deleted []string // pods deleted
	// DisruptionTarget names the pods patched with the DisruptionTarget condition.
	DisruptionTarget []string
	// Cleared names the pods patched to have no nominated node.
	Cleared       []string
	Nomination    NominationMode
	NominatedNode string
	// Deallocated names the resource claims that lost their allocation.
	Deallocated []string
	// Other describes every further API write: there should be none.
	Other []string
}
