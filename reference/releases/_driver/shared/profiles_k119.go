//go:build k1.19

package main

import (
	"errors"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// What schedulers with profiles have in common.

func init() { quiet(klog.InitFlags, klog.SetOutput) }

func (s *scheduler) queue() any { return s.sched.SchedulingQueue }

func (s *scheduler) handles(p *v1.Pod) bool {
	_, ok := s.sched.Profiles[p.Spec.SchedulerName]
	return ok
}

func (s *scheduler) updateSnapshot() error {
	return call(s.cache(), "UpdateSnapshot", s.ctx, s.profile.SnapshotSharedLister())
}

// nextStartOf is where a scheduler starts its search for a node: the one thing a
// cycle leaves behind that no exported name can put back.
func nextStartOf(scheduler any) (*int, error) {
	field := reflect.ValueOf(scheduler).Elem().FieldByName("nextStartNodeIndex")
	if field.Kind() != reflect.Int {
		return nil, errors.New("upstream's scheduler has no nextStartNodeIndex")
	}
	return (*int)(unsafe.Pointer(field.UnsafeAddr())), nil
}
