// This driver is for 1.19 to 1.22, whose preemption is a PostFilter plugin with
// nothing to get hold of inside. What its stages are is asked of the functions it
// is made of, of which PodEligibleToPreemptOthers and FindCandidates are public.
package main

import (
	"context"
	"math/rand"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

const recordedName = "RecordedPreemption"

var watchedToo = []runtime.Object{&storagev1.CSINode{}, &storagev1.CSIDriver{}}

// scheduler is an upstream scheduler that nothing drives but load, run and
// unload.
type scheduler struct {
	sched   *upstream.Scheduler
	profile profile
	store
	client    *standin.Client
	nextStart *int // sched.Algorithm.nextStartNodeIndex
	recorder  *recorder

	ctx    context.Context
	cancel context.CancelFunc

	loaded loaded
}

func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{client: standin.NewClient(func(clienttesting.Action) string { return "" })}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			s.cancel()
		}
	}()
	var factory informers.SharedInformerFactory
	s.store, factory = newStore(s.client)
	options, err := s.options(key)
	if err != nil {
		return nil, err
	}
	registry := frameworkruntime.Registry{recordedName: s.newPlugin(key.first)}
	options = append(options, upstream.WithFrameworkOutOfTreeRegistry(registry))
	newRecorder := func(string) events.EventRecorder { return &events.FakeRecorder{} }
	if s.sched, err = upstream.New(s.client, factory, newRecorder, s.ctx.Done(), options...); err != nil {
		return nil, err
	}
	s.profile = s.sched.Profiles[v1.DefaultSchedulerName]
	s.nextStart, err = nextStartOf(s.sched.Algorithm)
	return s, err
}

func (s *scheduler) cache() any { return s.sched.SchedulerCache }

// popped leaves the preemptor where it is when it has left the queue: its nomination
// remains.
func (s *scheduler) popped(p *v1.Pod) error {
	s.client.Preemptor, *s.nextStart = p, 0
	return call(s.queue(), "AddNominatedPod", p, newPodInfo(p))
}

// sameLuck makes what upstream draws the same in every cycle: the node of several
// equal ones, and where the dry runs start.
func sameLuck() { rand.Seed(1) }
