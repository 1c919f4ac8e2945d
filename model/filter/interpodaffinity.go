package filter

import "slices"

// NoPeers is why a node is rejected on which a pod is not with those that it has to be with.
const NoPeers = "node(s) didn't match pod affinity rules"

// InterPodAffinity is about the pods that the preemptor has to be with, those that
// it must not be with, and those that must not be with it. Affinity is the
// preemptor's alone; anti-affinity is symmetric (docs: concepts/
// scheduling-eviction/assign-pod-node, "Inter-pod affinity and anti-affinity";
// design-proposals podaffinity.md).
type InterPodAffinity struct{}

// Name implements Plugin.
func (InterPodAffinity) Name() string { return "InterPodAffinity" }

// PreFilter implements Plugin.
func (InterPodAffinity) PreFilter(s *Snapshot) (State, Answer) {
	if !anyTerms(s) {
		return nil, Answer{}
	}
	p, namespaces := s.Preemptor.Pod, namespaceLabels(s)
	affinity, anti := podTerms(p, RequiredAffinity(p)), podTerms(p, RequiredAntiAffinity(p))
	st := &InterPodAffinityState{SelectsItself: true, Labelled: make([]bool, len(s.Nodes)), Relations: make([]Relation, s.Size()), nodes: s.Nodes}
	topologies := map[string]*Topology{}
	topology := func(t *podTerm) *Topology {
		if topologies[t.topologyKey] == nil {
			topologies[t.topologyKey] = newTopology(t.topologyKey, s.Nodes)
		}
		return topologies[t.topologyKey]
	}
	for _, t := range affinity {
		st.Affinity = append(st.Affinity, topology(t))
		st.SelectsItself = st.SelectsItself && t.selects(p, namespaces)
	}
	for _, t := range anti {
		st.AntiAffinity = append(st.AntiAffinity, topology(t))
	}
	for i := range s.Nodes {
		st.Labelled[i] = !slices.ContainsFunc(st.Affinity, func(t *Topology) bool { return t.Domains[i] < 0 })
	}
	related := len(affinity)+len(anti) > 0
	s.Placed(func(_ *Node, other *Pod) {
		r := &st.Relations[other.Index]
		for _, t := range affinity {
			r.Affinity = append(r.Affinity, t.selects(other.Pod, namespaces))
		}
		r.Member = len(affinity) > 0 && !slices.Contains(r.Affinity, false)
		for _, t := range anti {
			if t.selects(other.Pod, namespaces) {
				r.AntiAffinity = append(r.AntiAffinity, topology(t))
			}
		}
		for _, t := range podTerms(other.Pod, RequiredAntiAffinity(other.Pod)) {
			if t.selects(p, namespaces) {
				r.Existing = append(r.Existing, topology(t))
				related = true
			}
		}
	})
	if !related {
		return nil, Answer{}
	}
	st.Count()
	return st, Answer{}
}

// anyTerms tells whether the preemptor has affinity or anti-affinity, or a pod that is
// bound or nominated to a node has anti-affinity.
func anyTerms(s *Snapshot) bool {
	p := s.Preemptor.Pod
	found := len(RequiredAffinity(p))+len(RequiredAntiAffinity(p)) > 0
	s.Placed(func(_ *Node, other *Pod) { found = found || len(RequiredAntiAffinity(other.Pod)) > 0 })
	return found
}

// InterPodAffinityState is the State of InterPodAffinity.
type InterPodAffinityState struct {
	// Affinity and AntiAffinity are the topologies of the preemptor's terms.
	Affinity, AntiAffinity []*Topology
	// SelectsItself tells whether all terms of the preemptor's affinity select the
	// preemptor.
	SelectsItself bool
	// Labelled tells which nodes have the labels of all terms of the preemptor's
	// affinity, by Node.Index.
	Labelled []bool
	// Relations are by Pod.Index. Count has to be called when they have changed.
	Relations []Relation

	nodes     []*Node
	elsewhere []elsewhere // by Node.Index
}

// Relation is what the preemptor and a pod that is bound, or nominated, to a node
// mean to each other.
type Relation struct {
	// Affinity tells which terms of the preemptor's affinity select the pod.
	Affinity []bool
	// Member tells whether all do.
	Member bool
	// AntiAffinity are the topologies of those terms of the preemptor's anti-affinity
	// that select the pod.
	AntiAffinity []*Topology
	// Existing are the topologies of those terms of the pod's own anti-affinity that
	// select the preemptor.
	Existing []*Topology
}

// elsewhere is what the pods bound to all nodes but one mean to the preemptor there.
type elsewhere struct {
	affinity                       []bool // a pod that the term selects is in the node's domain
	member, antiAffinity, existing bool
}

