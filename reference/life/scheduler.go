package life

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	refs "k8s.io/client-go/tools/reference"
	"k8s.io/klog/v2"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/features"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
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

	mu sync.Mutex
	// dryRuns are the victims that the cycle on hand would have on each node; decided
	// tells whether its decision is noted.
	dryRuns map[string][]*v1.Pod
	decided bool
}

// note adds an entry to the trace, unless the scheduler is dead.
func (s *scheduler) note(e timeline.Entry) {
	if !s.dead.Load() {
		s.r.note(e)
	}
}

func podName(p *v1.Pod) string { return "Pod " + model.Key(p) }

// newScheduler makes a scheduler that knows what is in the API now.
func newScheduler(r *run) (*scheduler, error) {
	s := &scheduler{r: r, plugins: map[string]*defaultpreemption.DefaultPreemption{}}
	settings := r.tl.Cluster.Settings
	s.sync = !settings.AsyncPreemption()
	if settings.DryRunOffset != nil {
		s.offset = *settings.DryRunOffset
	}
	s.ctx, s.cancel = context.WithCancel(linked.NewContext(&r.crash))
	profiles, err := profiles(settings)
	if err != nil {
		return nil, err
	}
	api := newClient(s)
	factory := informers.NewSharedInformerFactory(api, 0)
	s.informers = newInformers(factory)
	// The context of New ends at once: with it the recorder of metrics, which looks for
	// them thousands of times in a second (metric_recorder.go:139@v1.37.1).
	made, stop := context.WithCancel(s.ctx)
	recorder := func(string) events.EventRecorderLogger { return eventRecorder{s} }
	var byDefault int32
	s.sched, err = upstream.New(made, api, factory, nil, recorder, upstream.WithProfiles(profiles...),
		upstream.WithFrameworkOutOfTreeRegistry(map[string]func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error){
			holderName: func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return &holder{s}, nil },
		}),
		upstream.WithParallelism(1), upstream.WithPercentageOfNodesToScore(&byDefault))
	stop()
	signal.Reset(syscall.SIGUSR2) // see package inprocess
	if err != nil {
		return nil, err
	}
	for name, profile := range s.sched.Profiles {
		for _, p := range profile.PreEnqueuePlugins() {
			if plugin, ok := p.(*defaultpreemption.DefaultPreemption); ok {
				plugin.Evaluator.PdbLister = budgetLister{plugin.Evaluator.PdbLister}
				plugin.Evaluator.Interface = &watch{plugin.Evaluator.Interface, s}
				plugin.Executor.PreemptPod = s.preempts(plugin.Executor.PreemptPod)
				s.plugins[name] = plugin
			}
		}
	}
	s.hook()
	for kind, i := range s.informers {
		for _, obj := range r.server.objects[kind] {
			if seen(obj) != nil {
				if err := i.GetIndexer().Add(obj); err != nil {
					return nil, err
				}
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
	for _, i := range kinds {
		for kind, objects := range r.server.objects {
			if s.informers[kind] != i {
				continue
			}
			for _, obj := range objects {
				if seen(obj) != nil {
					i.handle(event{now: obj}, true)
				}
			}
		}
	}
	return s, nil
}

// profiles are the configured ones, with the plugin that can hold a pod.
func profiles(settings model.Settings) ([]config.KubeSchedulerProfile, error) {
	or := func(p *int32, byDefault int32) int32 {
		if p == nil {
			return byDefault
		}
		return *p
	}
	all, err := linked.DefaultProfiles(or(settings.MinCandidateNodesPercentage, model.DefaultMinCandidateNodesPercentage),
		or(settings.MinCandidateNodesAbsolute, model.DefaultMinCandidateNodesAbsolute))
	if err != nil {
		return nil, err
	}
	if p := settings.SecondProfile; p != nil {
		second, err := linked.DefaultProfiles(or(p.MinCandidateNodesPercentage, model.DefaultMinCandidateNodesPercentage),
			or(p.MinCandidateNodesAbsolute, model.DefaultMinCandidateNodesAbsolute))
		if err != nil {
			return nil, err
		}
		second[0].SchedulerName = p.SchedulerName
		all = append(all, second...)
	}
	for i := range all {
		all[i].Plugins.PreBind.Enabled = append(all[i].Plugins.PreBind.Enabled, config.Plugin{Name: holderName})
	}
	return all, nil
}

// run starts the scheduler's own loops.
func (s *scheduler) run() { go s.sched.Run(s.ctx) }

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
			s.dryRuns, s.decided = map[string][]*v1.Pod{}, false
			s.mu.Unlock()
			s.note(timeline.Entry{What: timeline.Popped, Object: podName(info.Pod)})
		}
		return entity, err
	}
	schedule := s.sched.SchedulePod
	s.sched.SchedulePod = func(ctx context.Context, f framework.Framework, state fwk.CycleState, info *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
		s.park(timeline.Place{Name: timeline.Filter, Pod: model.Key(info.Pod)}, nil)
		result, err := schedule(ctx, f, state, info)
		e := timeline.Entry{What: timeline.Fits, Object: podName(info.Pod), Node: result.SuggestedHost}
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
		e := timeline.Entry{What: timeline.Requeued, Object: podName(info.Pod), Gated: gated}
		if !status.IsRejected() {
			e.Text = "error"
		}
		if len(queues) > 0 {
			e.Queue = queues[0]
		}
		s.note(e)
	}
	for name, profile := range s.sched.Profiles {
		s.sched.Profiles[name] = &profileWatch{profile, s}
	}
}

