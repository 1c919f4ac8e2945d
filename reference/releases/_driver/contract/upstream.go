package contract

import (
	"context"
	"reflect"
	"slices"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/profile"

	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// This file is in the place of that of package contract for releases from 1.25 to 1.33. What they call in different
// ways is called by reflection.

type (
	snapshot        = framework.SharedLister
	cycleState      = *framework.CycleState
	nodeInfo        = *framework.NodeInfo
	preFilterResult = framework.PreFilterResult
	status          = framework.Status
)

// codeOf goes by names: not all releases have all codes.
func codeOf(st *status) calls.Code {
	return map[string]calls.Code{"Success": calls.Success, "Error": calls.Fails, "Unschedulable": calls.Rejects,
		"UnschedulableAndUnresolvable": calls.Unresolvable, "Skip": calls.Skip, "Pending": calls.Pending, "Wait": calls.Success}[st.Code().String()]
}

// quiet drops events.
type quiet struct{}

func (quiet) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

// makes makes the scheduler of a configuration.
func (s *scheduler) makes(cfg *config.KubeSchedulerConfiguration, factory informers.SharedInformerFactory, dynamics dynamicinformer.DynamicSharedInformerFactory,
	kubeConfig *rest.Config) error {
	var recorders profile.RecorderFactory = func(string) events.EventRecorder { return quiet{} }
	options := append(linked.Options(cfg), upstream.WithKubeConfig(kubeConfig))
	results, err := callFunc(reflect.ValueOf(upstream.New), s.ctx, s.ctx.Done(), s.api, factory, dynamics, recorders, options)
	if err == nil {
		s.sched = results[0].Interface().(*upstream.Scheduler)
	}
	return err
}

func (s *scheduler) updateSnapshot() error { return call(s.sched.Cache, "UpdateSnapshot", s.snapshot) }

// queue is the scheduler's queue.
func (s *scheduler) queue() reflect.Value {
	v := reflect.ValueOf(s.sched).Elem().FieldByName("SchedulingQueue")
	return v.Elem()
}

// enqueue puts a pod into the queue.
func (s *scheduler) enqueue(p *v1.Pod) { _ = call(s.queue().Interface(), "Add", p) }

// forget takes a pod out of the queue.
func (s *scheduler) forget(p *v1.Pod) { _ = call(s.queue().Interface(), "Delete", p) }

// active is how many pods the queue could give out.
func (s *scheduler) active() int {
	if has, is := s.queue().Interface().(interface{ PodsInActiveQ() []*v1.Pod }); is { // since 1.30
		return len(has.PodsInActiveQ())
	}
	heap := s.queue().Elem().FieldByName("activeQ")
	return reflect.NewAt(heap.Type(), unsafe.Pointer(heap.UnsafeAddr())).Elem().Interface().(interface{ Len() int }).Len()
}

// dequeue has the queue give out a pod.
func (s *scheduler) dequeue() (*framework.QueuedPodInfo, error) {
	results, err := callFunc(s.queue().MethodByName("Pop"))
	if err != nil {
		return nil, err
	}
	return results[0].Interface().(*framework.QueuedPodInfo), nil
}

// drain takes the pods that are active out of the queue. What the queue knows of nominations stays.
func (s *scheduler) drain() error {
	for s.active() > 0 {
		info, err := s.dequeue()
		if err != nil {
			return err
		}
		s.done(info.Pod)
	}
	return nil
}

// done ends the cycle of a pod that was given out, of which the queue knows since 1.28.
func (s *scheduler) done(p *v1.Pod) {
	if s.queue().MethodByName("Done").IsValid() {
		_ = call(s.queue().Interface(), "Done", p.UID)
	}
}

// reject puts a pod that was given out back, as one that a plugin rejected.
func (s *scheduler) reject(info *framework.QueuedPodInfo, plugin string) error {
	// A map whose type depends on the release.
	plugins := reflect.ValueOf(&info.UnschedulablePlugins).Elem()
	plugins.Set(reflect.MakeMap(plugins.Type()))
	plugins.SetMapIndex(reflect.ValueOf(plugin), reflect.Zero(plugins.Type().Elem()))
	cycle := s.queue().MethodByName("SchedulingCycle").Call(nil)[0].Interface()
	return call(s.queue().Interface(), "AddUnschedulableIfNotPresent", info, cycle)
}

// waits tells whether a pod is among the unschedulable ones of the queue. Only 1.33 lists them.
func (s *scheduler) waits(p *v1.Pod) bool {
	pods := s.queue().Elem().FieldByName("unschedulablePods").Elem().FieldByName("podInfoMap")
	for _, key := range pods.MapKeys() {
		if key.String() == p.Name+"_"+p.Namespace {
			return true
		}
	}
	return false
}

// lets is a plugin that lets pods into the queue; there is none before 1.26.
type lets interface {
	Name() string
	PreEnqueue(context.Context, *v1.Pod) *status
}

func letting(f framework.Framework) (all []lets) {
	list := reflect.ValueOf(f).MethodByName("PreEnqueuePlugins")
	if !list.IsValid() {
		return nil
	}
	plugins := list.Call(nil)[0]
	for i := range plugins.Len() {
		all = append(all, plugins.Index(i).Interface().(lets))
	}
	return all
}

// preEnqueue asks the plugins of a profile that let pods into the queue.
func preEnqueue(ctx context.Context, f framework.Framework, p *v1.Pod) *status {
	for _, plugin := range letting(f) {
		if st := plugin.PreEnqueue(ctx, p); !st.IsSuccess() {
			return st
		}
	}
	return nil
}

// letsIn tells whether a plugin is one of those.
func letsIn(f framework.Framework, name string) bool {
	return slices.ContainsFunc(letting(f), func(plugin lets) bool { return plugin.Name() == name })
}

func newCycleState() cycleState { return framework.NewCycleState() }

// preFilter calls PreFilter. It tells whether the plugin skips Filter, which it can since 1.27.
func (st *state) preFilter(ctx context.Context, plugin string) (skips bool) {
	results := reflect.ValueOf(st.RunPreFilterPlugins).Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(st.cycle), reflect.ValueOf(st.pod)})
	st.result, st.status = results[0].Interface().(*preFilterResult), results[1].Interface().(*status)
	skipped := reflect.ValueOf(st.cycle).Elem().FieldByName("SkipFilterPlugins")
	if !skipped.IsValid() {
		return false
	}
	return skipped.MapIndex(reflect.ValueOf(plugin)).IsValid()
}

