package podgroups

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// Told adds to what is allowed what is if the scheduler is told of other nominations in the course of the cycle: nodes and the pods on
// them are as they were when it began, and nominated pods are looked up anew each time (fwk.PodNominator, kube-scheduler/framework/interface.go:962@v0.37.1).
// Each of others are pods that wait, as the cycle may have been told.
func (s *Set) Told(others ...[]*v1.Pod) {
	for _, waiting := range others {
		s.told = append(s.told, variant.Changed(s.Cycle, func(cy *podgroup.Cycle) {
			cy.Algorithm = variant.Changed(cy.Algorithm, func(a *podgroup.Algorithm) {
				a.World, a.Again = s.among(waiting, a.World), s.among(waiting, a.Again)
			})
		}))
	}
}

// among is a cluster in which a member is tried, with other pods that wait besides the members.
func (s *Set) among(waiting []*v1.Pod, in func(*podgroup.Cycle, *v1.Pod, []podgroup.Placement, []*unit.Unit) *model.Cluster) func(*podgroup.Cycle, *v1.Pod, []podgroup.Placement, []*unit.Unit) *model.Cluster {
	isMember := func(p *v1.Pod) bool {
		return slices.ContainsFunc(s.Members, func(m *v1.Pod) bool { return m.UID == p.UID })
	}
	return func(cy *podgroup.Cycle, member *v1.Pod, placed []podgroup.Placement, gone []*unit.Unit) *model.Cluster {
		c := in(cy, member, placed, gone)
		c.Pods = slices.DeleteFunc(c.Pods, func(p *v1.Pod) bool { return p.Spec.NodeName == "" && !isMember(p) })
		for _, p := range waiting {
			if !isMember(p) {
				c.Pods = append(c.Pods, p)
			}
		}
		return c
	}
}
