package filter

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
)

// PodTopologySpread: with the preemptor on the node, its domain may hold at most
// maxSkew matching pods more than the emptiest eligible domain does; than none, if
// there are fewer eligible domains than minDomains (API reference,
// TopologySpreadConstraint; KEP-895, KEP-3022). The pods of other nodes are as they
// are: preemption is about one node. Of nominated pods, just those nominated to
// this one are looked at.
type PodTopologySpread struct{}

// Name implements Plugin.
func (PodTopologySpread) Name() string { return "PodTopologySpread" }

// PreFilter implements Plugin. Constraints that say ScheduleAnyway only score. The
// defaults do so too, if no others are configured (podtopologyspread/plugin.go:46@v1.37.1).
func (PodTopologySpread) PreFilter(s *Snapshot) (State, Answer) {
	p := s.Preemptor.Pod
	st := &SpreadState{}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable != v1.DoNotSchedule {
			continue
		}
		constraint := &SpreadConstraint{TopologySpreadConstraint: c, Selector: SpreadSelector(c, p.Labels), minDomains: int(ptr.Deref(c.MinDomains, 1))}
		if constraint.Selector.Matches(labels.Set(p.Labels)) {
			constraint.self = 1
		}
		st.Constraints = append(st.Constraints, constraint)
	}
	if len(st.Constraints) == 0 {
		return nil, Answer{}
	}
	for _, c := range st.Constraints {
		c.count(s, st.Constraints)
	}
	return st, Answer{}
}

// SpreadSelector is the labelSelector, where none matches no pod and an empty one
// every pod (API reference, LabelSelector), and the preemptor's values of
// matchLabelKeys, of those keys that it has (KEP-3243). The API server merges
// these into the labelSelector of pods that it creates, which asks for the same
// twice (registry/core/pod/strategy.go:941@v1.37.1).
func SpreadSelector(c *v1.TopologySpreadConstraint, own map[string]string) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
	if err != nil || c.LabelSelector == nil {
		return labels.Nothing()
	}
	for _, key := range c.MatchLabelKeys {
		if value, ok := own[key]; ok {
			also, _ := labels.SelectorFromSet(labels.Set{key: value}).Requirements()
			selector = selector.Add(also...)
		}
	}
	return selector
}

// SpreadState is the State of PodTopologySpread.
type SpreadState struct {
	// Constraints are those of the preemptor that have to be satisfied.
	Constraints []*SpreadConstraint
}

// SpreadConstraint is a constraint with what it makes of the nodes and pods.
type SpreadConstraint struct {
	*v1.TopologySpreadConstraint
	Selector   labels.Selector
	minDomains int
	self       int // 1 if the preemptor matches the selector itself

	// Nodes are by Node.Index.
	Nodes []SpreadNode
	// Domains are the values that the node label TopologyKey has.
	Domains []SpreadDomain
	// Selects tells which pods are of the preemptor's namespace (docs: concepts/
	// scheduling-eviction/topology-spread-constraints, "Implicit conventions") and
	// match the selector, by Pod.Index.
	Selects []bool
	// Counts tells which of these count: terminating pods do not, they make room for
	// those that replace them (kubernetes#87845).
	Counts []bool
}

// SpreadNode is what a constraint makes of a node.
type SpreadNode struct {
	// Domain is the index of the node's domain; -1 without the key.
	Domain int
	// Eligible tells whether the node's pods, and its domain, count.
	Eligible bool
	// Standing is how many of the pods bound to the node count.
	Standing int
}

// SpreadDomain is what a constraint makes of a domain.
type SpreadDomain struct {
	// Eligible tells whether one of its nodes is.
	Eligible bool
	// Standing is how many of the pods bound to its eligible nodes count.
	Standing int
}

// count works out what the constraint, one of all, makes of every node and pod.
func (c *SpreadConstraint) count(s *Snapshot, all []*SpreadConstraint) {
	c.Nodes, c.Selects, c.Counts = make([]SpreadNode, len(s.Nodes)), make([]bool, s.Size()), make([]bool, s.Size())
	s.Placed(func(_ *Node, p *Pod) {
		c.Selects[p.Index] = p.Namespace == s.Preemptor.Namespace && c.Selector.Matches(labels.Set(p.Labels))
		c.Counts[p.Index] = c.Selects[p.Index] && p.DeletionTimestamp == nil
	})
	topology := newTopology(c.TopologyKey, s.Nodes)
	c.Domains = make([]SpreadDomain, topology.size)
	for i, n := range s.Nodes {
		at := SpreadNode{topology.Domains[i], c.eligible(s, n.Node, all), c.counted(n.Pods)}
		if at.Eligible {
			d := &c.Domains[at.Domain]
			d.Eligible, d.Standing = true, d.Standing+at.Standing
		}
		c.Nodes[i] = at
	}
}

// eligible tells whether a node and its pods are looked at: it has the keys of all
// constraints (docs: as above), and what nodes the policies leave out are not the
// preemptor's: by default those that its node affinity or selector does not match,
// while taints do not matter (API reference, TopologySpreadConstraint; KEP-3094).
func (c *SpreadConstraint) eligible(s *Snapshot, n *v1.Node, all []*SpreadConstraint) bool {
	for _, other := range all {
		if _, ok := n.Labels[other.TopologyKey]; !ok {
			return false
		}
	}
	const honor = v1.NodeInclusionPolicyHonor
	if ptr.Deref(c.NodeAffinityPolicy, honor) == honor && !MatchesNodeAffinity(s.Preemptor.Pod, n) {
		return false
	}
	return ptr.Deref(c.NodeTaintsPolicy, v1.NodeInclusionPolicyIgnore) != honor || tolerationsOf(s).tolerateAll(n)
}

// counted is how many of pods count.
func (c *SpreadConstraint) counted(pods []*Pod) int {
	count := 0
	for _, p := range pods {
		if c.Counts[p.Index] {
			count++
		}
	}
	return count
}

const spreadReason = "node(s) didn't match pod topology spread constraints"

// Fits implements State. The constraints are asked in turn.
func (st *SpreadState) Fits(n *Node, v View) *Verdict {
	for _, c := range st.Constraints {
		if verdict := c.FitsWith(n, c.counted(v.Pods)); verdict != nil {
			return verdict
		}
	}
	return nil
}

// FitsWith judges the preemptor on a node with that number of pods that count. A
// node without the key never holds it.
func (c *SpreadConstraint) FitsWith(n *Node, counted int) *Verdict {
	at := c.Nodes[n.Index]
	if at.Domain < 0 {
		return Unresolvable(spreadReason + " (missing required label)")
	}
	own, least, known := c.Domains[at.Domain].Standing, 0, 0
	if at.Eligible {
		own += counted - at.Standing
	}
	for d := range c.Domains {
		if !c.Domains[d].Eligible {
			continue
		}
		count := c.Domains[d].Standing
		if d == at.Domain {
			count = own
		}
		if known == 0 || count < least {
			least = count
		}
		known++
	}
	if known < c.minDomains {
		least = 0
	}
	if own+c.self-least > int(c.MaxSkew) {
		return Resolvable(spreadReason)
	}
	return nil
}

// Alike implements State.
func (st *SpreadState) Alike(a, b *Pod) bool {
	for _, c := range st.Constraints {
		if c.Selects[a.Index] != c.Selects[b.Index] || c.Counts[a.Index] != c.Counts[b.Index] {
			return false
		}
	}
	return true
}
