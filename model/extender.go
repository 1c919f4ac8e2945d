package model

// ExtenderName is what takes the place of a plugin's name in the verdict on a
// node that an extender filtered out (framework/types.go:1420@v1.37.1).
const ExtenderName = "Extender"

// Extender says what a scheduler extender does: the same whenever it is asked.
type Extender struct {
	Name string `json:"name"`
	// ManagedResources are the extended resources that it manages: it is asked
	// about pods that request one of them. None means about every pod.
	ManagedResources []string `json:"managedResources"`
	// Ignorable: an error of it does not fail the scheduling of the pod.
	Ignorable bool `json:"ignorable"`
	// NodeCacheCapable: it is sent names of nodes and UIDs of pods in place of
	// objects.
	NodeCacheCapable bool `json:"nodeCacheCapable"`
	// Filter and Preempt are its answers; nil if it has no such verb.
	Filter  *ExtenderFilter  `json:"filter"`
	Preempt *ExtenderPreempt `json:"preempt"`
}

// ExtenderFilter is how an extender filters: it passes all nodes but those named.
type ExtenderFilter struct {
	// Fails: it answers with an error.
	Fails bool `json:"fails"`
	// Rejects are the nodes it lists as failed, Excludes those it lists as failed
	// and unresolvable; of a node that is in both, the latter counts. Omits are
	// left out of its answer without being listed as failed.
	Rejects  []string `json:"rejects"`
	Excludes []string `json:"excludes"`
	Omits    []string `json:"omits"`
}

// ExtenderPreempt is how an extender processes a preemption: it returns the
// candidates as they are, but for those named.
type ExtenderPreempt struct {
	// Fails, unless it is "", makes the answer an error.
	Fails PreemptFailure `json:"fails"`
	// Nothing: it returns no node at all.
	Nothing bool `json:"nothing"`
	// Drops are the nodes that it does not return.
	Drops   []string       `json:"drops"`
	Changes []VictimChange `json:"changes"`
}

// PreemptFailure is a way in which an extender fails to process a preemption.
type PreemptFailure string

// The ways: it says so itself, or it answers with something that does not exist.
const (
	PreemptError       PreemptFailure = "Error"
	PreemptUnknownNode PreemptFailure = "UnknownNode"
	PreemptUnknownPod  PreemptFailure = "UnknownPod"
)

// VictimChange is what an extender does to the victims on a candidate.
type VictimChange struct {
	Node string `json:"node"`
	// Reverses puts the victims in the opposite order.
	Reverses bool `json:"reverses"`
	// Keeps, if set, leaves only so many of them, the first in that order.
	Keeps *int32 `json:"keeps"`
	// Violations, if set, is the number of budget violations returned.
	Violations *int64 `json:"violations"`
}
