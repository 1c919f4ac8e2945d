package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// scheduler is an upstream scheduler that nothing drives but load, run and
// unload.
type scheduler struct {
	sched     *upstream.Scheduler
	profile   framework.Framework
	plugin    pluginHook
	pods      cache.Indexer
	nodes     cache.Indexer
	extra     map[reflect.Type]*informer
	budgets   *budgetLister
	client    *client
	nextStart *int // sched.nextStartNodeIndex
	async     bool
	recorder  *recorder // of the cycle that runs
	// preempted has room for one signal: the last victim is preempted.
	preempted chan struct{}
	// panicked is what upstream panicked with, in whatever goroutine.
	panicked any

	ctx    context.Context
	cancel context.CancelFunc

	loaded loaded
	info   *framework.PodInfo // of the preemptor
}

func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{client: newClient(), budgets: &budgetLister{}, async: asyncInForce(), preempted: make(chan struct{}, 1)}
	// What upstream logs is dropped: a cycle's outcome is in the Observation.
	s.ctx, s.cancel = context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	defer func() {
		if err != nil {
			s.cancel()
		}
	}()
	profiles, err := defaultProfiles(key)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(s.client, 0)
	s.extra = newInformers(factory)
	s.pods = s.extra[reflect.TypeOf(&v1.Pod{})].GetIndexer()
	s.nodes = s.extra[reflect.TypeOf(&v1.Node{})].GetIndexer()
	// load feeds pods and nodes to cache and queue itself.
	delete(s.extra, reflect.TypeOf(&v1.Pod{}))
	delete(s.extra, reflect.TypeOf(&v1.Node{}))

	// One worker makes the order of dry runs, and so an early stop, exact.
	options, err := s.hookProfile(&profiles[0])
	if err != nil {
		return nil, err
	}
	options = append(options, upstream.WithProfiles(profiles...), upstream.WithParallelism(1))
	if s.sched, err = s.newUpstream(factory, options); err != nil {
		return nil, err
	}
	s.profile = s.sched.Profiles[v1.DefaultSchedulerName]
	if err := s.hook(); err != nil {
		return nil, err
	}
	// Where the search for a node starts is the one thing a cycle leaves behind
	// that no exported name can put back.
	field := reflect.ValueOf(s.sched).Elem().FieldByName("nextStartNodeIndex")
	if field.Kind() != reflect.Int {
		return nil, errors.New("upstream's Scheduler has no nextStartNodeIndex")
	}
	s.nextStart = (*int)(unsafe.Pointer(field.UnsafeAddr()))
	return s, nil
}

// defaultProfiles is the configuration upstream.New would use by itself, with the
// arguments of DefaultPreemption set.
func defaultProfiles(key settings) ([]config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var cfg config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &cfg, nil); err != nil {
		return nil, err
	}
	args, err := preemptionArgs(&cfg.Profiles[0])
	if err != nil {
		return nil, err
	}
	args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = key.minPercentage, key.minNumber
	return cfg.Profiles, nil
}

func preemptionArgs(p *config.KubeSchedulerProfile) (*config.DefaultPreemptionArgs, error) {
	for _, pc := range p.PluginConfig {
		if args, ok := pc.Args.(*config.DefaultPreemptionArgs); ok {
			return args, nil
		}
	}
	return nil, fmt.Errorf("the default profile configures no %s", names.DefaultPreemption)
}