// Fits implements State. It judges in the order in which reasons are reported: no
// pod to go with, which removing pods does not resolve (docs: concepts/
// scheduling-eviction/pod-priority-preemption, "Inter-Pod affinity on
// lower-priority Pods"); the preemptor's anti-affinity; that of existing pods.
func (st *InterPodAffinityState) Fits(n *Node, v View) *Verdict {
	switch {
	case !st.AffinityMet(n, v) && !st.FirstOfGroup(n, v):
		return Unresolvable(NoPeers)
	case st.antiAffinityViolated(n, v):
		return Resolvable("node(s) didn't match pod anti-affinity rules")
	case st.ExistingViolated(n, v):
		return Resolvable("node(s) didn't satisfy existing pods anti-affinity rules")
	}
	return nil
}

// AffinityMet tells whether for each term of the preemptor's affinity a pod that the
// term selects is in the node's domain ("the lists of nodes corresponding to each
// podAffinityTerm are intersected", API reference, PodAffinity).
func (st *InterPodAffinityState) AffinityMet(n *Node, v View) bool {
	for i, t := range st.Affinity {
		if !st.elsewhere[n.Index].affinity[i] &&
			(t.Domains[n.Index] < 0 || !slices.ContainsFunc(v.Pods, func(p *Pod) bool { return st.Relations[p.Index].Affinity[i] })) {
			return false
		}
	}
	return true
}

// FirstOfGroup tells whether the preemptor may be the first of the pods that its
// affinity selects: it is one of them itself, no other one is in the cluster, and
// the node has all the labels (docs: assign-pod-node, "Scheduling Behavior";
// filtering.go:769@v1.37.1).
func (st *InterPodAffinityState) FirstOfGroup(n *Node, v View) bool {
	return st.SelectsItself && st.Labelled[n.Index] && !st.elsewhere[n.Index].member &&
		!slices.ContainsFunc(v.Pods, func(p *Pod) bool { return st.Relations[p.Index].Member })
}

// antiAffinityViolated tells whether the preemptor's anti-affinity selects a pod in
// the node's domain.
func (st *InterPodAffinityState) antiAffinityViolated(n *Node, v View) bool {
	return st.elsewhere[n.Index].antiAffinity ||
		slices.ContainsFunc(v.Pods, func(p *Pod) bool { return InAny(st.Relations[p.Index].AntiAffinity, n) })
}

// ExistingViolated tells whether the anti-affinity of a pod in the node's domain
// selects the preemptor.
func (st *InterPodAffinityState) ExistingViolated(n *Node, v View) bool {
	return st.elsewhere[n.Index].existing ||
		slices.ContainsFunc(v.Pods, func(p *Pod) bool { return InAny(st.Relations[p.Index].Existing, n) })
}

// Alike implements State.
func (st *InterPodAffinityState) Alike(a, b *Pod) bool {
	x, y := &st.Relations[a.Index], &st.Relations[b.Index]
	return slices.Equal(x.Affinity, y.Affinity) && slices.Equal(x.AntiAffinity, y.AntiAffinity) && slices.Equal(x.Existing, y.Existing)
}

// Count works out what the pods bound to other nodes mean to the preemptor on each
// node.
func (st *InterPodAffinityState) Count() {
	all := tally{make([][]int, len(st.Affinity)), 0, map[*Topology][]int{}, map[*Topology][]int{}}
	for i, t := range st.Affinity {
		all.affinity[i] = make([]int, t.size)
	}
	for _, n := range st.nodes {
		st.add(&all, n, 1)
	}
	st.elsewhere = make([]elsewhere, len(st.nodes))
	for i, n := range st.nodes {
		st.add(&all, n, -1)
		e := &st.elsewhere[i]
		for term, t := range st.Affinity {
			e.affinity = append(e.affinity, t.Domains[i] >= 0 && all.affinity[term][t.Domains[i]] > 0)
		}
		e.member, e.antiAffinity, e.existing = all.members > 0, anyThere(all.antiAffinity, i), anyThere(all.existing, i)
		st.add(&all, n, 1)
	}
}

// tally counts pods, by domain.
type tally struct {
	affinity               [][]int // by term of the preemptor's affinity
	members                int
	antiAffinity, existing map[*Topology][]int
}

// add counts the pods bound to n, each as many as weight.
func (st *InterPodAffinityState) add(to *tally, n *Node, weight int) {
	count := func(counts map[*Topology][]int, topologies []*Topology) {
		for _, t := range topologies {
			if counts[t] == nil {
				counts[t] = make([]int, t.size)
			}
			if d := t.Domains[n.Index]; d >= 0 {
				counts[t][d] += weight
			}
		}
	}
	for _, p := range n.Pods {
		r := &st.Relations[p.Index]
		for i, selected := range r.Affinity {
			if d := st.Affinity[i].Domains[n.Index]; selected && d >= 0 {
				to.affinity[i][d] += weight
			}
		}
		if r.Member {
			to.members += weight
		}
		count(to.antiAffinity, r.AntiAffinity)
		count(to.existing, r.Existing)
	}
}

// anyThere tells whether a pod is counted in one of a node's domains.
func anyThere(counts map[*Topology][]int, node int) bool {
	for t, count := range counts {
		if d := t.Domains[node]; d >= 0 && count[d] > 0 {
			return true
		}
	}
	return false
}
