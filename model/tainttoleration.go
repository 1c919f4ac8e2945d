package model

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
)

// GateTaintComparison names the gate that lets tolerations use Gt and Lt
// (KEP-5471); off by default at v1.37.1.
const GateTaintComparison = "TaintTolerationComparisonOperators"

// nodeUnschedulableFails: a cordoned node takes only pods that tolerate the
// taint of cordoned nodes (docs: concepts/architecture/nodes, "Manual Node
// administration").
func nodeUnschedulableFails(q *question, n *node, _ view) *Verdict {
	cordon := v1.Taint{Key: v1.TaintNodeUnschedulable, Effect: v1.TaintEffectNoSchedule}
	if n.Spec.Unschedulable && !q.tolerates(&cordon) {
		return unresolvable("node(s) were unschedulable")
	}
	return nil
}

// taintTolerationFails: every NoSchedule and NoExecute taint of the node has to
// be tolerated (docs: concepts/scheduling-eviction/taint-and-toleration).
func taintTolerationFails(q *question, n *node, _ view) *Verdict {
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if (t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute) && !q.tolerates(t) {
			return unresolvable("node(s) had untolerated taint(s)")
		}
	}
	return nil
}

func (q *question) tolerates(taint *v1.Taint) bool {
	for i := range q.preemptor.Spec.Tolerations {
		if q.tolerationMatches(&q.preemptor.Spec.Tolerations[i], taint) {
			return true
		}
	}
	return false
}

// tolerationMatches: an empty effect matches all effects, an empty key all keys;
// an empty operator means Equal (API reference, Toleration).
func (q *question) tolerationMatches(t *v1.Toleration, taint *v1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", v1.TolerationOpEqual:
		return t.Value == taint.Value
	case v1.TolerationOpExists:
		return true
	case v1.TolerationOpGt, v1.TolerationOpLt:
		if !q.cluster.Settings.FeatureGates[GateTaintComparison] {
			return false
		}
		tolerated, ok1 := decimalInteger(t.Value)
		has, ok2 := decimalInteger(taint.Value)
		if !ok1 || !ok2 {
			return false
		}
		if t.Operator == v1.TolerationOpGt {
			return has > tolerated
		}
		return has < tolerated
	}
	return false
}

// decimalInteger reads a number that can be compared: 64 bits, without a sign of
// plus or zeros in front (KEP-5471; decimal_int.go:31@v0.37.1, IsDecimalInteger).
func decimalInteger(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}
