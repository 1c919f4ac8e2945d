package contract

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// How a scheduler is called depends on its release. All of that is in this file: drivers of releases before 1.34 have
// another one in its place.

type (
	snapshot        = *internalcache.Snapshot
	cycleState      = fwk.CycleState
	nodeInfo        = fwk.NodeInfo
	preFilterResult = fwk.PreFilterResult
	status          = fwk.Status
)

func codeOf(st *status) calls.Code {
	return map[fwk.Code]calls.Code{fwk.Success: calls.Success, fwk.Error: calls.Fails, fwk.Unschedulable: calls.Rejects,
		fwk.UnschedulableAndUnresolvable: calls.Unresolvable, fwk.Skip: calls.Skip, fwk.Pending: calls.Pending, fwk.Wait: calls.Success}[st.Code()]
}

// quiet drops events.
type quiet struct{}

func (quiet) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// WithLogger implements events.EventRecorderLogger.
func (q quiet) WithLogger(klog.Logger) events.EventRecorderLogger { return q }

// makes makes the scheduler of a configuration.
func (s *scheduler) makes(cfg *config.KubeSchedulerConfiguration, factory informers.SharedInformerFactory, dynamics dynamicinformer.DynamicSharedInformerFactory,
	kubeConfig *rest.Config) (err error) {
	recorder := func(string) events.EventRecorderLogger { return quiet{} }
	s.sched, err = upstream.New(s.ctx, s.api, factory, dynamics, recorder, append(linked.Options(cfg), upstream.WithKubeConfig(kubeConfig))...)
	if err == nil && s.sched.APIDispatcher != nil {
		s.sched.APIDispatcher.Run(linked.Discard)
		cancel := s.cancel
		s.cancel = func() {
			s.sched.APIDispatcher.Close()
			cancel()
		}
	}
	return err
}

func (s *scheduler) updateSnapshot() error {
	return s.sched.Cache.UpdateSnapshot(linked.Discard, s.snapshot)
}

// enqueue puts a pod into the queue.
func (s *scheduler) enqueue(p *v1.Pod) { s.sched.SchedulingQueue.Add(s.ctx, p) }

// forget takes a pod out of the queue.
func (s *scheduler) forget(p *v1.Pod) { s.sched.SchedulingQueue.Delete(linked.Discard, p) }

// active is how many pods the queue could give out.
func (s *scheduler) active() int { return len(s.sched.SchedulingQueue.PodsInActiveQ()) }

// dequeue has the queue give out a pod.
func (s *scheduler) dequeue() (*framework.QueuedPodInfo, error) {
	popped, err := s.sched.SchedulingQueue.Pop(linked.Discard)
	if err != nil {
		return nil, err
	}
	info, ok := popped.(*framework.QueuedPodInfo)
	if !ok {
		return nil, fmt.Errorf("the queue gives out a %T", popped)
	}
	return info, nil
}

// drain takes the pods that are active out of the queue. What the queue knows of nominations stays.
func (s *scheduler) drain() error {
	queue := s.sched.SchedulingQueue
	for s.active() > 0 {
		if _, err := queue.Pop(linked.Discard); err != nil {
			return err
		}
	}
	for _, p := range queue.InFlightPods() {
		queue.Done(p.UID)
	}
	return nil
}

// done ends the cycle of a pod that was given out.
func (s *scheduler) done(p *v1.Pod) { s.sched.SchedulingQueue.Done(p.UID) }

// reject puts a pod that was given out back, as one that a plugin rejected.
func (s *scheduler) reject(info *framework.QueuedPodInfo, plugin string) error {
	info.UnschedulablePlugins = sets.New(plugin)
	return s.sched.SchedulingQueue.AddUnschedulablePodIfNotPresent(linked.Discard, info, s.sched.SchedulingQueue.SchedulingCycle())
}

// waits tells whether a pod is among the unschedulable ones of the queue.
func (s *scheduler) waits(p *v1.Pod) bool {
	return slices.ContainsFunc(s.sched.SchedulingQueue.UnschedulablePods(), func(other *v1.Pod) bool { return other.UID == p.UID })
}

// preEnqueue asks the plugins of a profile that let pods into the queue.
func preEnqueue(ctx context.Context, f framework.Framework, p *v1.Pod) *status {
	for _, plugin := range f.PreEnqueuePlugins() {
		if st := plugin.PreEnqueue(ctx, p); !st.IsSuccess() {
			return st
		}
	}
	return nil
}

// letsIn tells whether a plugin is one of those.
func letsIn(f framework.Framework, name string) bool {
	return slices.ContainsFunc(f.PreEnqueuePlugins(), func(plugin fwk.PreEnqueuePlugin) bool { return plugin.Name() == name })
}

func newCycleState() cycleState { return framework.NewCycleState() }

// preFilter calls PreFilter. It tells whether the plugin skips Filter.
func (st *state) preFilter(ctx context.Context, plugin string) (skips bool) {
	st.result, st.status, _ = st.RunPreFilterPlugins(ctx, st.cycle, st.pod)
	return st.cycle.GetSkipFilterPlugins().Has(plugin)
}

func (st *state) filter(ctx context.Context, info nodeInfo) *status {
	return st.RunFilterPlugins(ctx, st.cycle, st.pod, info)
}

func (st *state) addPod(ctx context.Context, p *v1.Pod, info nodeInfo) (*status, error) {
	added, err := framework.NewPodInfo(p)
	if err != nil {
		return nil, err
	}
	info.AddPodInfo(added)
	return st.RunPreFilterExtensionAddPod(ctx, st.cycle, st.pod, added, info), nil
}

// removePod removes the pod from a node that is tells. found says whether there is one.
func (st *state) removePod(ctx context.Context, is func(*v1.Pod) bool, info nodeInfo) (_ *status, found bool, _ error) {
	for _, removed := range info.GetPods() {
		if !is(removed.GetPod()) {
			continue
		}
		if err := info.RemovePod(linked.Discard, removed.GetPod()); err != nil {
			return nil, true, err
		}
		return st.RunPreFilterExtensionRemovePod(ctx, st.cycle, st.pod, removed, info), true, nil
	}
	return nil, false, nil
}

func copied(info nodeInfo) nodeInfo { return info.Snapshot() }

// preFlights asks whether there is something to be done before binding.
func (st *state) preFlights(ctx context.Context, node string) *status {
	return st.RunPreBindPreFlights(ctx, st.cycle, st.pod, node)
}
