package model

import "github.com/preemptcheck/preemptcheck/model/observation"

// Stage is a step of a scheduling cycle that ends in preemption. Stages are in
// the order in which the scheduler goes through them; a disagreement is named
// after the first stage at which it shows.
type Stage string

// The stages. A cycle whose pod fits somewhere ends after StageFilter; one whose
// pod may not preempt ends after StageEligible.
const (
	StageFilter     Stage = "filter"          // per node: which plugin fails the pod, and whether preemption could help
	StageEligible   Stage = "eligible"        // may this pod preempt at all
	StagePotential  Stage = "potential nodes" // the nodes where removing pods could help
	StageDryRun     Stage = "dry run"         // per node: victims in order of importance, and violations
	StageCandidates Stage = "candidates"      // the shortlist
	StageExtenders  Stage = "extenders"       // what extenders leave of the shortlist
	StagePick       Stage = "pick"            // the node to nominate
	StagePlacement  Stage = "placement"       // of a group: where its pods would go without any pod that it may preempt
	StageReprieve   Stage = "reprieve"        // of a group: which units are given back
	StageActuate    Stage = "actuate"         // what is written to the API
)

// The extension points of a cycle that are no stages of preemption. A crash is named
// after them, and nothing else.
const (
	StagePostFilter Stage = "PostFilter" // of plugins other than DefaultPreemption
	StagePreScore   Stage = "PreScore"
	StageScore      Stage = "Score"
	StageReserve    Stage = "Reserve"
	StagePermit     Stage = "Permit"
	StagePreBind    Stage = "PreBind"
	StageBind       Stage = "Bind"
	StagePostBind   Stage = "PostBind"
)

// Stages are all stages in turn, and after them the other extension points.
func Stages() []Stage {
	return []Stage{
		StageFilter, StageEligible, StagePotential, StageDryRun, StageCandidates, StageExtenders, StagePick, StagePlacement, StageReprieve, StageActuate,
		StagePostFilter, StagePreScore, StageScore, StageReserve, StagePermit, StagePreBind, StageBind, StagePostBind,
	}
}

// The parts of an observation. Package observation has them, so that the drivers of
// other releases can compile them too.
type (
	// Observation is what one scheduler did with one Cluster, stage by stage.
	Observation = observation.Observation
	// Verdict says why a node fails the pod.
	Verdict = observation.Verdict
	// GroupCycle is what a scheduler did with a pod group.
	GroupCycle = observation.GroupCycle
	// MemberTry is one try to place a member of a group beside those before it.
	MemberTry = observation.MemberTry
	// DomainChoice is which of several topology domains is taken for a group.
	DomainChoice = observation.DomainChoice
	// UnitTry is one try to give back a preemption unit.
	UnitTry = observation.UnitTry
	// MemberEnd is what becomes of a member that was not bound.
	MemberEnd = observation.MemberEnd
	// Eligibility says whether the pod may preempt others.
	Eligibility = observation.Eligibility
	// DryRun is what preemption on one node would cost.
	DryRun = observation.DryRun
	// Pick is the node chosen, and what is to be preempted there.
	Pick = observation.Pick
	// NominationMode says what becomes of the preemptor's status.nominatedNodeName.
	NominationMode = observation.NominationMode
	// Actuation is what a cycle changed in the cluster.
	Actuation = observation.Actuation
	// Aftermath is what a cycle tells users, and what it leaves behind for the next.
	Aftermath = observation.Aftermath
	// Metrics is by how much a cycle raised some of the metrics that users watch.
	Metrics = observation.Metrics
	// Call is one API write.
	Call = observation.Call
	// WrittenClaim is a resource claim that is written.
	WrittenClaim = observation.WrittenClaim
	// DeviceRequest is a request for so many devices of a class.
	DeviceRequest = observation.DeviceRequest
	// Device is a device that is allocated for a request.
	Device = observation.Device
	// ExtendedClaim is what the status of a pod says of the claim for its extended resources.
	ExtendedClaim = observation.ExtendedClaim
	// RequestMapping says for which request of the claim a container gets a resource.
	RequestMapping = observation.RequestMapping
	// Condition is one condition of a pod's status.
	Condition = observation.Condition
	// Event is one event as the API server is sent it.
	Event = observation.Event
	// Queue is a queue of the scheduler.
	Queue = observation.Queue
	// Crash is a scheduler that did not get through its cycle.
	Crash = observation.Crash
)

// The modes of a nomination.
const (
	NominationKept    = observation.NominationKept
	NominationSet     = observation.NominationSet
	NominationCleared = observation.NominationCleared
	NominationUnseen  = observation.NominationUnseen
	NominationUntold  = observation.NominationUntold
)

// The queues.
const (
	AssumedConfirmed = observation.AssumedConfirmed
	AssumedForgotten = observation.AssumedForgotten
	AssumedElsewhere = observation.AssumedElsewhere

	QueueActive        = observation.QueueActive
	QueueBackoff       = observation.QueueBackoff
	QueueUnschedulable = observation.QueueUnschedulable
	QueueNone          = observation.QueueNone
)

// The ways in which a scheduler breaks.
const (
	Panic = observation.Panic
	Hang  = observation.Hang
	Exit  = observation.Exit
)
