// This driver is for 1.13 to 1.16, whose preemption is a method of the generic
// scheduler. It runs the whole scheduling cycle of the real scheduler, which is
// handed the preemptor as its next pod, and watches what the cycle calls: the
// predicates, an extender that leaves everything as it is, the lister of budgets,
// and what makes the API calls.
package main

import (
	"context"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/algorithm"
	"k8s.io/kubernetes/pkg/scheduler/algorithmprovider"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/api"
	"k8s.io/kubernetes/pkg/scheduler/factory"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// scheduler is an upstream scheduler whose only pod to schedule is the one that
// comes through next.
type scheduler struct {
	config *factory.Config
	store

	next chan *v1.Pod
	// idle tells that the scheduler waits for its next pod.
	idle chan struct{}

	mu sync.Mutex // predicates are run in parallel
	recorder

	ctx    context.Context
	cancel context.CancelFunc

	loaded loaded
}

// watchedToo is empty: the scheduler watches nothing else yet.
var watchedToo []runtime.Object

// The feature gates decide which predicates there are, before anything is made of
// them (cmd/kube-scheduler/app/server.go:152@v1.16.15).
func init() {
	quiet(klog.InitFlags, klog.SetOutput)
	algorithmprovider.ApplyFeatureGates()
}

func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{next: make(chan *v1.Pod), idle: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	client := &fake.Clientset{}
	var f informers.SharedInformerFactory
	s.store, f = newStore(client)
	s.budgets.listed = func() { s.tries = true }
	provider, err := factory.GetAlgorithmProvider(factory.DefaultProvider)
	if err != nil {
		return nil, err
	}
	args := &factory.ConfigFactoryArgs{
		Client:                         client,
		NodeInformer:                   f.Core().V1().Nodes(),
		PodInformer:                    f.Core().V1().Pods(),
		PvInformer:                     f.Core().V1().PersistentVolumes(),
		PvcInformer:                    f.Core().V1().PersistentVolumeClaims(),
		ReplicationControllerInformer:  f.Core().V1().ReplicationControllers(),
		ReplicaSetInformer:             f.Apps().V1().ReplicaSets(),
		StatefulSetInformer:            f.Apps().V1().StatefulSets(),
		ServiceInformer:                f.Core().V1().Services(),
		PdbInformer:                    f.Policy().V1beta1().PodDisruptionBudgets(),
		StorageClassInformer:           f.Storage().V1().StorageClasses(),
		HardPodAffinitySymmetricWeight: v1.DefaultHardPodAffinitySymmetricWeight,
		PercentageOfNodesToScore:       schedulerapi.DefaultPercentageOfNodesToScore,
		BindTimeoutSeconds:             600,
		StopCh:                         s.ctx.Done(),
	}
	complete(args, f)
	extenders := []algorithm.SchedulerExtender{extender{s}}
	s.config, err = factory.NewConfigFactory(args).CreateFromKeys(provider.FitPredicateKeys, provider.PriorityFunctionKeys, extenders)
	if err != nil {
		return nil, err
	}
	predicates := s.config.Algorithm.Predicates()
	for name, predicate := range predicates {
		predicates[name] = s.watch(predicate)
	}
	s.config.Algorithm = algorithmWatcher{s.config.Algorithm, s}
	s.config.PodPreemptor = podPreemptor{s}
	s.config.PodConditionUpdater = noConditions{}
	s.config.Recorder = newEventRecorder()
	s.config.Error = func(*v1.Pod, error) {}
	s.config.WaitForCacheSync = func() bool { return true }
	s.config.NextPod = func() *v1.Pod {
		s.idle <- struct{}{}
		return <-s.next
	}
	upstream.NewFromConfig(s.config).Run()
	<-s.idle
	return s, nil
}

func (s *scheduler) cache() any { return s.config.SchedulerCache }
func (s *scheduler) queue() any { return s.config.SchedulingQueue }

func (s *scheduler) handles(p *v1.Pod) bool { return p.Spec.SchedulerName == v1.DefaultSchedulerName }

// updateSnapshot does nothing: a cycle does by itself.
func (s *scheduler) updateSnapshot() error { return nil }

// popped takes the preemptor from a queue that holds nothing else yet.
func (s *scheduler) popped(p *v1.Pod) error {
	if err := s.config.SchedulingQueue.Add(p); err != nil {
		return err
	}
	_, err := s.config.SchedulingQueue.Pop()
	return err
}

// failed is a cycle that ended in an error.
func (s *scheduler) failed(obs *observation.Observation, err error) {
	obs.CycleError = err.Error()
	obs.Actuation = &observation.Actuation{Nomination: observation.NominationKept}
}

// run is the scheduling cycle of the loaded cluster's preemptor up to its
// nomination.
func (s *scheduler) run(c *cluster, obs *observation.Observation) {
	s.recorder = recorder{obs: obs, last: map[string]observation.Verdict{}, errs: map[string]string{}}
	s.next <- c.preemptor
	<-s.idle
	if a := obs.Actuation; a != nil {
		slices.Sort(a.Deleted)
		slices.Sort(a.Cleared)
	}
}

type noConditions struct{}

func (noConditions) Update(*v1.Pod, *v1.PodCondition) error { return nil }
