// Package unit says which pods are preempted together. Preemption takes units: a pod,
// or all pods of a group that can only be disrupted together (KEP-5710, "Preemption
// unit").
package unit

import (
	"time"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Unit is what is preempted together, on all nodes, or not at all.
type Unit struct {
	Key  string // namespace/name of the pod
	Pods []*filter.Pod
	// Priority is that of all its pods.
	Priority int32
	// Start is when the first of its pods started.
	Start time.Time
}

// Units are those of a cluster. They are not for several goroutines at once.
type Units struct {
	on [][]*Unit // by Node.Index; nil where nobody has asked
}

// Of are the units of a cluster.
func Of(s *filter.Snapshot) *Units {
	return &Units{on: make([][]*Unit, len(s.Nodes))}
}

// On are the units that have a pod on a node, in the order in which the node lists
// their first pods.
func (us *Units) On(n *filter.Node) []*Unit {
	if us.on[n.Index] == nil {
		all := make([]Unit, len(n.Pods)) // in one piece
		on := make([]*Unit, len(n.Pods))
		for i, p := range n.Pods {
			all[i] = Unit{p.Key, n.Pods[i : i+1 : i+1], p.Priority, p.Start}
			on[i] = &all[i]
		}
		us.on[n.Index] = on
	}
	return us.on[n.Index]
}

// On are the pods of the unit that are on a node.
func (u *Unit) On(*filter.Node) []*filter.Pod {
	return u.Pods
}
