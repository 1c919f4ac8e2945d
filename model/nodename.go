package model

// nodeNameFails: a pod that names its node runs nowhere else
// (API reference, PodSpec.nodeName).
func nodeNameFails(q *question, n *node, _ view) *Verdict {
	if want := q.preemptor.Spec.NodeName; want != "" && want != n.Name {
		return unresolvable("node(s) didn't match the requested node name")
	}
	return nil
}
