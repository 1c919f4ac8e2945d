//go:build !k1.36

package main

func (s *scheduler) schedulePod(r *recorder, state cycleState) (host string, err error) {
	result, err := s.sched.SchedulePod(s.ctx, r, state, s.loaded.preemptor)
	return result.SuggestedHost, err
}
