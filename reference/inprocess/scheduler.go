package inprocess

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
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"

	"github.com/preemptcheck/preemptcheck/model"
)

// discard drops upstream's log lines: a cycle's outcome is in the Observation.
var discard = logr.Discard()

// settings is what a scheduler is built for, and what it is reused by.
type settings struct {
	gates                    gateSet
	minPercentage, minNumber int32
	// alone names the plugins that have a profile to themselves, joined by commas.
	alone string
}

func newSettings(s model.Settings) settings {
	key := settings{gates: newGateSet(s.FeatureGates), minPercentage: model.DefaultMinCandidateNodesPercentage, minNumber: model.DefaultMinCandidateNodesAbsolute}
	if s.MinCandidateNodesPercentage != nil {
		key.minPercentage = *s.MinCandidateNodesPercentage
	}
	if s.MinCandidateNodesAbsolute != nil {
		key.minNumber = *s.MinCandidateNodesAbsolute
	}
	return key
}

// scheduler is an upstream scheduler that nothing drives but load, run and
// unload, with the places at which it can be watched and pinned.
type scheduler struct {
	sched     *upstream.Scheduler
	profile   framework.Framework
	snapshot  *internalcache.Snapshot
	plugin    *defaultpreemption.DefaultPreemption
	pods      cache.Indexer
	nodes     cache.Indexer
	extra     map[reflect.Type]*informer
	budgets   *budgetLister
	client    *client
	nextStart *int // sched.nextStartNodeIndex
	// preempted has room for one signal: the last victim is preempted.
	preempted chan struct{}
	// panicked is what upstream panicked with, in whatever goroutine.
	panicked any

	ctx    context.Context // of every call upstream: never cancelled while it runs
	cancel context.CancelFunc

	loaded loaded
}

// newScheduler builds a scheduler with the default profile. The gates it is for
// must be in force.
func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{client: newClient(), snapshot: internalcache.NewEmptySnapshot(), budgets: &budgetLister{}, preempted: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancel(klog.NewContext(context.Background(), discard))
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
	s.pods = s.extra[reflect.TypeFor[*v1.Pod]()].GetIndexer()
	s.nodes = s.extra[reflect.TypeFor[*v1.Node]()].GetIndexer()
	// load feeds pods and nodes to cache and queue itself; as Extra they would
	// come in twice.
	delete(s.extra, reflect.TypeFor[*v1.Pod]())
	delete(s.extra, reflect.TypeFor[*v1.Node]())

	recorder := func(string) events.EventRecorderLogger { return &events.FakeRecorder{} }
	s.sched, err = upstream.New(s.ctx, s.client, factory, nil, recorder, upstream.WithProfiles(profiles...),
		upstream.WithNodeInfoSnapshot(s.snapshot),
		// One worker makes the order of dry runs, and so an early stop, exact.
		upstream.WithParallelism(1))
	if err != nil {
		return nil, err
	}

	s.profile = s.sched.Profiles[v1.DefaultSchedulerName]
	for _, p := range s.profile.PreEnqueuePlugins() {
		if dp, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			s.plugin = dp
		}
	}
	if s.plugin == nil {
		return nil, errors.New("the default profile has no DefaultPreemption")
	}
	s.plugin.Evaluator.PdbLister = s.budgets
	s.plugin.Executor.PreemptPod = s.watch(s.plugin.Executor.PreemptPod)
	if s.sched.APIDispatcher != nil {
		s.profile.SetAPICacher(apiCacher{s.client})
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

// defaultProfiles is the configuration upstream.New would use by itself
// (scheduler.go:301@v1.37.1), with the arguments of DefaultPreemption set.
func defaultProfiles(key settings) ([]config.KubeSchedulerProfile, error) {
	var versioned configv1.KubeSchedulerConfiguration
	scheme.Scheme.Default(&versioned)
	var cfg config.KubeSchedulerConfiguration
	if err := scheme.Scheme.Convert(&versioned, &cfg, nil); err != nil {
		return nil, err
	}
	for _, pc := range cfg.Profiles[0].PluginConfig {
		if args, ok := pc.Args.(*config.DefaultPreemptionArgs); ok {
			args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = key.minPercentage, key.minNumber
			if key.alone != "" {
				return append(cfg.Profiles, aloneProfiles(cfg.Profiles[0], key.alone)...), nil
			}
			return cfg.Profiles, nil
		}
	}
	return nil, fmt.Errorf("the default profile configures no %s", defaultpreemption.Name)
}
