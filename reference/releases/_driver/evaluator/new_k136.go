//go:build k1.36

package main

import (
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	upstream "k8s.io/kubernetes/pkg/scheduler"
)

func (s *scheduler) newUpstream(factory informers.SharedInformerFactory, options []upstream.Option) (*upstream.Scheduler, error) {
	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	return upstream.New(s.ctx, s.client, factory, nil, recorder, options...)
}