// mayPop tells whether the queue has a pod to hand out: one that is active or, as no
// other is, one that is backing off, but not after an error
// (backoff_queue.go:368@v1.37.1, popBackoff). Were the loop let into Pop otherwise, what
// becomes active while it waits there would be popped in an order that is left to chance.
func (s *scheduler) mayPop() bool {
	queue := s.sched.SchedulingQueue
	if len(queue.PodsInActiveQ()) > 0 {
		return true
	}
	return utilfeature.DefaultFeatureGate.Enabled(features.SchedulerPopFromBackoffQ) && slices.ContainsFunc(queue.PodsInBackoffQ(), func(p *v1.Pod) bool {
		info, ok := queue.GetPod(p.Name, p.Namespace, nil)
		return ok && info.ConsecutiveErrorsCount == 0
	})
}

// profileWatch is a profile whose choices are pinned and noted.
type profileWatch struct {
	framework.Framework
	s *scheduler
}

func (w *profileWatch) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (status *fwk.Status) {
	w.s.r.bubble.Progress()
	defer w.s.rescue(&status)
	return w.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
}

// The plugins of a binding cycle run in a goroutine of its own, whose panic would end the
// process.

func (w *profileWatch) RunPreBindPreFlights(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer w.s.rescue(&status)
	return w.Framework.RunPreBindPreFlights(ctx, state, pod, node)
}

func (w *profileWatch) WaitOnPermit(ctx context.Context, pod *v1.Pod) (status *fwk.Status) {
	defer w.s.rescue(&status)
	return w.Framework.WaitOnPermit(ctx, pod)
}

func (w *profileWatch) RunPreBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer w.s.rescue(&status)
	return w.Framework.RunPreBindPlugins(ctx, state, pod, node)
}

func (w *profileWatch) RunBindPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node string) (status *fwk.Status) {
	defer w.s.rescue(&status)
	return w.Framework.RunBindPlugins(ctx, state, pod, node)
}

// rescue makes a panic the crash of the scheduler, and the status of the call that is
// deferring it.
func (s *scheduler) rescue(status **fwk.Status) {
	if p := recover(); p != nil {
		s.r.crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
		*status = fwk.AsStatus(fmt.Errorf("panic: %v", p))
	}
}

