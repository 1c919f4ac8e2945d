//go:build k1.36

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

func (s *scheduler) schedulePod(r *recorder, state cycleState) (host string, err error) {
	// From 1.36 on the caller refreshes the snapshot.
	if err := s.updateSnapshot(); err != nil {
		return "", err
	}
	result, err := s.sched.SchedulePod(s.ctx, r, state, &framework.QueuedPodInfo{PodInfo: s.info})
	return result.SuggestedHost, err
}
