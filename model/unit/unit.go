// Package unit says which pods are preempted together. Preemption takes units: a pod,
// or all pods of a group that can only be disrupted together (KEP-5710, "Preemption
// unit").
package unit

import (
	"cmp"
	"slices"
	"time"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Kind is what a unit is: the higher, the more important.
type Kind int

// The kinds. A pod of a group whose pods can be disrupted independently is a Pod.
const (
	Pod Kind = iota
	PodGroup
	Composite
)

func (k Kind) String() string {
	switch k {
	case PodGroup:
		return "PodGroup"
	case Composite:
		return "CompositePodGroup"
	default:
		return "Pod"
	}
}

// Unit is what is preempted together, on all nodes, or not at all.
type Unit struct {
	Key  string // namespace/name of the pod, or of the group
	Kind Kind
	// Pods are all that are bound, on whatever node, also if it does not exist; in the
	// cluster's order.
	Pods []*filter.Pod
	// Priority is that of all its pods.
	Priority int32
	// Start is when the first of its pods started.
	Start time.Time
}

// Units are those of a cluster. They are not for several goroutines at once.
type Units struct {
	groups *Groups
	on     [][]*Unit // by Node.Index; nil where nobody has asked
	whole  map[*Group]*Unit
}

// Of are the units of a cluster with these groups.
func Of(s *filter.Snapshot, groups *Groups) *Units {
	us := &Units{groups, make([][]*Unit, len(s.Nodes)), map[*Group]*Unit{}}
	if groups.AnyWhole() {
		s.Bound(us.gather)
		for _, u := range us.whole {
			slices.SortFunc(u.Pods, func(a, b *filter.Pod) int { return cmp.Compare(a.Index, b.Index) })
		}
	}
	return us
}

// Listed are units that are said to be on the nodes, by Node.Index. Each node has a list, if only an empty one.
func Listed(on [][]*Unit) *Units { return &Units{on: on} }

// gather adds a pod to the unit that it is a part of, if any.
func (us *Units) gather(p *filter.Pod) {
	g := us.groups.Whole(p.Pod)
	if g == nil {
		return
	}
	u := us.whole[g]
	if u == nil {
		u = &Unit{Key: g.Key, Kind: g.Kind, Priority: p.Priority, Start: p.Start}
		us.whole[g] = u
	}
	u.Pods = append(u.Pods, p)
	if p.Start.Before(u.Start) {
		u.Start = p.Start
	}
}

// On are the units that have a pod on a node, in the order in which the node lists
// their first pods.
func (us *Units) On(n *filter.Node) []*Unit {
	if us.on[n.Index] == nil {
		all := make([]Unit, len(n.Pods)) // in one piece
		on := make([]*Unit, 0, len(n.Pods))
		for i, p := range n.Pods {
			u := &all[i]
			if g := us.groups.Whole(p.Pod); g == nil {
				*u = Unit{p.Key, Pod, n.Pods[i : i+1 : i+1], p.Priority, p.Start}
			} else if u = us.whole[g]; slices.Contains(on, u) {
				continue
			}
			on = append(on, u)
		}
		us.on[n.Index] = on
	}
	return us.on[n.Index]
}

// On are the pods of the unit that are on a node.
func (u *Unit) On(n *filter.Node) []*filter.Pod {
	return u.those(func(p *filter.Pod) bool { return p.Node != nil && p.Node.Index == n.Index })
}

// Elsewhere are the pods of the unit that are on other nodes.
func (u *Unit) Elsewhere(n *filter.Node) []*filter.Pod {
	return u.those(func(p *filter.Pod) bool { return p.Node != nil && p.Node.Index != n.Index })
}

func (u *Unit) those(are func(*filter.Pod) bool) (pods []*filter.Pod) {
	first := slices.IndexFunc(u.Pods, are)
	switch {
	case first < 0:
		return nil
	case len(u.Pods) == 1:
		return u.Pods
	}
	for _, p := range u.Pods[first:] {
		if are(p) {
			pods = append(pods, p)
		}
	}
	return pods
}