// RunScorePlugins makes the first name win among nodes of equal score, where upstream
// draws lots.
func (w *profileWatch) RunScorePlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes []fwk.NodeInfo) ([]fwk.NodePluginScores, *fwk.Status) {
	scores, status := w.Framework.RunScorePlugins(ctx, state, pod, nodes)
	slices.SortFunc(scores, func(a, b fwk.NodePluginScores) int { return strings.Compare(b.Name, a.Name) })
	for i := range scores {
		scores[i].Randomizer = i
	}
	return scores, status
}

// RunPostFilterPlugins gets the potential nodes in order, and notes what was decided.
func (w *profileWatch) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	result, status := w.Framework.RunPostFilterPlugins(ctx, state, pod, sortedNodes{nodes})
	e := timeline.Entry{What: timeline.Decided, Object: podName(pod), Text: status.Message()}
	if result != nil && result.NominatingInfo != nil && result.NominatingInfo.NominatingMode == fwk.ModeOverride {
		e.Node = result.NominatedNodeName
	} else {
		e.Node = pod.Status.NominatedNodeName // kept
		e.Text = strings.TrimSpace(e.Text + " (the nomination is left as it is)")
	}
	w.s.mu.Lock()
	done := w.s.decided
	if status.IsSuccess() {
		e.Victims = keys(w.s.dryRuns[e.Node])
	}
	w.s.mu.Unlock()
	if !done {
		w.s.note(e)
	}
	return result, status
}

func keys(pods []*v1.Pod) (all []string) {
	for _, p := range pods {
		all = append(all, model.Key(p))
	}
	return all
}

// sortedNodes gives nodes by name, where upstream ranges over a map.
type sortedNodes struct{ fwk.NodeToStatusReader }

func (n sortedNodes) NodesForStatusCode(lister fwk.NodeInfoLister, code fwk.Code) ([]fwk.NodeInfo, error) {
	nodes, err := n.NodeToStatusReader.NodesForStatusCode(lister, code)
	slices.SortFunc(nodes, func(a, b fwk.NodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	return nodes, err
}

// watch stands between the evaluator and the plugin.
type watch struct {
	preemption.Interface
	s *scheduler
}

func (w *watch) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, n := w.Interface.GetOffsetAndNumCandidates(nodes)
	if nodes == 0 {
		return 0, n
	}
	return w.s.offset % nodes, n
}

func (w *watch) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *v1.Pod, node fwk.NodeInfo,
	possible []*preemption.DomainVictim, budgets []*policyv1.PodDisruptionBudget) (victims []*v1.Pod, violations int, status *fwk.Status) {
	w.s.r.bubble.Progress()
	defer w.s.rescue(&status)
	victims, violations, status = w.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, possible, budgets)
	if status.IsSuccess() {
		w.s.mu.Lock()
		w.s.dryRuns[node.Node().Name] = victims
		w.s.mu.Unlock()
	}
	return victims, violations, status
}

// OrderedScoreFuncs gets the very map that the node is then picked from: among nodes that
// no criterion tells apart, only the first name is left in it.
func (w *watch) OrderedScoreFuncs(ctx context.Context, victims map[string]*extenderv1.Victims) []func(string) int64 {
	first := map[string]string{}
	for node, v := range victims {
		sum, top := int64(0), int32(0)
		for i, p := range v.Pods {
			sum += int64(model.Priority(p))
			if i == 0 {
				top = model.Priority(p)
			}
		}
		alike := fmt.Sprint(v.NumPDBViolations, top, sum, len(v.Pods), util.GetEarliestPodStartTime(v))
		if other, ok := first[alike]; !ok || node < other {
			first[alike] = node
		}
	}
	keep := map[string]bool{}
	for _, node := range first {
		keep[node] = true
	}
	for node := range victims {
		if !keep[node] {
			delete(victims, node)
		}
	}
	return w.Interface.OrderedScoreFuncs(ctx, victims)
}