// filter calls Filter. Before 1.27 each plugin has a status.
func (st *state) filter(ctx context.Context, info nodeInfo) *status {
	results := reflect.ValueOf(st.RunFilterPlugins).Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(st.cycle), reflect.ValueOf(st.pod), reflect.ValueOf(info)})
	if results[0].Kind() != reflect.Map {
		return results[0].Interface().(*status)
	}
	for _, of := range results[0].MapKeys() {
		return results[0].MapIndex(of).Interface().(*status)
	}
	return nil
}

func (st *state) addPod(ctx context.Context, p *v1.Pod, info nodeInfo) (*status, error) {
	results, err := callFunc(reflect.ValueOf(framework.NewPodInfo), p)
	if err != nil {
		return nil, err
	}
	added := results[0].Interface().(*framework.PodInfo)
	info.AddPodInfo(added)
	return st.RunPreFilterExtensionAddPod(ctx, st.cycle, st.pod, added, info), nil
}

// removePod removes the pod from a node that is tells. found says whether there is one.
func (st *state) removePod(ctx context.Context, is func(*v1.Pod) bool, info nodeInfo) (_ *status, found bool, _ error) {
	for _, removed := range info.Pods {
		if !is(removed.Pod) {
			continue
		}
		if err := call(info, "RemovePod", removed.Pod); err != nil {
			return nil, true, err
		}
		return st.RunPreFilterExtensionRemovePod(ctx, st.cycle, st.pod, removed, info), true, nil
	}
	return nil, false, nil
}

func copied(info nodeInfo) nodeInfo {
	for _, name := range []string{"Snapshot", "Clone"} { // since and before 1.29
		if method := reflect.ValueOf(info).MethodByName(name); method.IsValid() {
			return method.Call(nil)[0].Interface().(nodeInfo)
		}
	}
	panic("a NodeInfo cannot be copied")
}

// preFlights is asked since 1.34.
func (st *state) preFlights(context.Context, string) *status { return nil }
