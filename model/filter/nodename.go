package filter

import v1 "k8s.io/api/core/v1"

// NodeName: a pod that names its node runs nowhere else (API reference,
// PodSpec.nodeName).
type NodeName struct{}

// Name implements Plugin.
func (NodeName) Name() string { return "NodeName" }

// PreFilter implements Plugin.
func (NodeName) PreFilter(s *Snapshot) (State, Answer) {
	want := s.Preemptor.Spec.NodeName
	if want == "" {
		return nil, Answer{}
	}
	return EachNode(func(n *v1.Node) *Verdict {
		if want != n.Name {
			return Unresolvable("node(s) didn't match the requested node name")
		}
		return nil
	}), Answer{}
}
