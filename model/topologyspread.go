package model

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// spreadRules is how pods are counted for topology spread constraints.
type spreadRules struct {
	countsSelf       bool // the preemptor, where it will be
	countsNamespace  bool // just pods of the preemptor's namespace
	skipsTerminating bool
	needsAllKeys     bool // nodes without the key of any constraint are left out
	minimum          bool // the emptiest domain is what others are compared to

	// Quirks: see Quirk.
	terminatingUncounted bool
	emptySelectorCounts0 bool
	leftOutCounted       bool
}

func documentedSpread() spreadRules {
	return spreadRules{countsSelf: true, countsNamespace: true, skipsTerminating: true, needsAllKeys: true, minimum: true}
}

// spreadConstraint is a constraint of the preemptor that has to be satisfied:
// its domains, the values of a node label, may differ by at most maxSkew in how
// many pods they hold of those that selector matches.
type spreadConstraint struct {
	*v1.TopologySpreadConstraint
	selector   labels.Selector
	minDomains int
	self       int // 1 if the preemptor matches the selector itself
	domains    int // how many there are, those of ineligible nodes included
}

// spreadConstraints: those that say ScheduleAnyway only score. The cluster's
// defaults do so too (podtopologyspread/plugin.go:46@v1.37.1).
func spreadConstraints(p *v1.Pod, rules *Rules) []*spreadConstraint {
	var constraints []*spreadConstraint
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		if c.WhenUnsatisfiable != v1.DoNotSchedule {
			continue
		}
		constraint := &spreadConstraint{TopologySpreadConstraint: c, selector: spreadSelector(c, p.Labels), minDomains: 1}
		if c.MinDomains != nil {
			constraint.minDomains = int(*c.MinDomains)
		}
		if rules.spread.countsSelf && constraint.selector.Matches(labels.Set(p.Labels)) {
			constraint.self = 1
		}
		constraints = append(constraints, constraint)
	}
	return constraints
}

