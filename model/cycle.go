package model

import (
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// Cycle is one scheduling cycle made ready: who is where, and what the filter
// plugins have worked out before any node is looked at. Filtering notes in it which
// nodes were left out. Whether the preemptor fits somewhere is always judged from a
// list of the pods that are supposed to be there. A Cycle is not for several
// goroutines at once.
type Cycle struct {
	*Algorithm
	*filter.Snapshot
	Settings Settings
	Budgets  []*Budget
	// Units are what preemption takes.
	Units *unit.Units
	// PreFiltered is what the plugins say before any node is looked at.
	PreFiltered PreFiltered
	// Extenders are asked about the preemptor, in this order.
	Extenders []*Extender
	// Absent are the nodes that got no status of their own: PreFilter left them out,
	// or an extender's answer does not name them.
	Absent map[string]bool
	// OnlyExtender are the nodes on which nothing but an extender fails the preemptor.
	OnlyExtender map[string]bool

	byName map[string]*filter.Node
	// worlds are the cycles of the cluster without some pods: see without.
	worlds map[string]*Cycle
	// protectedBy are, by the index of a pod, the indices of the budgets that protect
	// it; nil where that was never asked.
	protectedBy [][]int
}

// NewCycle makes a cluster ready, which must not be changed while the Cycle is
// used.
func (a *Algorithm) NewCycle(c *Cluster) *Cycle { return a.NewCycleOn(c, NewSnapshot(c)) }

// NewCycleOn is NewCycle with the snapshot of c at hand.
func (a *Algorithm) NewCycleOn(c *Cluster, snapshot *filter.Snapshot) *Cycle {
	cy := &Cycle{
		Snapshot:  snapshot,
		Settings:  c.Settings,
		Budgets:   newBudgets(c.PodDisruptionBudgets),
		Units:     a.Units(snapshot, c.Groups()),
		Extenders: interestedExtenders(c),
		byName:    make(map[string]*filter.Node, len(c.Nodes)),
	}
	for _, n := range cy.Nodes {
		cy.byName[n.Name] = n
	}
	return cy.Under(a)
}

// Under is the cycle of the same cluster, with the same units, by another algorithm.
func (cy *Cycle) Under(a *Algorithm) *Cycle {
	out := &Cycle{
		Algorithm: a,
		Snapshot:  cy.Snapshot,
		Settings:  cy.Settings,
		Budgets:   cy.Budgets,
		Units:     cy.Units,
		Extenders: cy.Extenders,
		Absent:    map[string]bool{},
		byName:    cy.byName,
	}
	out.PreFiltered = a.PreFilter(out)
	return out
}

// Node is the node of that name, or nil.
func (cy *Cycle) Node(name string) *filter.Node { return cy.byName[name] }

// State is that of a plugin of this cycle, or nil.
func (cy *Cycle) State(plugin string) filter.State {
	for _, s := range cy.PreFiltered.states {
		if s.plugin == plugin {
			return s.State
		}
	}
	return nil
}

// States calls visit with what each plugin has worked out, in their order.
func (cy *Cycle) States(visit func(filter.State)) {
	for _, s := range cy.PreFiltered.states {
		visit(s.State)
	}
}

// NewSnapshot is the cluster as filter plugins see it.
func NewSnapshot(c *Cluster) *filter.Snapshot {
	now, groups := time.Now(), c.Groups()
	pods := make([]filter.Pod, 0, 1+len(c.Pods)) // in one piece
	newPod := func(p *v1.Pod) *filter.Pod {
		pods = append(pods, filter.Pod{Pod: p, Index: len(pods), Key: Key(p), Priority: groups.Priority(p, Priority(p)), Start: startTime(p, now)})
		return &pods[len(pods)-1]
	}
	s := &filter.Snapshot{
		Preemptor: newPod(c.Preemptor), Nodes: make([]*filter.Node, len(c.Nodes)),
		Pods: c.Pods, Objects: c.Extra, FeatureGates: c.Settings.FeatureGates,
	}
	byName := make(map[string]*filter.Node, len(c.Nodes))
	for i, n := range c.Nodes {
		s.Nodes[i] = &filter.Node{Node: n, Index: i}
		byName[n.Name] = s.Nodes[i]
	}
	for _, p := range c.Pods {
		if p.Spec.NodeName != "" || c.KnowsNomination(p) {
			s.Known = append(s.Known, p)
		}
		switch {
		case p.Spec.NodeName != "":
			pod := newPod(p)
			if pod.Node = byName[p.Spec.NodeName]; pod.Node != nil {
				pod.Node.Pods = append(pod.Node.Pods, pod)
			} else {
				s.Homeless = append(s.Homeless, pod)
			}
		case c.KnowsNomination(p):
			if n := byName[p.Status.NominatedNodeName]; n != nil {
				pod := newPod(p)
				pod.Node, n.Nominated = n, append(n.Nominated, pod)
			}
		}
	}
	return s
}

// Groups are the pod groups that the scheduler knows.
func (c *Cluster) Groups() *unit.Groups { return unit.Read(c.Extra, c.Settings.FeatureGates) }

// without is the cycle of the cluster once pods are gone: what the plugins work out
// before any node is looked at, they work out anew.
func (cy *Cycle) without(gone []*filter.Pod) *Cycle {
	if len(gone) == 0 || !slices.ContainsFunc(cy.PreFiltered.states, looksElsewhere) {
		return cy
	}
	var key []byte
	for _, p := range gone {
		key = strconv.AppendInt(append(key, ' '), int64(p.Index), 10)
	}
	world := cy.worlds[string(key)]
	if world == nil {
		w := *cy
		world = &w
		world.Snapshot, world.worlds = cy.Snapshot.Without(gone), nil
		world.PreFiltered.states = cy.PreFilter(world).states
		if cy.worlds == nil {
			cy.worlds = map[string]*Cycle{}
		}
		cy.worlds[string(key)] = world
	}
	return world
}

// looksElsewhere tells whether the verdicts on a node may depend on the pods of others.
func looksElsewhere(s pluginState) bool {
	switch s.State.(type) {
	case filter.EachNode, filter.Verdicts, *filter.ResourcesState, *filter.PortsState:
		return false
	}
	return true
}

// PodsOn are the pods bound to n that may be preempted, or the others.
func (cy *Cycle) PodsOn(n *filter.Node, preemptible bool) (pods []*filter.Pod) {
	for _, u := range cy.Units.On(n) {
		if cy.MayPreempt(cy, u) == preemptible {
			pods = append(pods, u.On(n)...)
		}
	}
	return pods
}