type preemptorKey struct{}

type preemptPodFunc = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error)

// preempts makes calls tell for which pod they are.
func (s *scheduler) preempts(next preemptPodFunc) preemptPodFunc {
	return func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (bool, error) {
		defer func() {
			if p := recover(); p != nil {
				s.r.crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
			}
		}()
		if pod, ok := preemptor.Obj().(interface {
			GetNamespace() string
			GetName() string
		}); ok {
			ctx = context.WithValue(ctx, preemptorKey{}, model.Key(pod))
			if s.sync { // the calls are made before PostFilter answers
				s.mu.Lock()
				first := !s.decided
				s.decided = true
				s.mu.Unlock()
				if first {
					s.note(timeline.Entry{What: timeline.Decided, Object: "Pod " + model.Key(pod), Node: c.Name(), Victims: keys(c.Victims().Pods)})
				}
			}
		}
		return next(ctx, c, preemptor, victim, plugin)
	}
}

// logged is told of upstream's log lines: the only sign of the two ends of a preemption's
// goroutine (executor.go:255@v1.37.1, executor.go:310@v1.37.1).
func (r *run) logged(message string, keysAndValues []any) {
	var place timeline.PlaceName
	var what timeline.What
	switch message {
	case "Start the preemption asynchronously":
		place, what = timeline.Preempt, timeline.Begins
	case "Async Preemption finished completely":
		place, what = timeline.Preempted, timeline.Ends
	default:
		return
	}
	e := timeline.Entry{What: what}
	pod := ""
	for i := 0; i+1 < len(keysAndValues); i += 2 {
		switch keysAndValues[i] {
		case "preemptor":
			pod = fmt.Sprint(keysAndValues[i+1])
		case "node":
			e.Node = fmt.Sprint(keysAndValues[i+1])
		case "result":
			e.Text = fmt.Sprint(keysAndValues[i+1])
		}
	}
	e.Object = "Pod " + pod
	s := r.scheduler
	if place == timeline.Preempted { // it ends before it waits here
		s.note(e)
	}
	s.park(timeline.Place{Name: place, Pod: pod}, nil)
	if place == timeline.Preempt {
		s.note(e)
	}
}

// holder is a plugin that holds pods on their way to a node, if the timeline says so. It
// takes no part otherwise.
type holder struct{ s *scheduler }

const holderName = "PreemptcheckHolder"

func (h *holder) Name() string { return holderName }

func (h *holder) PreBindPreFlight(_ context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	if h.s.r.held(timeline.Place{Name: timeline.PreBind, Pod: model.Key(pod)}) {
		return nil, nil
	}
	return nil, fwk.NewStatus(fwk.Skip)
}

func (h *holder) PreBind(ctx context.Context, _ fwk.CycleState, pod *v1.Pod, _ string) *fwk.Status {
	w := &waiting{at: timeline.Place{Name: timeline.PreBind, Pod: model.Key(pod)}, on: make(chan struct{})}
	w.what = w.at.String()
	h.s.r.arrive(w)
	select {
	case <-w.on:
		return nil
	case <-ctx.Done():
		w.gone.Store(true)
		return fwk.AsStatus(context.Cause(ctx))
	}
}

// eventRecorder notes events. As upstream's recorder it sends references to objects: an
// event about one that is in no scheme is never sent.
type eventRecorder struct{ s *scheduler }

func (r eventRecorder) Eventf(regarding, _ runtime.Object, _, reason, _, note string, args ...any) {
	about, err := refs.GetReference(scheme.Scheme, regarding)
	if err != nil {
		return
	}
	name := about.Kind + " " + about.Namespace + "/" + about.Name
	r.s.note(timeline.Entry{What: timeline.Told, Object: name, Text: reason + ": " + fmt.Sprintf(note, args...)})
}

// WithLogger implements events.EventRecorderLogger.
func (r eventRecorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }

var errDead = errors.New("this scheduler is dead")