// spreadSelector is the labelSelector, where none matches no pod and an empty
// one every pod (API reference, LabelSelector), and the preemptor's values of
// matchLabelKeys, of those keys that it has (KEP-3243). The API server merges
// these into the labelSelector of pods that it creates, which asks for the same
// twice (registry/core/pod/strategy.go:941@v1.37.1).
func spreadSelector(c *v1.TopologySpreadConstraint, own map[string]string) labels.Selector {
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

// spreadNode is what the constraints make of a node, one entry for each.
type spreadNode struct {
	domain   []int  // the number of the node's domain; -1 without the key
	eligible []bool // the node's pods, and its domain, count
	standing []int  // how many of the pods bound to the node count
}

// placeForSpread works out what the constraints make of every node and pod.
func (q *question) placeForSpread() {
	q.spread = spreadConstraints(q.cluster.Preemptor, q.rules)
	if len(q.spread) == 0 {
		return
	}
	numbers := make([]map[string]int, len(q.spread))
	for i := range numbers {
		numbers[i] = map[string]int{}
	}
	for _, n := range q.nodes {
		s := spreadNode{make([]int, len(q.spread)), make([]bool, len(q.spread)), make([]int, len(q.spread))}
		for _, list := range [][]*pod{n.pods, n.nominated} {
			for _, p := range list {
				p.spread = q.spreadMatches(p)
			}
		}
		for i, c := range q.spread {
			s.domain[i] = -1
			if value, ok := n.Labels[c.TopologyKey]; ok {
				if _, known := numbers[i][value]; !known {
					numbers[i][value] = len(numbers[i])
				}
				s.domain[i] = numbers[i][value]
			}
			s.eligible[i] = s.domain[i] >= 0 && q.spreadEligible(c, n)
			s.standing[i] = q.spreadCount(i, n, n.pods)
		}
		n.spread = s
	}
	for i, c := range q.spread {
		c.domains = len(numbers[i])
	}
}

// spreadEligible tells whether a node and its pods are looked at: it has the
// keys of all constraints (docs: concepts/scheduling-eviction/
// topology-spread-constraints, "Implicit conventions"), and what nodes the
// policies leave out are not the preemptor's: by default those that its node
// affinity or selector does not match, while taints do not matter (API
// reference, TopologySpreadConstraint; KEP-3094).
func (q *question) spreadEligible(c *spreadConstraint, n *node) bool {
	if q.rules.spread.needsAllKeys {
		for _, other := range q.spread {
			if _, ok := n.Labels[other.TopologyKey]; !ok {
				return false
			}
		}
	}
	honour := func(policy *v1.NodeInclusionPolicy, byDefault v1.NodeInclusionPolicy) bool {
		if policy == nil {
			policy = &byDefault
		}
		return *policy == v1.NodeInclusionPolicyHonor
	}
	if honour(c.NodeAffinityPolicy, v1.NodeInclusionPolicyHonor) && nodeAffinityFails(q, n, view{}) != nil {
		return false
	}
	return !honour(c.NodeTaintsPolicy, v1.NodeInclusionPolicyIgnore) || taintTolerationFails(q, n, view{}) == nil
}

// spreadMatches tells which constraints count p, were it not terminating: pods
// of the preemptor's namespace only (docs: as above, "Implicit conventions").
func (q *question) spreadMatches(p *pod) []bool {
	matches := make([]bool, len(q.spread))
	for i, c := range q.spread {
		matches[i] = (p.Namespace == q.preemptor.Namespace || !q.rules.spread.countsNamespace) && c.selector.Matches(labels.Set(p.Labels))
	}
	return matches
}

// spreadCount is how many pods constraint i counts on n if it holds just pods.
// Pods that are terminating do not count: they make room for those that replace
// them (kubernetes#87845).
func (q *question) spreadCount(i int, n *node, pods []*pod) int {
	if q.rules.spread.terminatingUncounted || q.rules.spread.emptySelectorCounts0 {
		return q.spreadCountQuirky(i, n, pods)
	}
	count := 0
	for _, p := range pods {
		if p.spread[i] && !(p.DeletionTimestamp != nil && q.rules.spread.skipsTerminating) {
			count++
		}
	}
	return count
}

// spreadCountQuirky counts as upstream does: the pods bound to the node first,
// and then it adds and takes away what differs, by other rules.
func (q *question) spreadCountQuirky(i int, n *node, pods []*pod) int {
	count := 0
	alive := func(p *pod) bool { return p.DeletionTimestamp == nil }
	for _, p := range n.pods {
		if p.spread[i] && alive(p) && !(q.rules.spread.emptySelectorCounts0 && q.spread[i].selector.Empty()) {
			count++
		}
	}
	differ := func(p *pod, others []*pod) bool {
		return p.spread[i] && (alive(p) || q.rules.spread.terminatingUncounted) && !slices.Contains(others, p)
	}
	for _, p := range pods {
		if differ(p, n.pods) {
			count++
		}
	}
	for _, p := range n.pods {
		if differ(p, pods) {
			count--
		}
	}
	return count
}

const spreadReason = "node(s) didn't match pod topology spread constraints"

// topologySpreadFails: with the preemptor on the node, its domain may hold at
// most maxSkew matching pods more than the emptiest eligible domain does; than
// none, if there are fewer eligible domains than minDomains (API reference,
// TopologySpreadConstraint; KEP-895, KEP-3022). A node without the key never
// holds the pod. The constraints are asked in turn. The pods of other nodes, and
// of pods nominated to some, only those nominated to this one, are as they are:
// preemption is about one node.
func topologySpreadFails(q *question, n *node, v view) *Verdict {
	for i, c := range q.spread {
		own := n.spread.domain[i]
		if own < 0 {
			return unresolvable(spreadReason + " (missing required label)")
		}
		counts, eligible := make([]int, c.domains), make([]bool, c.domains)
		for _, m := range q.nodes {
			d := m.spread.domain[i]
			switch {
			case m.spread.eligible[i]:
				eligible[d] = true
				if m == n {
					counts[d] += q.spreadCount(i, n, v.pods)
				} else {
					counts[d] += m.spread.standing[i]
				}
			case d >= 0 && q.rules.spread.leftOutCounted && q.spreadKnows(i, d):
				counts[d] += m.spread.standing[i]
			}
		}
		least, known := 0, 0
		for d, count := range counts {
			if eligible[d] {
				if known == 0 || count < least {
					least = count
				}
				known++
			}
		}
		if known < c.minDomains || !q.rules.spread.minimum {
			least = 0
		}
		if counts[own]+c.self-least > int(c.MaxSkew) {
			return resolvable(spreadReason)
		}
	}
	return nil
}

// spreadKnows tells whether an eligible node is in a domain.
func (q *question) spreadKnows(i, domain int) bool {
	return slices.ContainsFunc(q.nodes, func(m *node) bool { return m.spread.eligible[i] && m.spread.domain[i] == domain })
}

// unknownDomain tells whether a constraint selects one of some pods that come to
// a node, or go, though no eligible node is in the node's domain. Only the quirk
// UnknownDomainPanics asks.
func (q *question) unknownDomain(n *node, pods []*pod) bool {
	for i := range q.spread {
		unknown := n.spread.domain[i] >= 0 && !q.spreadKnows(i, n.spread.domain[i])
		for _, c := range q.spread { // a node without one of the keys is passed over
			_, has := n.Labels[c.TopologyKey]
			unknown = unknown && has
		}
		if unknown && slices.ContainsFunc(pods, func(p *pod) bool { return p.spread[i] }) {
			return true
		}
	}
	return false
}
