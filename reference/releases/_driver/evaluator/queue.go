package main

import (
	v1 "k8s.io/api/core/v1"
)

func (s *scheduler) cache() any { return s.sched.Cache }

func (s *scheduler) nominatePreemptor(p *v1.Pod) error {
	s.info = newPodInfo(p)
	return call(s.ctx, s.sched.SchedulingQueue, "AddNominatedPod", s.info, nil)
}

func (s *scheduler) updateSnapshot() error {
	return call(s.ctx, s.cache(), "UpdateSnapshot", s.profile.SnapshotSharedLister())
}
