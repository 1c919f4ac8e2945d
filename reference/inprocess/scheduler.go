package inprocess

import (
	"context"
	"encoding/json"
	"errors"
	"os/signal"
	"reflect"
	"sync/atomic"
	"syscall"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/writes"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// settings is what a scheduler is built for, and what it is reused by.
type settings struct {
	gates linked.GateSet
	// text is the model.Settings that configure it, as JSON.
	text string
	// alone names the plugins that have a profile to themselves, joined by commas.
	alone string
}

// newSettings are those that a cluster asks for. What does not configure a scheduler is not in them.
func newSettings(s model.Settings) settings {
	key := settings{gates: linked.NewGateSet(s.FeatureGates)}
	s.FeatureGates, s.DryRunOffset, s.Extenders = nil, nil, nil
	if reflect.ValueOf(s).IsZero() {
		return key
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // they are plain data
	}
	key.text = string(text)
	return key
}

// settings are what newSettings was given, but for what it left out.
func (k settings) settings() (s model.Settings, err error) {
	if k.text != "" {
		err = json.Unmarshal([]byte(k.text), &s)
	}
	return s, err
}

// scheduler is an upstream scheduler that nothing drives but load, run and
// unload, with the places at which it can be watched and pinned.
type scheduler struct {
	sched    *upstream.Scheduler
	snapshot *internalcache.Snapshot
	// profile is that of the loaded cluster's preemptor, plugin its
	// DefaultPreemption; plugins holds those of all profiles.
	profile framework.Framework
	plugin  *defaultpreemption.DefaultPreemption
	plugins map[string]*defaultpreemption.DefaultPreemption
	pods    cache.Indexer
	nodes   cache.Indexer
	extra   map[reflect.Type]*linked.Informer
	budgets *linked.Budgets
	api     *writes.Server
	events  *eventLog
	// activated is the scheduler's queue.
	activated *activations
	bubble    *bubble.Bubble
	// configured are the extenders of the configuration, which are asked over the network.
	configured []fwk.Extender
	// build is System.build.
	build     func([]model.Extender) ([]fwk.Extender, error)
	nextStart *int // sched.nextStartNodeIndex
	// recorder watches the cycle that runs; nil if none does.
	recorder *recorder
	// async: victims are preempted by a goroutine. It is held until the cycle itself
	// is over, so that the order of what both do is always the same.
	async bool
	over  chan struct{}
	// crash is what broke first, in whatever goroutine.
	crash atomic.Pointer[model.Crash]

	ctx    context.Context // of every call upstream: never cancelled while it runs
	cancel context.CancelFunc

	updates updates
	loaded  loaded
}

// newScheduler builds a scheduler with the default profile, in a bubble. The gates
// it is for must be in force.
func newScheduler(key settings, b *bubble.Bubble) (_ *scheduler, err error) {
	s := &scheduler{api: writes.New(), events: &eventLog{}, bubble: b, snapshot: internalcache.NewEmptySnapshot()}
	s.api.Gated, s.api.Before, s.api.GoesOn = s.gated, s.beforeCall, b.GoesOn
	s.ctx, s.cancel = context.WithCancel(linked.NewContext(&s.crash))
	defer func() {
		if err != nil {
			s.cancel()
		}
	}()

	cfg, err := configured(key)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(s.api, 0)
	s.extra, s.budgets = linked.NewInformers(factory), linked.NewBudgets(factory)
	s.updates.pods, s.updates.nodes = s.extra[reflect.TypeFor[*v1.Pod]()], s.extra[reflect.TypeFor[*v1.Node]()]
	s.pods, s.nodes = s.updates.pods.GetIndexer(), s.updates.nodes.GetIndexer()
	s.api.Claims = s.extra[reflect.TypeFor[*resourcev1.ResourceClaim]()]
	// load feeds pods and nodes to cache and queue itself; as Extra they would
	// come in twice.
	delete(s.extra, reflect.TypeFor[*v1.Pod]())
	delete(s.extra, reflect.TypeFor[*v1.Node]())

	recorder := func(string) events.EventRecorderLogger { return s.events }
	s.sched, err = upstream.New(s.ctx, s.api, factory, nil, recorder, append(linked.Options(cfg), upstream.WithNodeInfoSnapshot(s.snapshot))...)
	// The cache debugger's channel stays among those that wait for the signal
	// (debugger.go:63@v1.37.1), and with it its bubble, and all that timers there hold.
	signal.Reset(syscall.SIGUSR2)
	if err != nil {
		return nil, err
	}
	if err := countWorkloads(); err != nil {
		return nil, err
	}

	s.configured = linked.Outside(b, s.sched.Extenders)
	s.plugins = map[string]*defaultpreemption.DefaultPreemption{}
	for name, profile := range s.sched.Profiles {
		plugin, err := linked.Preemption(s.ctx, profile)
		if err != nil {
			return nil, err
		}
		evaluator, err := groups.Evaluator(plugin)
		if err != nil {
			return nil, err
		}
		if evaluator != nil {
			evaluator.Handle = &groups.Watch{Ordered: groups.Ordered{Handle: evaluator.Handle}, Recorder: s.groupRecorder}
		}
		plugin.Executor.PreemptPod = s.watch(plugin.Executor.PreemptPod)
		s.plugins[name] = plugin
	}
	if s.sched.APIDispatcher != nil {
		s.sched.APIDispatcher.Run(linked.Discard)
		cancel := s.cancel
		s.cancel = func() {
			s.sched.APIDispatcher.Close()
			cancel()
		}
	}
	// Where the search for a node starts is the one thing a cycle leaves behind
	// that no exported name can put back.
	field := reflect.ValueOf(s.sched).Elem().FieldByName("nextStartNodeIndex")
	if field.Kind() != reflect.Int {
		return nil, errors.New("upstream's Scheduler has no nextStartNodeIndex")
	}
	s.nextStart = (*int)(unsafe.Pointer(field.UnsafeAddr()))
	s.activated = &activations{SchedulingQueue: s.sched.SchedulingQueue}
	s.sched.SchedulingQueue = s.activated
	for _, profile := range s.sched.Profiles {
		profile.SetPodActivator(s.activated)
	}
	s.updates.cache, s.updates.snapshot = s.sched.Cache, s.snapshot
	s.hook()
	return s, nil
}

// configured is the configuration of a scheduler, with the profiles of plugins that are to be asked alone.
func configured(key settings) (*config.KubeSchedulerConfiguration, error) {
	s, err := key.settings()
	if err != nil {
		return nil, err
	}
	cfg, err := linked.Configured(s)
	if err == nil && key.alone != "" {
		cfg.Profiles = append(cfg.Profiles, aloneProfiles(cfg.Profiles[0], key.alone)...)
	}
	return cfg, err
}
