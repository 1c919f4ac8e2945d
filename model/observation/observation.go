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
	// Absent are those of Filters that have no status of their own: nobody looked at them,
	// or an extender's answer does not name them. It is nil if the pod fits somewhere, and if
	// the system does not show it.
	Absent []string
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
	// Candidates are the names of the shortlisted nodes. A shortlist of one is not
	// shown without extenders: it is then derived, as the node of Pick.
	Candidates []string
	// AfterExtenders is what the extenders left of Candidates; nil if there are
	// none, or if one of them failed. That they left nothing is derived: no extender
	// is asked after that, and there is no error.
	AfterExtenders map[string]DryRun
	// Pick is the candidate chosen: its victims as they are handed over to be
	// preempted. Where all of them terminate already none is, and where a system does
	// not show it (_driver), Pick is derived: the node nominated, with the victims of its
	// dry run.
	Pick *Pick
	// Actuation is what reached the API, also when nothing was preempted.
	Actuation *Actuation
	// Aftermath is the rest of the cycle, which users see and which decides when the
	// pod is tried again; nil if the system shows the decision only.
	Aftermath *Aftermath
	// Group is the cycle of a pod group, from its passes over the members to what becomes of
	// each; nil for a pod. Of what is above it only Actuation, without a nomination, and
	// Aftermath are shared; Filters and what follows from it are empty.
	Group *GroupCycle
	// Crash says how the scheduler itself broke; nil if it did not. Everything else
	// is then what was seen until it broke.
	Crash *Crash

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

// GroupCycle is what a scheduler did with a pod group. Members are pods of the group that
// are not bound.
type GroupCycle struct {
	// Waits says what keeps the group out of the active queue: the plugin that does, or "unknown".
	// "" says that it had a cycle.
	Waits string
	// First are the members that were tried in the cluster as it is, in order; Second those that
	// were tried after all potential victims had been taken away, nil if preemption did
	// not come to that. With topology constraints each placement is tried in turn.
	First, Second []MemberTry
	// FirstChoices and SecondChoices are made in these: of each group with several topology domains that would do.
	FirstChoices, SecondChoices []DomainChoice
	// SecondCalls is how often preemption had the group scheduled anew: at most once
	// (KEP-5710, "Preemption algorithm").
	SecondCalls int
	// Placed are the members with a node, in the order in which they are asked whether a
	// unit can be given back; PlacedTo are their nodes.
	Placed, PlacedTo []string
	// Eligible is nil if preemption was not tried, or ended before that is known.
	Eligible *Eligibility
	// Ongoing says that the group waits for victims of a preemption before.
	Ongoing bool
	// Tried are the preemption units that were given back one after another, in order.
	Tried []UnitTry
	// Victims are the pods that are handed over to be preempted, in order of their units'
	// importance; with them the budget violations, and the disruptions of groups. Where all
	// terminate already nobody hands them over: then they are derived from Tried, and the
	// numbers are -1.
	Victims                 []string
	Violations, Disruptions int
	// Members is what the failure handler was told of each member that was not bound.
	Members map[string]MemberEnd
	// Code and Message are the status of preemption as a whole; "" if it was not tried.
	Code, Message string
}

// MemberTry is one try to place a member of a group beside those before it.
type MemberTry struct {
	Pod string
	// Domains are the topology domains whose nodes were looked at: those of the groups with a topology constraint that the pod is
	// in, from the root of the tree down. nil if those of the whole cluster were.
	Domains []string
	// Node is where it fits, or "".
	Node string
	// Filters is the verdict on each node, if it fits on none.
	Filters map[string]Verdict
	// Error is the text of an error that is not "the pod fits on no node".
	Error string
	// Devices is what the claims of the pod got that had no devices before, by the claim's key: an AllocationResult of
	// resource/v1 as JSON. Claims that another member got devices for are among them, with what they have.
	Devices map[string]string
}

// DomainChoice is which of several topology domains is taken for a group, within those of the groups above it.
type DomainChoice struct {
	Group  string // as Cluster.PreemptorGroup
	Within []string
	Domain string
}

// UnitTry is one try to give back a preemption unit.
type UnitTry struct {
	// Pods are those of the unit, sorted.
	Pods []string
	// GivenBack says that all members still fit where they are placed.
	GivenBack bool
	// Failed is the first member that does not, Node where, and Verdict why.
	Failed, Node string
	Verdict      *Verdict
}

