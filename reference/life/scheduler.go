package life

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	refs "k8s.io/client-go/tools/reference"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/life/api"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// scheduler is one life of a scheduler.
type scheduler struct {
	r         *run
	sched     *upstream.Scheduler
	plugins   map[string]*defaultpreemption.DefaultPreemption
	informers map[reflect.Type]*informer
	offset    int32
	sync      bool // victims are preempted within the cycle
	ctx       context.Context
	cancel    context.CancelFunc
	dead      atomic.Bool
	inCycle   atomic.Bool // of the loop: between two pods
	holders   []*holder
	group     atomic.Pointer[groupCycle] // that is on; nil if none is
	turns     sync.Map                   // of members of groups that are about to be bound: when each goes on, by their UIDs

	mu sync.Mutex
	// cycle is the number of the cycle on hand, current whose it is, as the object of an entry; dryRuns are the victims
	// that it would have on each node; decided tells whether its decision is noted.
	cycle   int
	current string
	dryRuns map[string]dryRun
	decided bool
}

// note adds an entry to the trace, unless the scheduler is dead.
func (s *scheduler) note(e timeline.Entry) {
	if !s.dead.Load() {
		s.r.note(e)
	}
}

// dryRun is what preemption on a node would cost.
type dryRun struct {
	victims    []*v1.Pod
	violations int
}

func podName(p *v1.Pod) string { return "Pod " + model.Key(p) }

// newScheduler makes a scheduler that knows what is in the API, but for the last events of some kinds:
// see timeline.Step.Behind.
func newScheduler(r *run, behind map[string]int) (*scheduler, error) {
	s := &scheduler{r: r, plugins: map[string]*defaultpreemption.DefaultPreemption{}}
	settings := r.tl.Cluster.Settings
	s.sync = !settings.AsyncPreemption()
	if settings.DryRunOffset != nil {
		s.offset = *settings.DryRunOffset
	}
	s.ctx, s.cancel = context.WithCancel(linked.NewContext(&r.crash))
	cfg, err := configured(settings)
	if err != nil {
		return nil, err
	}
	client := newClient(s)
	factory := informers.NewSharedInformerFactory(client, 0)
	s.informers = newInformers(factory)
	// The context of New ends at once: with it the recorder of metrics, which looks for
	// them thousands of times in a second (metric_recorder.go:139@v1.37.1).
	made, stop := context.WithCancel(s.ctx)
	recorder := func(string) events.EventRecorderLogger { return eventRecorder{s} }
	registry := linked.Registry()
	registry[holderName] = s.newHolder
	s.sched, err = upstream.New(made, client, factory, nil, recorder, append(linked.Options(cfg), upstream.WithFrameworkOutOfTreeRegistry(registry))...)
	stop()
	signal.Reset(syscall.SIGUSR2) // see package inprocess
	if err != nil {
		return nil, err
	}
	linked.Outside(r.bubble, s.sched.Extenders)
	for name, profile := range s.sched.Profiles {
		plugin, err := linked.Preemption(s.ctx, profile)
		if err != nil {
			return nil, err
		}
		plugin.Evaluator.PdbLister = budgetLister{plugin.Evaluator.PdbLister}
		plugin.Evaluator.Interface = &watch{plugin.Evaluator.Interface, s}
		plugin.Executor.PreemptPod = s.preempts(plugin.Executor.PreemptPod)
		if err := s.watchGroups(plugin); err != nil {
			return nil, err
		}
		s.plugins[name] = plugin
	}
	s.hook()
	lists, missed := map[*informer][]runtime.Object{}, map[*informer][]api.Event{}
	for kind, i := range s.informers {
		lists[i], missed[i] = r.server.List(kind, behind[i.kind])
		for _, obj := range lists[i] {
			if err := i.GetIndexer().Add(obj); err != nil {
				return nil, err
			}
		}
	}
	// Nodes first and pods last, as the pods' handlers look for the rest.
	kinds := make([]*informer, 0, len(s.informers))
	for _, i := range s.informers {
		kinds = append(kinds, i)
	}
	rank := func(i *informer) int { return slices.Index([]string{"Pod", "Node"}, i.kind) }
	slices.SortFunc(kinds, func(a, b *informer) int {
		if d := rank(a) - rank(b); d != 0 && (a.kind == "Pod" || b.kind == "Pod") {
			return map[bool]int{true: 1, false: -1}[a.kind == "Pod"]
		}
		return strings.Compare(a.kind, b.kind)
	})
	start := timeline.Startup{Entry: len(r.trace.Entries)}
	for _, i := range kinds {
		for _, obj := range lists[i] {
			start.Objects = append(start.Objects, obj)
			i.handle(api.Event{Now: obj}, true)
		}
		for _, e := range missed[i] {
			start.Missed = append(start.Missed, timeline.Missed{Object: api.NameOf(e.About()), Text: e.String()})
			s.deliver(e)
		}
	}
	r.saw(&timeline.Trace{Startups: []timeline.Startup{start}})
	return s, nil
}

