package model

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// question is a Cluster made ready to be asked about: who is where, and what
// everything needs. It is computed once and never changed; whether the
// preemptor fits somewhere is always judged from a list of the pods present.
type question struct {
	cluster   *Cluster
	rules     *Rules
	preemptor *pod
	nodes     []*node
	byName    map[string]*node
	budgets   []*budget
	// pre is what PreFilter says of the preemptor.
	pre *preFiltered
	// spread are the topology spread constraints of the preemptor.
	spread []*spreadConstraint
	// storage is nil if the preemptor's volumes can be mounted anywhere.
	storage *storage
	// features are those that a node has to declare for the preemptor.
	features []string
	// claims are the resource claims of the preemptor; nil if it has none.
	claims *claims

	// affinityKeys are the topology keys of the preemptor's affinity, term by
	// term, and antiAffinityKeys those of its anti-affinity. hasTerms: it has
	// affinity or anti-affinity. bonded: some pod means something to it.
	affinityKeys     []string
	antiAffinityKeys []string
	hasTerms         bool
	bonded           bool
	// extenders are asked about the preemptor, in this order.
	extenders []*Extender
	// silent are the nodes that have no status.
	silent map[string]bool
	// rejected are the nodes on which nothing but an extender fails the preemptor.
	rejected map[string]bool
}

// node is a node with the pods the scheduler sees on it.
type node struct {
	*v1.Node
	allocatable resources
	// pods are the pods bound to the node.
	pods []*pod
	// nominated are the pods waiting for room on the node that an earlier
	// preemption made for them.
	nominated []*pod
	spread    spreadNode
	storage   storageNode
	// bonded are those of pods that the preemptor's affinity or anti-affinity, or
	// their own, connects with the preemptor.
	bonded []*pod
}

// pod is a pod with what it needs worked out.
type pod struct {
	*v1.Pod
	key      string
	priority int32
	start    time.Time
	needs    resources
	ports    []hostPort
	// budgets are the indices of the budgets that protect the pod.
	budgets []int
	// spread tells which spread constraints of the preemptor select the pod; nil
	// if it has none.
	spread  []bool
	storage storagePod
	bonds
}

// DefaultSchedulerName is that of the profile which a scheduler has by itself.
const DefaultSchedulerName = v1.DefaultSchedulerName

func newQuestion(c *Cluster, rules *Rules) *question {
	now := time.Now()
	q := &question{
		cluster:   c,
		rules:     rules,
		preemptor: newPod(c.Preemptor, requested(c.Preemptor), now, rules),
		nodes:     make([]*node, len(c.Nodes)),
		byName:    make(map[string]*node, len(c.Nodes)),
		budgets:   make([]*budget, len(c.PodDisruptionBudgets)),
		silent:    map[string]bool{},
	}
	for i, b := range c.PodDisruptionBudgets {
		q.budgets[i] = newBudget(b, rules)
	}
	for i, n := range c.Nodes {
		q.nodes[i] = &node{Node: n, allocatable: resourcesOf(n.Status.Allocatable)}
		q.byName[n.Name] = q.nodes[i]
	}
	for _, p := range c.Pods {
		switch {
		case p.Spec.NodeName != "":
			if n := q.byName[p.Spec.NodeName]; n != nil {
				n.pods = append(n.pods, q.newBound(p, now))
			}
		case knownNominated(c, p):
			if n := q.byName[p.Status.NominatedNodeName]; n != nil {
				n.nominated = append(n.nominated, newPod(p, rules.occupied(p), now, rules))
			}
		}
	}
	q.placeForSpread()
	q.placeForStorage()
	q.bond()
	q.features = neededFeatures(c.Preemptor, rules.declared)
	q.claims = q.newClaims()
	q.pre = q.preFilter()
	q.extenders = q.interested()
	return q
}

// knownNominated tells whether the scheduler takes a waiting pod's nomination
// into account: it watches only the pods of its own profiles
// (eventhandlers.go:138@v1.37.1, addPod).
func knownNominated(c *Cluster, p *v1.Pod) bool {
	return p.Status.NominatedNodeName != "" && c.Settings.Schedules(p.Spec.SchedulerName)
}

func (q *question) newBound(p *v1.Pod, now time.Time) *pod {
	bound := newPod(p, q.rules.occupied(p), now, q.rules)
	for i, b := range q.budgets {
		if b.protects(p) {
			bound.budgets = append(bound.budgets, i)
		}
	}
	return bound
}

func (r *Rules) occupied(p *v1.Pod) resources {
	if r.initContainersForgotten && len(p.Spec.InitContainers) > 0 {
		p = p.DeepCopy()
		p.Spec.InitContainers = nil
	}
	if !r.resizeSums {
		return occupiedEach(p)
	}
	return occupied(p)
}

func newPod(p *v1.Pod, needs resources, now time.Time, rules *Rules) *pod {
	return &pod{Pod: p, key: Key(p), priority: Priority(p), start: startTime(p, now), needs: needs, ports: hostPorts(p, !rules.sidecarPortsForgotten)}
}

// interchangeable tells whether two equally important pods of one node can
// stand in for each other in everything that decides who becomes a victim.
func interchangeable(a, b *pod) bool {
	if !a.needs.equal(b.needs) || a.storage.kind != b.storage.kind || len(a.ports) != len(b.ports) || len(a.budgets) != len(b.budgets) || !a.bonds.equal(&b.bonds) {
		return false
	}
	for i := range a.ports {
		if a.ports[i] != b.ports[i] {
			return false
		}
	}
	for i := range a.spread {
		if a.spread[i] != b.spread[i] || a.spread[i] && (a.DeletionTimestamp == nil) != (b.DeletionTimestamp == nil) {
			return false
		}
	}
	for i := range a.budgets {
		if a.budgets[i] != b.budgets[i] {
			return false
		}
	}
	return true
}
