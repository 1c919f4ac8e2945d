package main

import (
	"fmt"
	"math/rand"
	"os"
	"reflect"
	goruntime "runtime"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	"github.com/preemptcheck/preemptcheck/outside"
)

// A driver with plugins that are not the scheduler's own is told of them by its first argument.

func init() {
	setup, err := outside.Read(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	watchedOutside = []runtime.Object{&schedulingv1.PriorityClass{}}
	served := outside.NewAPI(setup.Kinds)
	servesKind = served.Serves
	surround = func(s *scheduler) *outsiders { return newOutsiders(s, setup) }
	// The sources of Evaluator are edited to call it.
	preemption.Hook = func(ev *preemption.Evaluator) { running.watches(ev) }
}

// running is the scheduler that was loaded last.
var running *scheduler

// newOutsiders makes the plugins' surroundings in a scheduler that is being made.
func newOutsiders(s *scheduler, setup *outside.Setup) *outsiders {
	api := outside.NewAPI(setup.Kinds)
	api.Wrote = s.client.AddOther
	var tell []cache.ResourceEventHandler
	pods, nodes := s.store.podInformer, s.store.nodeInformer
	registry := frameworkruntime.Registry{}
	for _, p := range setup.Plugins {
		factory := reflect.ValueOf(p.New)
		registry[p.Name] = reflect.MakeFunc(factory.Type(), func(in []reflect.Value) []reflect.Value {
			had, hadNodes := len(pods.handlers), len(nodes.handlers)
			out := factory.Call(in)
			tell = append(append(tell, pods.handlers[had:]...), nodes.handlers[hadNodes:]...)
			return out
		}).Interface().(frameworkruntime.PluginFactory)
	}
	return &outsiders{
		registry: registry,
		options:  []upstream.Option{upstream.WithKubeConfig(api.Config())},
		addTo:    func(p *config.KubeSchedulerProfile) { setup.AddTo(p) },
		surroundings: surroundings{load: func(c *cluster) error {
			running = s
			rand.Seed(1) // what a plugin draws is the same each time
			for _, o := range c.foreign {
				if err := api.Set(o.Object); err != nil {
					return err
				}
			}
			if len(c.foreign) > 0 {
				settle()
			}
			return nil
		},
			told: func(obj any, added bool) {
				for _, h := range tell {
					if added {
						_ = call(h, "OnAdd", obj)
					} else {
						h.OnDelete(obj)
					}
				}
			},
			unload: func() {
				api.Clear()
				settle()
			}},
	}
}

// settle lets all other goroutines do what they can do. All of them run on one thread, and none waits for anything but another
// one, or for time to pass.
func settle() {
	for range 2000 {
		goruntime.Gosched()
	}
}

// watches records what an Evaluator of a plugin does, as that of DefaultPreemption, which is recorded anyway.
func (s *scheduler) watches(ev *preemption.Evaluator) {
	if ev.PluginName == names.DefaultPreemption {
		return
	}
	inner := ev.Interface
	if old, is := inner.(*recorder); is { // of an earlier cycle
		inner = old.Interface
	}
	s.recorder.Interface = inner
	ev.Interface, ev.Handler = s.recorder, handle{s.profile, s.extenders}
	if running, is := any(ev).(interface{ IsPodRunningPreemption(types.UID) bool }); is {
		s.evaluating = running.IsPodRunningPreemption
	}
}
