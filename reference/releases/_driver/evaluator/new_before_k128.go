//go:build !k1.28

package main

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	upstream "k8s.io/kubernetes/pkg/scheduler"
)

func (s *scheduler) newUpstream(factory informers.SharedInformerFactory, options []upstream.Option) (*upstream.Scheduler, error) {
	recorder := func(string) events.EventRecorder { return &events.FakeRecorder{} }
	return upstream.New(s.client, factory, nil, recorder, s.ctx.Done(), options...)
}
