package model

import "slices"

// bonds are what the preemptor and another pod mean to each other.
type bonds struct {
	wanted   []bool   // by each term of the preemptor's affinity
	unwanted []string // topology keys of the preemptor's anti-affinity to the pod
	refuses  []string // topology keys of the pod's anti-affinity to the preemptor
}

func (b *bonds) any() bool {
	return len(b.unwanted) > 0 || len(b.refuses) > 0 || slices.Contains(b.wanted, true)
}

func (b *bonds) equal(other *bonds) bool {
	return slices.Equal(b.wanted, other.wanted) && slices.Equal(b.unwanted, other.unwanted) && slices.Equal(b.refuses, other.refuses)
}

// wantedByAll tells whether all terms of the preemptor's affinity select the pod.
func (b *bonds) wantedByAll() bool { return !slices.Contains(b.wanted, false) }

// bond works out what the pods of the cluster and the preemptor mean to each
// other. Affinity is the preemptor's alone; anti-affinity is symmetric (docs:
// concepts/scheduling-eviction/assign-pod-node, "Inter-pod affinity and
// anti-affinity"; design-proposals podaffinity.md).
func (q *question) bond() {
	p := q.preemptor
	namespaces := q.cluster.namespaceLabels()
	wants, shuns := podTerms(p.Pod, requiredAffinity(p.Pod)), podTerms(p.Pod, requiredAntiAffinity(p.Pod))
	for _, t := range wants {
		p.wanted = append(p.wanted, t.selects(p.Pod, namespaces))
		q.affinityKeys = append(q.affinityKeys, t.topologyKey)
	}
	for _, t := range shuns {
		q.antiAffinityKeys = append(q.antiAffinityKeys, t.topologyKey)
	}
	q.hasTerms = len(wants)+len(shuns) > 0
	for _, n := range q.nodes {
		for _, pods := range [][]*pod{n.pods, n.nominated} {
			for _, other := range pods {
				for _, t := range wants {
					other.wanted = append(other.wanted, t.selects(other.Pod, namespaces))
				}
				for _, t := range shuns {
					if t.selects(other.Pod, namespaces) {
						other.unwanted = append(other.unwanted, t.topologyKey)
					}
				}
				for _, t := range podTerms(other.Pod, requiredAntiAffinity(other.Pod)) {
					if t.selects(p.Pod, namespaces) {
						other.refuses = append(other.refuses, t.topologyKey)
					}
				}
				q.bonded = q.bonded || other.any()
			}
		}
		for _, other := range n.pods {
			if other.any() {
				n.bonded = append(n.bonded, other)
			}
		}
	}
}

// together tells whether two nodes are in one topology domain: both have the
// label, with the same value (API reference, PodAffinityTerm.topologyKey).
func together(a, b *node, key string) bool {
	of, ok := a.Labels[key]
	with, also := b.Labels[key]
	return ok && also && of == with
}

// interPodAffinityFails judges in the order in which reasons are reported: no pod
// to go with, which removing pods does not resolve (docs:
// concepts/scheduling-eviction/pod-priority-preemption, "Inter-Pod affinity on
// lower-priority Pods"); a pod there that the preemptor shuns; a pod there that
// shuns the preemptor.
func interPodAffinityFails(q *question, n *node, v view) *Verdict {
	if !q.hasTerms && !q.bonded || q.rules.nominatedRefusalsSkipped && q.skipsAffinity() {
		return nil
	}
	unwanted, refused := false, false
	for at, p := range q.companions(n, v) {
		apart := func(key string) bool { return !together(at, n, key) }
		unwanted = unwanted || slices.ContainsFunc(q.keysApart(p, v), func(key string) bool { return !apart(key) })
		refused = refused || slices.ContainsFunc(p.refuses, func(key string) bool { return !apart(key) })
	}
	switch {
	case refused && !q.rules.affinityFirst:
		return resolvable("node(s) didn't satisfy existing pods anti-affinity rules")
	case !q.finds(n, v):
		return unresolvable("node(s) didn't match pod affinity rules")
	case unwanted:
		return resolvable("node(s) didn't match pod anti-affinity rules")
	case refused:
		return resolvable("node(s) didn't satisfy existing pods anti-affinity rules")
	}
	return nil
}

