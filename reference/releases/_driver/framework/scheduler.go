// This driver is for 1.19 to 1.22, whose preemption is a PostFilter plugin with
// nothing to get hold of inside. What its stages are is asked of the functions it
// is made of, of which PodEligibleToPreemptOthers and FindCandidates are public.
package main

import (
	"context"
	"errors"
	"math/rand"
	"reflect"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

const recordedName = "RecordedPreemption"

// scheduler is an upstream scheduler that nothing drives but load, run and
// unload.
type scheduler struct {
	sched     *upstream.Scheduler
	profile   profile
	pods      cache.Indexer
	nodes     cache.Indexer
	extra     map[reflect.Type]*informer
	budgets   *budgetLister
	client    *standin.Client
	nextStart *int // sched.Algorithm.nextStartNodeIndex
	recorder  *recorder

	ctx    context.Context
	cancel context.CancelFunc

	loaded loaded
}

func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{client: standin.NewClient(deallocated), budgets: &budgetLister{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			s.cancel()
		}
	}()
	factory := informers.NewSharedInformerFactory(s.client, 0)
	s.extra = newInformers(factory)
	s.pods = s.extra[reflect.TypeOf(&v1.Pod{})].GetIndexer()
	s.nodes = s.extra[reflect.TypeOf(&v1.Node{})].GetIndexer()
	// load feeds pods and nodes to cache and queue itself.
	delete(s.extra, reflect.TypeOf(&v1.Pod{}))
	delete(s.extra, reflect.TypeOf(&v1.Node{}))

	options, err := s.options(key)
	if err != nil {
		return nil, err
	}
	registry := frameworkruntime.Registry{recordedName: s.newPlugin(key)}
	options = append(options, upstream.WithFrameworkOutOfTreeRegistry(registry))
	if s.sched, err = upstream.New(s.client, factory, newRecorder, s.ctx.Done(), options...); err != nil {
		return nil, err
	}
	s.profile = s.sched.Profiles[v1.DefaultSchedulerName]
	// Where the search for a node starts is the one thing a cycle leaves behind
	// that no exported name can put back.
	field := reflect.ValueOf(s.sched.Algorithm).Elem().FieldByName("nextStartNodeIndex")
	if field.Kind() != reflect.Int {
		return nil, errors.New("upstream's Algorithm has no nextStartNodeIndex")
	}
	s.nextStart = (*int)(unsafe.Pointer(field.UnsafeAddr()))
	return s, nil
}

func (s *scheduler) cache() any { return s.sched.SchedulerCache }

// sameLuck makes what upstream draws the same in every cycle: the node of several
// equal ones, and where the dry runs start.
func sameLuck() { rand.Seed(1) }