// MemberEnd is what becomes of a member that was not bound.
type MemberEnd struct {
	Nomination    NominationMode
	NominatedNode string
	// Code and Message are the status of the member.
	Code, Message string
	// Held is the node for which the scheduler itself holds the pod as nominated afterwards,
	// or "".
	Held string
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
	// Reasons are the plugin's messages. They are for people: only the property reasons-are-told compares them.
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
	// Error is the text of an internal error. That there are no victims is one which
	// the caller makes, and which is told here in its words; it shows by itself in
	// PostFilterMessage.
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

	NominationUnseen NominationMode = ""           // the system does not show it: never compared
	NominationUntold NominationMode = "never told" // the failure handler was not called
)

// Actuation is what a cycle changed in the cluster. Lists of names are sorted.
type Actuation struct {
	Deleted []string // pods deleted
	// DisruptionTarget names the pods patched with the DisruptionTarget condition.
	DisruptionTarget []string
	// Cleared names the pods patched to have no nominated node.
	Cleared []string
	// Nomination and NominatedNode are what the failure handler is told; the patch
	// that follows is among Aftermath.Calls. The drivers of other releases show what
	// PostFilter answers instead, and nothing after a CycleError.
	Nomination    NominationMode
	NominatedNode string
	// Deallocated names the resource claims that lost their allocation.
	Deallocated []string
	// Other describes every further API write: there should be none.
	Other []string
}

// Aftermath is what a cycle tells users, and what it leaves behind for the next.
type Aftermath struct {
	// Calls are the API writes that the scheduler asked for, in order.
	Calls []Call
	// Events are in the order in which they were recorded.
	Events []Event
	// NeverPopped says that PreEnqueue kept the pod out of the active queue already
	// before the cycle: the scheduler would not have tried it.
	NeverPopped bool
	// Queue is where the pod waits for its next try.
	Queue Queue
	// UnschedulablePlugins and PendingPlugins are those whose events wake the pod up,
	// sorted. They are those of the queue's entry.
	UnschedulablePlugins, PendingPlugins []string
	// AnsweredPending are the plugins whose answer to the pod was Pending, sorted.
	AnsweredPending []string
	// Signed says that the pod has a signature: an equal pod after it may be placed by what
	// was found out for this one.
	Signed bool
	// Best are the nodes with the highest score; none unless several were scored.
	Best []string
	// Ways are those by which pods came to be known by updates: AssumedConfirmed and so on.
	Ways []string
	// Twin is the node of the pod's twin (reference.Circumstances), Hint that for which the
	// pod itself was tried first because of it; "" if there is none.
	Twin, Hint string
	// Activated are the pods that somebody asked the queue to activate, in order.
	Activated []string
	// Gated says that PreEnqueue still keeps the pod out of the active queue, after
	// everything that the cycle began has ended.
	Gated bool
	// InFlight says that the queue still counts the pod as being scheduled.
	InFlight bool
	// NominatedTo is the node for which the scheduler itself holds the pod as
	// nominated, or "".
	NominatedTo string
	// Held are the pods on nodes about which calls were made, and which the scheduler still
	// counts on these nodes after the cycle, sorted. Only known where a call was made to fail.
	Held []string
	// Metrics is how far the cycle moved the scheduler's metrics; nil if nobody asked.
	Metrics *Metrics
}

// The ways by which a scheduler comes to know of a pod that it has assumed on a node.
const (
	AssumedConfirmed = "assumed and bound"
	AssumedForgotten = "assumed and forgotten"
	AssumedElsewhere = "assumed, and bound elsewhere"
)

// Metrics is by how much a cycle raised some of the metrics that users watch.
type Metrics struct {
	// PreemptionAttempts is that of scheduler_preemption_attempts_total.
	PreemptionAttempts int
	// Preemptions and Victims are the count and the sum of
	// scheduler_preemption_victims.
	Preemptions, Victims int
	// OfWorkloads and WorkloadVictims are the same of scheduler_workload_preemption_victims.
	OfWorkloads, WorkloadVictims int
	// ScheduleAttempts is that of scheduler_schedule_attempts_total, by its labels
	// "result profile", where it is not 0.
	ScheduleAttempts map[string]int
}

