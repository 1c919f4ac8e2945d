package contract

// What is counted of a plugin (properties.Result.Plugins).
const (
	AskedIncremental  = "lists of changes told"
	AskedPure         = "states asked again"
	AskedSkip         = "changes after Skip"
	AskedLeftOut      = "nodes left out"
	AskedUnresolvable = "unresolvable nodes with pods to remove"
	AskedNoErrors     = "clusters"
	AskedReasons      = "rejections explained"
	AskedUndone       = "reservations undone"
	AskedKept         = "reservations in the way of another pod"
	// Rejected are nodes with pods to remove that a plugin rejects, Helpless those of them of which it says Unschedulable although no removal helps.
	Rejected = "rejected nodes with pods to remove"
	Helpless = "Unschedulable although no removal helps"
	// Turned are events that turn a rejection into a pass. Of the others, InVain woke the pod all the same, and Slept did not.
	Turned = "events that help"
	InVain = "events in vain that wake"
	Slept  = "events in vain that do not"
	// Removals are those from nodes that a plugin passes, NotMonotone those after which it does not any more.
	Removals    = "removals from nodes that pass"
	NotMonotone = "removals that turn a pass into a rejection"
)
