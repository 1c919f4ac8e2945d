package main

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/releases/standin"
)

// scheduler is an upstream scheduler that nothing drives but load, run and
// unload.
type scheduler struct {
	sched *upstream.Scheduler
	// profile is that of the loaded cluster's preemptor, plugin its
	// DefaultPreemption; plugins holds those of all profiles.
	profile framework.Framework
	plugin  pluginHook
	plugins map[string]pluginHook
	store
	client    *standin.Client
	nextStart *int // sched.nextStartNodeIndex
	async     bool
	recorder  *recorder  // of the cycle that runs
	extenders []extender // all of them, and the last one that records
	// configured are those of the configuration, which are asked over the network.
	configured []extender
	// outside says that there are plugins which are not the scheduler's own; evaluating, if it is not nil, tells
	// whether one of them preempts for a pod.
	outside    bool
	evaluating func(types.UID) bool
	// preempted has room for one signal: the last victim is preempted.
	preempted chan struct{}
	// panicked is what upstream panicked with first, in whatever goroutine.
	panicked atomic.Pointer[any]

	ctx    context.Context
	cancel context.CancelFunc

	loaded loaded
	info   *framework.PodInfo // of the preemptor
}

// outsiders are plugins that are not the scheduler's own, and what they need.
type outsiders struct {
	registry frameworkruntime.Registry
	options  []upstream.Option
	// addTo puts them into a profile.
	addTo func(*config.KubeSchedulerProfile)
	surroundings
}

// surround makes those of a scheduler; nil in the driver of a release.
var surround func(*scheduler) *outsiders

func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{client: standin.NewClient(deallocated), async: inForce(model.GateAsyncPreemption), preempted: make(chan struct{}, 1)}
	// What upstream logs is dropped: a cycle's outcome is in the Observation.
	s.ctx, s.cancel = context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	defer func() {
		if err != nil {
			s.cancel()
		}
	}()
	var factory informers.SharedInformerFactory
	s.store, factory = newStore(s.client)
	profiles, extenders, err := configured(key)
	if err != nil {
		return nil, err
	}
	out := &outsiders{}
	if surround != nil {
		out = surround(s)
		s.around, s.outside = out.surroundings, true
		for i := range profiles {
			out.addTo(&profiles[i])
		}
	}
	registry, err := s.hookProfiles(profiles)
	if err != nil {
		return nil, err
	}
	maps.Copy(registry, out.registry)
	options := append(slices.Clone(out.options), upstream.WithFrameworkOutOfTreeRegistry(registry), upstream.WithProfiles(profiles...), upstream.WithExtenders(extenders...),
		upstream.WithParallelism(key.parallelism), withPercentageOfNodesToScore(key.toScore))
	var recorders profile.RecorderFactory = newRecorder
	results, err := callFunc(reflect.ValueOf(upstream.New), s.ctx, s.ctx.Done(), s.client, factory, recorders, options)
	if err != nil {
		return nil, err
	}
	s.sched = results[0].Interface().(*upstream.Scheduler)
	s.configured = s.sched.Extenders
	s.plugins = map[string]pluginHook{}
	for name, profile := range s.sched.Profiles {
		if s.plugins[name], err = s.hook(profile); err != nil {
			return nil, err
		}
	}
	s.profile = s.sched.Profiles[v1.DefaultSchedulerName]
	s.nextStart, err = nextStartOf(s.sched)
	return s, err
}

// newRecorder makes a recorder of events of the type that the release asks for.
func newRecorder[R any](string) R { return any(&events.FakeRecorder{}).(R) }

func (s *scheduler) cache() any { return s.sched.Cache }

// popped leaves the preemptor where it is when it has left the queue: its nomination
// remains.
func (s *scheduler) popped(p *v1.Pod) error {
	s.profile, s.plugin = s.sched.Profiles[p.Spec.SchedulerName], s.plugins[p.Spec.SchedulerName]
	s.client.Preemptor, *s.nextStart = p, 0
	results, _ := callFunc(reflect.ValueOf(framework.NewPodInfo), p) // upstream ignores this error, too
	s.info = results[0].Interface().(*framework.PodInfo)
	return call(s.queue(), "AddNominatedPod", s.info)
}

// configured are the profiles and the extenders that the settings ask for.
func configured(key settings) ([]config.KubeSchedulerProfile, []config.Extender, error) {
	if key.configuration == "" {
		all, err := profiles(key)
		return all, nil, err
	}
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode([]byte(key.configuration), nil, nil)
	if err != nil {
		return nil, nil, err
	}
	cfg, is := obj.(*config.KubeSchedulerConfiguration)
	if !is {
		return nil, nil, fmt.Errorf("it is a %T", obj)
	}
	return cfg.Profiles, cfg.Extenders, nil
}

// profiles is the configuration upstream.New would use by itself, with the arguments of
// DefaultPreemption set, for each profile that the settings ask for.
func profiles(key settings) (all []config.KubeSchedulerProfile, err error) {
	for _, p := range []profileSettings{key.first, key.second} {
		if p.name == "" {
			continue
		}
		cfg, err := latest.Default()
		if err != nil {
			return nil, err
		}
		cfg.Profiles[0].SchedulerName = p.name
		configs := cfg.Profiles[0].PluginConfig
		i := slices.IndexFunc(configs, func(c config.PluginConfig) bool { return c.Name == names.DefaultPreemption })
		if i < 0 {
			return nil, fmt.Errorf("the default profile configures no %s", names.DefaultPreemption)
		}
		args := configs[i].Args.(*config.DefaultPreemptionArgs)
		args.MinCandidateNodesPercentage, args.MinCandidateNodesAbsolute = p.minPercentage, p.minNumber
		all = append(all, cfg.Profiles[0])
	}
	return all, nil
}