// configured is the configuration, with the plugin that can hold a pod. Only one node is looked at at a time.
func configured(settings model.Settings) (*config.KubeSchedulerConfiguration, error) {
	settings.PercentageOfNodesToScore = nil
	cfg, err := linked.Configured(settings)
	if err != nil {
		return nil, err
	}
	cfg.Parallelism = 1
	for i := range cfg.Profiles {
		plugins := cfg.Profiles[i].Plugins
		for _, set := range []*config.PluginSet{&plugins.Reserve, &plugins.Permit, &plugins.PreBind} {
			set.Enabled = append(set.Enabled, config.Plugin{Name: holderName})
		}
	}
	return cfg, nil
}

// run starts the scheduler's own loops.
func (s *scheduler) run() { go s.sched.Run(s.ctx) }

// end makes the scheduler do nothing any more.
func (s *scheduler) end() {
	s.dead.Store(true)
	s.cancel()
	for _, h := range s.holders {
		h.letGo()
	}
}

// hook puts the places into the scheduler.
func (s *scheduler) hook() {
	next := s.sched.NextEntity
	s.sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {
		s.inCycle.Store(false)
		if !s.park(timeline.Place{Name: timeline.Pop}, s.mayPop) {
			return nil, nil
		}
		entity, err := next(logger)
		s.inCycle.Store(true)
		if info, ok := entity.(*framework.QueuedPodInfo); ok && info != nil && info.Pod != nil {
			s.mu.Lock()
			s.cycle, s.dryRuns, s.decided, s.current = s.cycle+1, map[string]dryRun{}, false, podName(info.Pod)
			s.mu.Unlock()
			s.note(timeline.Entry{What: timeline.Popped, Object: podName(info.Pod), Is: info.Pod})
		}
		return entity, err
	}
	schedule := s.sched.SchedulePod
	s.sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
		s.park(timeline.Place{Name: timeline.Filter, Pod: model.Key(info.Pod)}, nil)
		result, err := schedule(ctx, f, state, info)
		e := timeline.Entry{What: timeline.Fits, Object: podName(info.Pod), Node: result.SuggestedHost, Is: info.Pod, Untracked: s.untracked(info.Pod)}
		if err != nil {
			e.What, e.Node, e.Text = timeline.Unfit, "", err.Error()
		}
		s.note(e)
		return result, err
	}
	failed := s.sched.FailureHandler
	s.sched.FailureHandler = func(ctx context.Context, f framework.Framework, info *framework.QueuedPodInfo, status *fwk.Status, nominating *fwk.NominatingInfo, start time.Time) {
		key := model.Key(info.Pod)
		s.park(timeline.Place{Name: timeline.Requeue, Pod: key}, nil)
		failed(ctx, f, info, status, nominating, start)
		if s.dead.Load() { // its goroutines end all at once
			return
		}
		queues, _, gated := s.queuesOf(info.Pod)
		e := timeline.Entry{What: timeline.Requeued, Object: podName(info.Pod), Gated: gated, Is: info.Pod}
		if !status.IsRejected() {
			e.Text = "error"
		}
		if len(queues) > 0 {
			e.Queue = queues[0]
		}
		s.note(e)
	}
	s.hookGroups(schedule, failed)
	for name, profile := range s.sched.Profiles {
		s.sched.Profiles[name] = &profileWatch{linked.Profile{Framework: profile, Rescue: s.rescue}, s}
	}
}

// mayPop tells whether the queue has a pod to hand out: one that is active or, as no other is, one that is backing off
// after plugins have rejected it: what no plugin is noted for waits its time (backoff_queue.go:304@v1.37.1). Were the loop let
// into Pop otherwise, what becomes active while it waits there would be popped in an order that is left to chance.
func (s *scheduler) mayPop() bool {
	queue := s.sched.SchedulingQueue
	if len(queue.PodsInActiveQ()) > 0 {
		return true
	}
	return utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ) && slices.ContainsFunc(queue.PodsInBackoffQ(), func(p *v1.Pod) bool {
		if rejected, ok := s.groupRejected(p); ok {
			return rejected
		}
		info, ok := queue.GetPod(p.Name, p.Namespace, nil)
		return ok && len(info.UnschedulablePlugins)+len(info.PendingPlugins) > 0
	})
}

// eventRecorder notes events. As upstream's recorder it sends references to objects: an
// event about one that is in no scheme is never sent.
type eventRecorder struct{ s *scheduler }

func (r eventRecorder) Eventf(regarding, _ runtime.Object, _, reason, _, note string, args ...any) {
	about, err := refs.GetReference(scheme.Scheme, regarding)
	if err != nil {
		return
	}
	name := about.Namespace + "/" + about.Name
	r.s.note(timeline.Entry{What: timeline.Told, Object: about.Kind + " " + name, UID: about.UID, Text: reason + ": " + fmt.Sprintf(note, args...)})
	r.s.park(timeline.Place{Name: timeline.Record, Pod: name}, nil)
}

// WithLogger implements events.EventRecorderLogger.
func (r eventRecorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

var errDead = errors.New("this scheduler is dead")