// Call is one API write.
type Call struct {
	// Verb is patch, delete, bind, update or create.
	Verb string
	// Resource may have a subresource: "pods/status".
	Resource string
	// Object is named by model.Key.
	Object string
	// Conditions are those that a patch of a status sets.
	Conditions []Condition
	// NominatedNode is what a patch sets status.nominatedNodeName to, "" to remove
	// it; nil if it leaves it alone.
	NominatedNode *string
	// Node is the node that a pod is bound to.
	Node string
	// Claim is what a claim is made of, or what is written to its status.
	Claim *WrittenClaim
	// BoundTo is the key of the claim that a volume is written to be for, or "".
	BoundTo string
	// SelectedNode is the node that a claim is written to be provisioned for, or "".
	SelectedNode string
	// Unreserved is the UID of the user that a patch takes from a claim, or "".
	Unreserved string
	// ExtendedClaim is what a patch sets status.extendedResourceClaimStatus to; nil if it
	// leaves it alone.
	ExtendedClaim *ExtendedClaim
	// Rest is everything else that was asked for: options of a deletion, further
	// fields of a patch.
	Rest string
	// Failed is the error that the API server answered with, or "".
	Failed string
	// Gated says that PreEnqueue kept the preemptor out of the active queue at that time.
	Gated bool
}

// WrittenClaim is a resource claim that is written.
type WrittenClaim struct {
	// Special says that it is for the extended resources of a pod, Pod is the UID of the pod
	// that controls it.
	Special bool
	Pod     string
	// Requests are what it asks for, Devices what it gets.
	Requests []DeviceRequest
	Devices  []Device
	// ReservedFor are the UIDs of its users.
	ReservedFor []string
}

// DeviceRequest is a request for so many devices of a class.
type DeviceRequest struct {
	Name, Class string
	Count       int64
}

// Device is a device that is allocated for a request.
type Device struct{ Request, Driver, Pool, Name string }

// ExtendedClaim is what the status of a pod says of the claim for its extended resources.
type ExtendedClaim struct {
	Name     string
	Mappings []RequestMapping
}

// RequestMapping says for which request of the claim a container gets a resource.
type RequestMapping struct{ Container, Resource, Request string }

func (c Call) String() string {
	s := c.Verb + " " + c.Resource + " " + c.Object
	for _, cond := range c.Conditions {
		s += fmt.Sprintf(", condition %s=%s (%s)", cond.Type, cond.Status, cond.Reason)
	}
	if c.NominatedNode != nil {
		s += fmt.Sprintf(", nominatedNodeName %q", *c.NominatedNode)
	}
	if c.Node != "" {
		s += ", node " + c.Node
	}
	if c.Unreserved != "" {
		s += ", no longer reserved for " + c.Unreserved
	}
	if c.ExtendedClaim != nil {
		s += ", extendedResourceClaimStatus " + c.ExtendedClaim.Name
	}
	if c.Rest != "" {
		s += ", " + c.Rest
	}
	if c.Failed != "" {
		s += ": " + c.Failed
	}
	return s
}

// Condition is one condition of a pod's status. A field that a patch leaves alone
// is zero.
type Condition struct {
	Type, Status, Reason, Message string
	ObservedGeneration            int64
	// Transitioned says that the patch sets lastTransitionTime.
	Transitioned bool `json:",omitempty"`
}

// MaxNote is how long the note of an event may be, in bytes (events.k8s.io/v1 Event: 1kB).
const MaxNote = 1024

// Event is one event as the API server is sent it.
type Event struct {
	Type, Reason, Action, Note string
	// Regarding and Related are objects as "Pod default/name"; "" if there is none.
	Regarding, Related string
}

func (e Event) String() string {
	return fmt.Sprintf("%s %s (%s) regarding %s, related %q: %s", e.Type, e.Reason, e.Action, e.Regarding, e.Related, e.Note)
}

// Queue is a queue of the scheduler.
type Queue string

// The queues.
const (
	QueueActive        Queue = "active"
	QueueBackoff       Queue = "backoff"
	QueueUnschedulable Queue = "unschedulable"
	QueueNone          Queue = ""
)

// Crash is a scheduler that did not get through its cycle.
type Crash struct {
	Kind    CrashKind
	Message string
	// Where is the innermost function of the scheduler on the way to it, with file
	// and line: "volumebinding.(*VolumeBinding).Score (volume_binding.go:503)".
	Where string
	// Stack holds the stacks of the goroutines involved.
	Stack string
}

// CrashKind is a way in which a scheduler breaks.
type CrashKind string

// The kinds.
const (
	Panic CrashKind = "panic" // the process would end
	Hang  CrashKind = "hang"  // a goroutine of the cycle never ends
	Exit  CrashKind = "exit"  // the process did end
)

func (c *Crash) String() string {
	return fmt.Sprintf("%s in %s: %s", c.Kind, c.Where, c.Message)
}
