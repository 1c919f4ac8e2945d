package filter

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Snapshot is the cluster as the plugins see it. It does not change.
type Snapshot struct {
	Preemptor *Pod
	Nodes     []*Node
	// Homeless are the pods with an Index that are on none of Nodes: theirs does not
	// exist, or they are supposed to be gone.
	Homeless []*Pod
	// Pods are all pods of the cluster but the preemptor, also those that wait and
	// are nominated nowhere.
	Pods []*v1.Pod
	// Known are those of Pods that the scheduler counts somewhere: the bound ones,
	// and the nominated ones of its own profiles, also if there is no such node. They
	// are in the order of Pods.
	Known []*v1.Pod
	// Objects are all other objects: claims, volumes, namespaces, …
	Objects []runtime.Object
	// FeatureGates holds the gates that differ from the release's defaults.
	FeatureGates map[string]bool
}

// Node is a node with the pods that the scheduler sees there.
type Node struct {
	*v1.Node
	// Index is the node's place in Snapshot.Nodes.
	Index int
	// Pods are the pods bound to the node.
	Pods []*Pod
	// Nominated are the pods that wait for the room which an earlier preemption
	// made for them on the node.
	Nominated []*Pod
	// Moves are those by which the node came to hold Pods: see View.
	Moves []Move
}

// View is the node as it stands.
func (n *Node) View() View { return View{n.Pods, n.Moves} }

// Pod is a pod with what every rule asks of it.
type Pod struct {
	*v1.Pod
	// Index is the pod's number: 0 is the preemptor; the pods that are bound, or
	// nominated to a node, follow in the cluster's order.
	Index int
	Key   string // namespace/name
	// Node is the one that the pod is bound or nominated to, or that of a snapshot with
	// other pods on it; nil if it does not exist.
	Node *Node
	// Priority is what counts for the pod: that of its group, if it belongs to one.
	Priority int32
	Start    time.Time // when it started; a pod that has not started counts as starting now
}

// Placed calls visit for each pod that is bound or nominated to a node.
func (s *Snapshot) Placed(visit func(n *Node, p *Pod)) {
	for _, n := range s.Nodes {
		for _, p := range n.Pods {
			visit(n, p)
		}
		for _, p := range n.Nominated {
			visit(n, p)
		}
	}
}

// Bound calls visit for each pod that is bound, also to a node that does not exist.
func (s *Snapshot) Bound(visit func(p *Pod)) {
	for _, n := range s.Nodes {
		for _, p := range n.Pods {
			visit(p)
		}
	}
	for _, p := range s.Homeless {
		visit(p)
	}
}

// Without is the snapshot once pods are gone from their nodes. Nodes and pods keep
// their indices. Pods and Known stay as they are: they say what is known of the cluster.
func (s *Snapshot) Without(gone []*Pod) *Snapshot {
	out := *s
	out.Homeless = slices.Concat(s.Homeless, gone)
	out.Nodes = slices.Clone(s.Nodes)
	for _, p := range gone {
		n := *out.Nodes[p.Node.Index]
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(other *Pod) bool { return other == p })
		out.Nodes[p.Node.Index] = &n
	}
	return &out
}

// Before is the snapshot with the pods on their nodes that are gone from them, and these pods. It is s if
// there are none.
func (s *Snapshot) Before() (before *Snapshot, gone []*Pod) {
	for _, p := range s.Homeless {
		if p.Node != nil {
			gone = append(gone, p)
		}
	}
	if len(gone) == 0 {
		return s, nil
	}
	out := *s
	out.Homeless = slices.DeleteFunc(slices.Clone(s.Homeless), func(p *Pod) bool { return p.Node != nil })
	out.Nodes = slices.Clone(s.Nodes)
	for _, p := range gone {
		n := *out.Nodes[p.Node.Index]
		n.Pods = append(slices.Clip(n.Pods), p)
		out.Nodes[p.Node.Index] = &n
	}
	return &out, gone
}

// Size is the number of pods that have an Index.
func (s *Snapshot) Size() int {
	size := 1 + len(s.Homeless)
	for _, n := range s.Nodes {
		size += len(n.Pods) + len(n.Nominated)
	}
	return size
}

// View is what a node is supposed to hold while plugins are asked.
type View struct {
	// Pods are the pods on the node.
	Pods []*Pod
	// Moves are the pods that were taken from the node, and given back, to come to
	// Pods, in turn. No documented rule depends on them.
	Moves []Move
}

// Move is a pod that was taken from a node, or given back to it.
type Move struct {
	Pod  *Pod
	Back bool
}

// Away is the view once pods are taken from the node.
func (v View) Away(pods ...*Pod) View {
	out := View{make([]*Pod, 0, len(v.Pods)), v.Moves}
	for _, p := range v.Pods {
		if !slices.Contains(pods, p) {
			out.Pods = append(out.Pods, p)
		}
	}
	for _, p := range pods {
		out.Moves = append(out.Moves, Move{Pod: p})
	}
	return out
}

// Back is the view once pods that were taken away are given back.
func (v View) Back(pods ...*Pod) View {
	for _, p := range pods {
		v.Moves = append(v.Moves, Move{p, true})
	}
	return View{append(v.Pods, pods...), v.Moves}
}

// With is the view with more pods on the node.
func (v View) With(more []*Pod) View {
	return View{append(append(make([]*Pod, 0, len(v.Pods)+len(more)), v.Pods...), more...), v.Moves}
}

// Key names a namespaced object as "namespace/name".
func Key(o interface {
	GetNamespace() string
	GetName() string
}) string {
	return o.GetNamespace() + "/" + o.GetName()
}
