package filter

import v1 "k8s.io/api/core/v1"

// NodeUnschedulable: a cordoned node takes only pods that tolerate the taint of
// cordoned nodes (docs: concepts/architecture/nodes, "Manual Node administration").
type NodeUnschedulable struct{}

// Name implements Plugin.
func (NodeUnschedulable) Name() string { return "NodeUnschedulable" }

// PreFilter implements Plugin.
func (NodeUnschedulable) PreFilter(s *Snapshot) (State, Answer) {
	if tolerationsOf(s).tolerate(&v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}) {
		return nil, Answer{}
	}
	return EachNode(func(n *v1.Node) *Verdict {
		if n.Spec.Unschedulable {
			return Unresolvable("node(s) were unschedulable")
		}
		return nil
	}), Answer{}
}
