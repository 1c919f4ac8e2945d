package filter

import (
	"strconv"

	v1 "k8s.io/api/core/v1"
)

// GateTaintComparison names the gate that lets tolerations use Gt and Lt
// (KEP-5471); off by default at v1.37.1.
const GateTaintComparison = "TaintTolerationComparisonOperators"

// TaintToleration: every NoSchedule and NoExecute taint of the node has to be
// tolerated (docs: concepts/scheduling-eviction/taint-and-toleration).
type TaintToleration struct{}

// Name implements Plugin.
func (TaintToleration) Name() string { return "TaintToleration" }

// PreFilter implements Plugin.
func (TaintToleration) PreFilter(s *Snapshot) (State, Answer) {
	tolerations := tolerationsOf(s)
	return EachNode(func(n *v1.Node) *Verdict {
		if !tolerations.tolerateAll(n) {
			return Unresolvable("node(s) had untolerated taint(s)")
		}
		return nil
	}), Answer{}
}

// tolerations are those of the preemptor.
type tolerations struct {
	list     []v1.Toleration
	compares bool // GateTaintComparison is on
}

func tolerationsOf(s *Snapshot) tolerations {
	return tolerations{s.Preemptor.Spec.Tolerations, s.FeatureGates[GateTaintComparison]}
}

// tolerateAll tells whether no taint keeps the preemptor from the node.
func (ts tolerations) tolerateAll(n *v1.Node) bool {
	for i := range n.Spec.Taints {
		t := &n.Spec.Taints[i]
		if (t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute) && !ts.tolerate(t) {
			return false
		}
	}
	return true
}

func (ts tolerations) tolerate(taint *v1.Taint) bool {
	for i := range ts.list {
		if ts.matches(&ts.list[i], taint) {
			return true
		}
	}
	return false
}

// matches: an empty effect matches all effects, an empty key all keys; an empty
// operator means Equal (API reference, Toleration).
func (ts tolerations) matches(t *v1.Toleration, taint *v1.Taint) bool {
	if t.Effect != "" && t.Effect != taint.Effect || t.Key != "" && t.Key != taint.Key {
		return false
	}
	switch t.Operator {
	case "", v1.TolerationOpEqual:
		return t.Value == taint.Value
	case v1.TolerationOpExists:
		return true
	case v1.TolerationOpGt, v1.TolerationOpLt:
		tolerated, ok1 := decimalInteger(t.Value)
		has, ok2 := decimalInteger(taint.Value)
		if !ts.compares || !ok1 || !ok2 {
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
// plus or zeros in front (KEP-5471; decimal_int.go:30@v0.37.1, IsDecimalInteger).
func decimalInteger(s string) (n int64, ok bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == s
}
