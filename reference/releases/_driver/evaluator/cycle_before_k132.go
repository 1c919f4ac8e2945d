//go:build !k1.32

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

// nodeStatus is what Filter said of a node; nil if it was not asked, because
// PreFilter left the node out.
func nodeStatus(d *framework.Diagnosis, node string) *status { return d.NodeToStatusMap[node] }

func (s *scheduler) postFilter(r *recorder, state cycleState, d *framework.Diagnosis) (*postFilterResult, *status) {
	s.recorder = r
	return s.profile.RunPostFilterPlugins(s.ctx, state, s.loaded.preemptor, d.NodeToStatusMap)
}
