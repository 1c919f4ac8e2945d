package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
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

	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

// scheduler is an upstream scheduler that nothing drives but load, run and
// unload.
type scheduler struct {
	sched *upstream.Scheduler
	// profile is that of the loaded cluster's preemptor, plugin its
	// DefaultPreemption; plugins holds those of all profiles.
	profile   framework.Framework
	plugin    pluginHook
	plugins   map[string]pluginHook
	pods      cache.Indexer
	nodes     cache.Indexer
	extra     map[reflect.Type]*informer
	budgets   *budgetLister
	client    *standin.Client
	nextStart *int // sched.nextStartNodeIndex
	async     bool
	recorder  *recorder  // of the cycle that runs
	extenders []extender // the cluster's, and the last one that records
	// preempted has room for one signal: the last victim is preempted.
	preempted chan struct{}
	// panicked is what upstream panicked with first, in whatever goroutine.
	panicked atomic.Pointer[any]

	ctx    context.Context
	cancel context.CancelFunc

	loaded loaded
	info   *framework.PodInfo // of the preemptor
}

func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{client: standin.NewClient(deallocated), budgets: &budgetLister{}, async: asyncInForce(), preempted: make(chan struct{}, 1)}
	// What upstream logs is dropped: a cycle's outcome is in the Observation.
	s.ctx, s.cancel = context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	defer func() {
		if err != nil {
			s.cancel()
		}
	}()
	profiles, err := profiles(key)
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

	options, err := s.hookProfiles(profiles)
	if err != nil {
		return nil, err
	}
	options = append(options, upstream.WithProfiles(profiles...), upstream.WithParallelism(key.parallelism), withPercentageOfNodesToScore(key.toScore))
	if s.sched, err = s.newUpstream(factory, options); err != nil {
		return nil, err
	}
	s.plugins = map[string]pluginHook{}
	for name, profile := range s.sched.Profiles {
		if s.plugins[name], err = s.hook(profile); err != nil {
			return nil, err
		}
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

// profiles are the default profile and the second one that the settings ask for.
func profiles(key settings) ([]config.KubeSchedulerProfile, error) {
	all, err := defaultProfiles(key.minPercentage, key.minNumber)
	if err != nil || key.second == "" {
		return all, err
	}
	second, err := defaultProfiles(key.secondPercentage, key.secondNumber)
	if err != nil {
		return nil, err
	}
	second[0].SchedulerName = key.second
	return append(all, second...), nil
}

// defaultProfiles is the configuration upstream.New would use by itself, with the
// arguments of DefaultPreemption set.
func defaultProfiles(minPercentage, minNumber int32) ([]config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var cfg config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &cfg, nil); err != nil {
		return nil, err
	}
	for _, pc := range cfg.Profiles[0].PluginConfig {
		if args, ok := pc.Args.(*config.DefaultPreemptionArgs); ok {
			args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = minPercentage, minNumber
			return cfg.Profiles, nil
		}
	}
	return nil, fmt.Errorf("the default profile configures no %s", names.DefaultPreemption)
}
