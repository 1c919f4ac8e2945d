// This driver is for 1.13 to 1.16, whose preemption is a method of the generic
// scheduler. It runs the whole scheduling cycle of the real scheduler, which is
// handed the preemptor as its next pod, and watches what the cycle calls: the
// predicates, an extender that leaves everything as it is, the lister of budgets,
// and what makes the API calls.
package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/algorithmprovider"
	"k8s.io/kubernetes/pkg/scheduler/factory"

	"github.com/preemptcheck/preemptcheck/model/observation"
)

// scheduler is an upstream scheduler whose only pod to schedule is the one that
// comes through next.
type scheduler struct {
	config  *factory.Config
	pods    cache.Indexer
	nodes   cache.Indexer
	extra   map[reflect.Type]*informer
	budgets *budgetLister

	next chan *v1.Pod
	// idle tells that the scheduler waits for its next pod.
	idle chan struct{}

	mu sync.Mutex // predicates are run in parallel
	recorder

	ctx    context.Context
	cancel context.CancelFunc

	loaded loaded
}

// loaded is what unload has to take out again.
type loaded struct {
	extra     []runtime.Object
	nodes     []*v1.Node
	bound     []*v1.Pod
	pending   []*v1.Pod // nominated
	preemptor *v1.Pod
}

// The feature gates decide which predicates there are, before anything is made of
// them (cmd/kube-scheduler/app/server.go:152@v1.16.15).
func init() { algorithmprovider.ApplyFeatureGates() }

func newScheduler(key settings) (_ *scheduler, err error) {
	s := &scheduler{budgets: &budgetLister{}, next: make(chan *v1.Pod), idle: make(chan struct{})}
	s.budgets.listed = func() { s.tries = true }
	s.ctx, s.cancel = context.WithCancel(context.Background())
	client := &fake.Clientset{}
	informerFactory := informers.NewSharedInformerFactory(client, 0)
	s.extra = newInformers(informerFactory)
	s.pods = s.extra[reflect.TypeOf(&v1.Pod{})].GetIndexer()
	s.nodes = s.extra[reflect.TypeOf(&v1.Node{})].GetIndexer()
	// load feeds pods and nodes to cache and queue itself.
	delete(s.extra, reflect.TypeOf(&v1.Pod{}))
	delete(s.extra, reflect.TypeOf(&v1.Node{}))

	provider, err := factory.GetAlgorithmProvider(factory.DefaultProvider)
	if err != nil {
		return nil, err
	}
	s.config, err = s.configurator(client, informerFactory).CreateFromKeys(provider.FitPredicateKeys, provider.PriorityFunctionKeys, extenders(s))
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

// load puts c into the scheduler as the event handlers would. On an error the
// scheduler has to be unloaded too.
func (s *scheduler) load(c *cluster) error {
	s.budgets.budgets = c.budgets
	for _, obj := range c.extra {
		if inf := s.extra[reflect.TypeOf(obj)]; inf != nil {
			if err := inf.add(obj); err != nil {
				return err
			}
			s.loaded.extra = append(s.loaded.extra, obj)
		}
	}
	nodes := make([]interface{}, len(c.nodes))
	for i, n := range c.nodes {
		nodes[i] = n
		if err := s.config.SchedulerCache.AddNode(n); err != nil {
			return err
		}
		s.loaded.nodes = append(s.loaded.nodes, n)
	}
	if err := s.nodes.Replace(nodes, ""); err != nil {
		return err
	}
	// The preemptor is popped from a queue that holds nothing else yet.
	s.loaded.preemptor = c.preemptor
	if err := s.config.SchedulingQueue.Add(c.preemptor); err != nil {
		return err
	}
	if _, err := s.config.SchedulingQueue.Pop(); err != nil {
		return err
	}
	for _, p := range c.pods {
		if p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed {
			continue // the scheduler's pod informer leaves these out
		}
		if err := s.pods.Add(p); err != nil {
			return err
		}
		switch {
		case p.Spec.NodeName != "":
			if err := s.config.SchedulerCache.AddPod(p); err != nil {
				return err
			}
			s.loaded.bound = append(s.loaded.bound, p)
		case p.Status.NominatedNodeName != "" && p.Spec.SchedulerName == v1.DefaultSchedulerName:
			// Nothing but nominations is visible to another pod's cycle.
			if err := s.config.SchedulingQueue.Add(p); err != nil {
				return err
			}
			s.loaded.pending = append(s.loaded.pending, p)
		}
	}
	return s.pods.Add(c.preemptor)
}

// canRun says why the scheduler would never try the preemptor, if so.
func (s *scheduler) canRun(p *v1.Pod) error {
	why := ""
	switch {
	case p.Spec.NodeName != "":
		why = "is bound to node " + p.Spec.NodeName
	case p.DeletionTimestamp != nil:
		why = "is being deleted"
	case p.Spec.SchedulerName != v1.DefaultSchedulerName:
		why = fmt.Sprintf("is for the scheduler %q", p.Spec.SchedulerName)
	default:
		return nil
	}
	return fmt.Errorf("preemptor %s %s", key(p), why)
}

// unload empties the scheduler, and tells whether that worked.
func (s *scheduler) unload() bool {
	ok := true
	check := func(err error) { ok = ok && err == nil }
	if s.loaded.preemptor != nil {
		s.config.SchedulingQueue.DeleteNominatedPodIfExists(s.loaded.preemptor)
	}
	for _, p := range s.loaded.pending {
		check(s.config.SchedulingQueue.Delete(p))
	}
	for _, p := range s.loaded.bound {
		check(s.config.SchedulerCache.RemovePod(p))
	}
	for _, n := range s.loaded.nodes {
		check(s.config.SchedulerCache.RemoveNode(n))
	}
	check(s.pods.Replace(nil, ""))
	check(s.nodes.Replace(nil, ""))
	for _, obj := range s.loaded.extra {
		check(s.extra[reflect.TypeOf(obj)].remove(obj))
	}
	s.budgets.budgets = nil
	s.loaded = loaded{}
	return ok
}

// observe loads c, runs the scheduling cycle of its preemptor and unloads it.
func (s *scheduler) observe(c *cluster) (obs *observation.Observation, reusable bool, err error) {
	obs = &observation.Observation{System: release, Filters: map[string]observation.Verdict{}, PinnedBudgetOrder: true}
	if err = s.load(c); err == nil {
		s.recorder = recorder{obs: obs, last: map[string]observation.Verdict{}, errs: map[string]string{}}
		s.next <- c.preemptor
		<-s.idle
		if a := obs.Actuation; a != nil {
			for _, list := range [][]string{a.Deleted, a.Cleared} {
				slices.Sort(list)
			}
		}
	}
	return obs, s.unload(), err
}
