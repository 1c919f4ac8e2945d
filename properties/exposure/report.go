package exposure

import (
	"github.com/preemptcheck/preemptcheck/internal/workload"
)

// Report is what of a cluster can be preempted, and what it costs. It is complete: what text
// shows is a part.
type Report struct {
	File    string `json:"file,omitempty"`
	Release string `json:"release"`
	Nodes   int    `json:"nodes"`
	Pods    int    `json:"pods"`
	// Asks is what the pod of a class asks for, of which "at once" tells: "" is the worst case, all
	// that there is to be had on a node.
	Asks string `json:"asks,omitempty"`
	// Classes are the priority classes, the highest first.
	Classes []Class `json:"classes"`
	// Workloads are all that have a pod on a node, the one that is hurt most first.
	Workloads []*Workload `json:"workloads"`
	Pending   Pending     `json:"pending"`
	Losses    Losses      `json:"nodeLosses"`
	// Notes say what was left out, and why.
	Notes []string `json:"notes,omitempty"`
}

// Class is a priority class, or what pods get that name none.
type Class struct {
	Name  string `json:"name"` // NoClass if pods name none
	Value int32  `json:"value"`
	// Preempts is false of a class whose preemptionPolicy is Never.
	Preempts bool `json:"preempts"`
	// System: it is for components of the cluster, which each cluster has.
	System bool `json:"system,omitempty"`
}

// NoClass stands for no class: pods have priority 0 unless a class is the default.
const NoClass = "(none)"

// Workload is what happens to the pods of one workload.
type Workload struct {
	Name string       `json:"name"` // as it is typed: deployment/shop/web
	Ref  workload.Ref `json:"-"`
	Pods int          `json:"pods"` // on nodes
	// Lowest and Highest are the priorities of its pods.
	Lowest  int32 `json:"lowestPriority"`
	Highest int32 `json:"highestPriority"`
	// Threats are the classes that can preempt one of its pods, the lowest first.
	Threats []Threat `json:"threats,omitempty"`
	// Now are the pending pods that would take pods of it now.
	Now     []Taker  `json:"pendingNow,omitempty"`
	Budgets []Budget `json:"budgets,omitempty"`
	Loss    Loss     `json:"nodeLoss"`
}

// Threat is what one pod of a class can do to a workload.
type Threat struct {
	Class string `json:"class"`
	Value int32  `json:"value"`
	// AtOnce is how many pods of the workload one pod of the class takes at most, on Node; 0
	// if none that asks as Report.Asks says takes one.
	AtOnce int    `json:"atOnce"`
	Node   string `json:"node,omitempty"`
	Pods   []Pod  `json:"pods,omitempty"`
	// Asks is what the pod asks for that takes them.
	Asks string `json:"asks,omitempty"`
	// AtMost says that not all was tried: more than AtOnce may go, but no more than that.
	AtMost int `json:"atMost,omitempty"`
}

// Pod is a pod that goes.
type Pod struct {
	Key      string `json:"key"`
	Priority int32  `json:"priority"`
}

// Taker is a pending pod, and the others that are like it.
type Taker struct {
	Pod      string `json:"pod"`
	Alike    int    `json:"alike,omitempty"` // how many more there are
	Workload string `json:"workload"`
	AtOnce   int    `json:"atOnce"`
	Node     string `json:"node"`
	// Expected is how many pods of the workload it takes on average: each order of the nodes, and
	// each of equally good nodes, counts as equally likely (answers.Set.Odds).
	Expected float64 `json:"expected"`
	// Certain: each allowed answer takes a pod of the workload.
	Certain bool `json:"certain"`
}

// Verdict says whether preemption keeps to a budget.
type Verdict string

// The verdicts, the best first.
const (
	// Honoured: one pod of whatever class takes no more than the budget allows, on no node.
	Honoured Verdict = "honoured"
	// ByFinding: so by the documentation; but a known finding lets the scheduler pass over it.
	ByFinding Verdict = "can be violated by a finding"
	// Violated: a pod that fits on no other node takes more than the budget allows, as documented.
	Violated Verdict = "can be violated"
)

// Budget is a PodDisruptionBudget that protects pods of a workload.
type Budget struct {
	Name    string  `json:"name"`
	Allowed int32   `json:"disruptionsAllowed"`
	Verdict Verdict `json:"verdict"`
	// Class is the lowest that can violate it, Over how many pods too many its pod takes on Node
	// at most.
	Class string `json:"class,omitempty"`
	Node  string `json:"node,omitempty"`
	Over  int    `json:"over,omitempty"`
	// Findings are those of the known ones whose situation the workload is in.
	Findings []Finding `json:"findings,omitempty"`
}

// Finding is a known finding whose situation a workload is in.
type Finding struct {
	ID string `json:"id"`
	// Ignored: the scheduler may pass over the budget; else it charges it for what does not
	// disrupt, and may preempt others in place.
	Ignored bool   `json:"ignored"`
	Why     string `json:"why"`
}

// Pending says which of the pending pods were asked about.
type Pending struct {
	Pods    int `json:"pods"`
	Decided int `json:"decided"` // with those that are alike
	// Preempt is how many of them may preempt pods now.
	Preempt int `json:"preempt"`
	Kinds   int `json:"kinds"` // how many of them differ, and were decided
}

// Loss is what node losses cost a workload.
type Loss struct {
	// Nodes is how many of the node losses tried cost it pods: these are preempted, or stay
	// pending.
	Nodes     int `json:"nodes"`
	Preempted int `json:"preempted"` // over all losses
	Pending   int `json:"pending"`   // over all losses
	// Worst is the node whose loss leaves most of its pods pending, or preempts most.
	Worst          string `json:"worst,omitempty"`
	WorstPreempted int    `json:"worstPreempted,omitempty"`
	WorstPending   int    `json:"worstPending,omitempty"`
}

// Losses says which node losses were tried.
type Losses struct {
	Kinds int        `json:"kinds"` // kinds of nodes
	Tried []NodeLoss `json:"tried,omitempty"`
}

// NodeLoss is what the loss of one node comes to.
type NodeLoss struct {
	Node string `json:"node"`
	// Like is how many nodes of its kind there are, with it.
	Like int `json:"like"`
	// Back is how many pods come back pending, Placed how many find a node without preemption.
	Back      int `json:"back"`
	Placed    int `json:"placed"`
	Preempted int `json:"preempted"` // pods, by them and by those preempted
	Pending   int `json:"pending"`
	// NotModelled are pods that were not followed.
	NotModelled int `json:"notModelled,omitempty"`
	// Cut says that it was not gone through to the end.
	Cut bool `json:"cut,omitempty"`
}
