package model

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Actuate is what preempting victims on n changes. Victims that are terminating
// already are not deleted again (kubernetes#131519); the others are marked
// DisruptionTarget (KEP-3329) and deleted. Pods of lower priority that were
// nominated to the node lose their nomination, as the room there is spoken for,
// and the preemptor gets it (docs: pod-priority-preemption, "User exposed
// information"; executor.go:192@v1.37.1).
func Actuate(cy *Cycle, n *filter.Node, victims []*filter.Pod) *Actuation {
	a := cy.Evict(victims)
	a.Nomination, a.NominatedNode = NominationSet, n.Name
	a.Cleared = cy.Withdrawn(n)
	return a
}

// Evict is what is written to victims.
func (cy *Cycle) Evict(victims []*filter.Pod) *Actuation {
	a := &Actuation{}
	for _, p := range victims {
		if p.DeletionTimestamp != nil {
			continue
		}
		a.Deleted = append(a.Deleted, p.Key)
		if !cy.MarkedAlready(p.Pod) {
			a.DisruptionTarget = append(a.DisruptionTarget, p.Key)
		}
	}
	slices.Sort(a.Deleted)
	slices.Sort(a.DisruptionTarget)
	return a
}

// Withdrawn are the pods that lose their nomination to a node because room there is taken. Sorted.
func (cy *Cycle) Withdrawn(n *filter.Node) (keys []string) {
	for _, p := range n.Nominated {
		if p.Priority < cy.Preemptor.Priority {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

// MarkedAlready tells whether the condition that would be patched in is there
// already: nothing is written then (executor.go:192@v1.37.1; pkg/api/v1/pod/
// util.go, UpdatePodCondition).
func (cy *Cycle) MarkedAlready(p *v1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.DisruptionTarget {
			return c.Status == v1.ConditionTrue && c.Reason == v1.PodReasonPreemptionByScheduler &&
				c.Message == cy.Preemptor.Spec.SchedulerName+": preempting to accommodate a higher priority pod" &&
				c.LastProbeTime.IsZero()
		}
	}
	return false
}

// NoCandidate is what becomes of a pod that preemption does not help: it loses its
// nomination. The doc comment of Preempt (preemption.go:175@v1.37.1) says of this
// case that "result.NominatingMode instructs how to deal with the
// nominatedNodeName", and that only an error, or waiting for victims, keeps it.
func NoCandidate(*Decision) *Actuation { return &Actuation{Nomination: NominationCleared} }

// NoneLeft is what becomes of a pod of whose candidates the extenders leave none:
// it cannot be scheduled even with preemption, so it loses its nomination. After an
// extender's failure all stays as it was (doc comment of Preempt, as above).
func NoneLeft(extenderFailed bool) *Actuation {
	if extenderFailed {
		return &Actuation{Nomination: NominationKept}
	}
	return &Actuation{Nomination: NominationCleared}
}

// Deallocatable are the resource claims of which one loses its allocation before
// preemption is tried: those that are in the pod's way on some node for no other
// reason, and that no other pod uses. Which one is left open
// (dynamicresources.go:1150@v1.37.1, PostFilter). Sorted.
func (d *Decision) Deallocatable() []string {
	if d.Eligible == nil {
		return nil
	}
	return d.InTheWay()
}

// InTheWay are the claims of Deallocatable, whether preemption is tried or not.
func (d *Decision) InTheWay() []string {
	cy := d.Cycle
	if cy.PreFiltered.Rejection != nil {
		return nil
	}
	state, ok := filter.As[*device.State](cy.State(device.DynamicResources{}.Name()))
	if !ok {
		return nil
	}
	var claims []string
	for _, n := range cy.Nodes {
		if v := d.Verdicts[n.Name]; v == nil || v.Plugin != (device.DynamicResources{}).Name() {
			continue
		}
		claims = append(claims, state.Deallocatable(n)...)
	}
	slices.Sort(claims)
	return slices.Compact(claims)
}