// finds tells whether n is where the preemptor's affinity wants it: for each term
// a pod that the term selects is in the same domain ("the lists of nodes
// corresponding to each podAffinityTerm are intersected", API reference,
// PodAffinity). A pod that its own affinity selects may be the first: while no
// pod of the cluster is selected, any node that has all the labels will do (docs:
// assign-pod-node, "Scheduling Behavior"; filtering.go:769@v1.37.1).
func (q *question) finds(n *node, v view) bool {
	found, others := make([]bool, len(q.affinityKeys)), false
	for i, key := range q.affinityKeys {
		if _, ok := n.Labels[key]; !ok && q.rules.firstNeedsLabels {
			return false
		}
		for at, p := range q.companions(n, v) {
			if q.rules.onePodForAllTerms && !p.wantedByAll() || q.unmet(p) {
				continue
			}
			found[i] = found[i] || p.wanted[i] && together(at, n, key)
		}
	}
	for at, p := range q.companions(n, v) {
		if p.wantedByAll() && !q.unmet(p) && !(q.rules.unlabelledNodesHideFirst && q.unlabelled(at)) {
			others = true
		}
	}
	return !slices.Contains(found, false) || q.rules.firstOfGroup(q.preemptor.wantedByAll(), others)
}

// companions yields the pods in question that are, or are supposed to be, in the
// cluster, with their nodes: those of v on n, and all that are bound to others.
func (q *question) companions(n *node, v view) func(yield func(*node, *pod) bool) {
	return func(yield func(*node, *pod) bool) {
		for _, at := range q.nodes {
			pods := at.bonded
			if at == n {
				pods = v.pods
			}
			for _, p := range pods {
				if p.any() && !yield(at, p) {
					return
				}
			}
		}
	}
}

// keysApart are the topology keys of the preemptor's anti-affinity to a pod.
func (q *question) keysApart(p *pod, v view) []string {
	switch {
	case q.unmet(p):
		return nil
	case len(p.unwanted) > 0 && q.rules.reprievedPodsShunned && v.givenBack && q.preemptable(p) && slices.Contains(v.pods, p):
		return q.antiAffinityKeys
	}
	return p.unwanted
}

// unmet tells whether the preemptor's affinity and anti-affinity do not see a pod.
// Only the quirk NominatedPodsUnmet makes it so.
func (q *question) unmet(p *pod) bool { return q.rules.nominatedPodsUnmet && p.Spec.NodeName == "" }

// unlabelled tells whether a node has none of the labels of the preemptor's
// affinity. Only the quirk UnlabelledNodesHideFirst asks.
func (q *question) unlabelled(n *node) bool {
	return !slices.ContainsFunc(q.affinityKeys, func(key string) bool { _, ok := n.Labels[key]; return ok })
}

// skipsAffinity tells whether nothing but nominated pods gives the preemptor
// anything to do with others. Only the quirk NominatedRefusalsSkipped asks.
func (q *question) skipsAffinity() bool {
	return !q.hasTerms && !slices.ContainsFunc(q.nodes, func(n *node) bool {
		return slices.ContainsFunc(n.bonded, func(p *pod) bool {
			return slices.ContainsFunc(p.refuses, func(key string) bool { _, ok := n.Labels[key]; return ok })
		})
	})
}

// FirstOfGroup tells whether a node suits the preemptor's affinity to other pods
// only because the preemptor itself would be the first of them, and would still
// once all that may be preempted there is gone.
func (d *Decision) FirstOfGroup(node string) bool {
	n := d.q.byName[node]
	if n == nil || len(d.q.affinityKeys) == 0 {
		return false
	}
	alone := *d.q
	rules := *d.q.rules
	rules.firstOfGroup = func(bool, bool) bool { return false }
	alone.rules = &rules
	v := view{pods: d.staying(n)}
	return d.q.finds(n, v) && !alone.finds(n, v)
}

// NeedsNominated tells whether the preemptor fits on a node beside the pods that
// are nominated to it, but not without them: as it is, or once all that may be
// preempted there is gone.
func (d *Decision) NeedsNominated(node string) bool {
	n := d.q.byName[node]
	yielded := d.q.yieldsTo(n)
	for _, pods := range [][]*pod{n.pods, d.staying(n)} {
		v := view{pods: pods}
		if len(yielded) > 0 && d.q.runFilters(n, v.with(yielded)) == nil && d.q.runFilters(n, v) != nil {
			return true
		}
	}
	return false
}

// staying are the pods of n that may not be preempted.
func (d *Decision) staying(n *node) []*pod {
	return slices.DeleteFunc(slices.Clone(n.pods), d.q.preemptable)
}
