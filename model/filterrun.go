package model

import "fmt"

// FilterRun is what one filter plugin, by itself, says of the preemptor on a node.
type FilterRun struct {
	Plugin, Node string
	// Change is what became of Pod, one of the node's, before the plugin was
	// asked.
	Change Change
	Pod    string
	// Failed is nil if the plugin lets the preemptor run there.
	Failed *Verdict
	// Error is why the plugin came to no answer; "" if it did.
	Error string
}

// Change is what became of a pod of a node.
type Change string

// The changes. A plugin is told of the first two as a dry run tells it, after its
// PreFilter saw the pod.
const (
	Untouched       Change = "as it is"
	Removed         Change = "with a pod removed"
	RemovedAndAdded Change = "with a pod removed and added again"
	// Deleted: the pod was deleted from the cluster, so PreFilter did not see it.
	Deleted Change = "once a pod is deleted"
)

func (r FilterRun) String() string {
	text := fmt.Sprintf("%s on %s %s", r.Plugin, r.Node, r.Change)
	if r.Pod != "" {
		text += " (" + r.Pod + ")"
	}
	return text + ": " + r.Outcome()
}

// Outcome says what the plugin comes to.
func (r FilterRun) Outcome() string {
	switch {
	case r.Error != "":
		return "error: " + r.Error
	case r.Failed == nil:
		return "passes"
	case r.Failed.Unresolvable:
		return "fails, unresolvable"
	default:
		return "fails"
	}
}
