//go:build k1.32

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

func nodeStatus(d *framework.Diagnosis, node string) *status { return d.NodeToStatus.Get(node) }

func (s *scheduler) postFilter(r *recorder, state cycleState, d *framework.Diagnosis) (*postFilterResult, *status) {
	select {
	case <-s.preempted: // of a preemption that was over before anybody waited
	default:
	}
	defer s.record(r)()
	return s.profile.RunPostFilterPlugins(s.ctx, state, s.loaded.preemptor, potentialNodes{d.NodeToStatus, r})
}

// record puts r between the plugin and its Evaluator until undone.
func (s *scheduler) record(r *recorder) (undo func()) {
	ev := s.plugin.Evaluator
	r.Interface = ev.Interface
	ev.Interface, ev.Handler = r, handle{s.profile, s.extenders}
	return func() { ev.Interface = r.Interface }
}
