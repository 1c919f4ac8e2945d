package explain

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// HeldFor are the pods nominated to a node that keep the preemptor from it: with
// the node's pods as they are it would fit, but not beside these too. None if it
// fits, or would not fit anyway.
func HeldFor(s *answers.Set, node string) []*v1.Pod {
	n := s.Cycle.Node(node)
	if n == nil || s.Verdicts[node] == nil || s.Cycle.PreFiltered.Rejection != nil {
		return nil
	}
	return heldFor(s.Cycle, n, filter.View{Pods: n.Pods})
}

// DryRunHeldFor are the pods nominated to a node that keep the preemptor from it
// even after everything that may be preempted is gone. None if there is nothing to
// preempt.
func DryRunHeldFor(s *answers.Set, node string) []*v1.Pod {
	run := s.Run(node)
	if run == nil || run.Failed == nil || run.Failed.Plugin == "" {
		return nil
	}
	return heldFor(s.Cycle, run.Node, filter.View{Pods: s.Cycle.PodsOn(run.Node, false)})
}

// heldFor are the pods that n is held for, which fails the preemptor with them.
func heldFor(cy *model.Cycle, n *filter.Node, v filter.View) []*v1.Pod {
	respected := cy.Respected(n)
	if len(respected) == 0 || cy.RunFilters(n, v) != nil {
		return nil
	}
	pods := make([]*v1.Pod, len(respected))
	for i, p := range respected {
		pods[i] = p.Pod
	}
	return pods
}

// NeedsNominated tells whether the preemptor fits on a node beside the pods that
// are nominated to it, but not without them: as it is, or once all that may be
// preempted there is gone.
func NeedsNominated(s *answers.Set, node string) bool {
	n := s.Cycle.Node(node)
	respected := s.Cycle.Respected(n)
	for _, pods := range [][]*filter.Pod{n.Pods, s.Cycle.PodsOn(n, false)} {
		v := filter.View{Pods: pods}
		if len(respected) > 0 && s.Cycle.RunFilters(n, v.With(respected)) == nil && s.Cycle.RunFilters(n, v) != nil {
			return true
		}
	}
	return false
}
