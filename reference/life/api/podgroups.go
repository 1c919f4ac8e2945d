package api

import (
	"fmt"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
)

// PatchGroup is a strategic merge patch of a pod group's status.
func (s *Server) PatchGroup(key string, data []byte) (*schedulingv1beta1.PodGroup, error) {
	old, ok := s.Find("PodGroup " + key).(*schedulingv1beta1.PodGroup)
	if !ok {
		return nil, NotFound(key)
	}
	obj, err := patched(old, data)
	if err != nil {
		return nil, err
	}
	now := obj.(*schedulingv1beta1.PodGroup)
	s.version++
	now.ResourceVersion = fmt.Sprint(s.version)
	s.put(now)
	s.emit(old, now)
	return now, nil
}
