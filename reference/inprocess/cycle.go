package inprocess

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/groups"
	"github.com/preemptcheck/preemptcheck/reference/inprocess/writes"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// retryTime is longer than the scheduler tries a call again (retry.DefaultBackoff).
const retryTime = time.Second

// run is the whole real cycle of the loaded cluster's preemptor, with all that it
// begins (schedule_one.go:67@v1.37.1, ScheduleOne).
func (s *scheduler) run(r *recorder) {
	obs := r.obs
	r.sched, r.Interface = s, s.plugin.Evaluator.Interface
	r.extended = len(s.sched.Extenders) > 0
	s.plugin.Evaluator.Interface, s.recorder = r, r
	defer func() { s.plugin.Evaluator.Interface, s.recorder = r.Interface, nil }()
	if r.extended {
		s.plugin.Evaluator.Handler = handle{groups.Ordered{Handle: s.profile}, r.watched(s.sched.Extenders, s.loaded.preemptor)}
	}
	s.over = make(chan struct{})
	crash := s.bubble.Settle(func() {
		defer close(s.over)
		defer s.recoverCrash()
		s.sched.ScheduleOne(s.ctx)
		if s.sched.APIDispatcher != nil {
			time.Sleep(time.Nanosecond) // until the calls of the cycle are made: the clock stands still meanwhile
		}
	}, func() bool {
		for r.group != nil && r.group.Next() {
			synctest.Wait()
		}
		return obs.ScheduledTo != "" || !s.goesOn()
	})
	if crash != nil {
		s.crash.CompareAndSwap(nil, crash)
	}
	if s.api.Fault != nil && (obs.ScheduledTo != "" || r.group != nil) || s.sched.APIDispatcher != nil {
		// The binding cycle tries again meanwhile, and gives up; and so does who makes
		// asynchronous calls.
		time.Sleep(retryTime)
		synctest.Wait()
	}

	calls := s.api.Take()
	s.loaded.wereBound = map[string]bool{}
	for _, c := range calls {
		if c.Verb == "bind" && c.Failed == "" {
			s.loaded.wereBound[c.Object] = true
		}
	}
	r.mu.Lock()
	if obs.ScheduledTo == "" {
		obs.Actuation = writes.Actuation(calls, s.isOwn, r.group != nil, r.nomination, r.nominated)
	}
	obs.Aftermath = &model.Aftermath{Calls: calls, Events: s.events.take(), AnsweredPending: r.pending, Activated: s.activated.take(),
		Signed: s.loaded.queuedInfo != nil && s.loaded.queuedInfo.PodSignature != nil, Best: r.best, Hint: r.hint, Ways: s.updates.ways}
	if s.loaded.twin != nil {
		obs.Aftermath.Twin = s.loaded.twin.Spec.NodeName
	}
	r.mu.Unlock()
	if s.crash.Load() != nil {
		if r.group != nil {
			r.group.End(func(string) string { return "" })
		}
		return
	}
	s.observeQueue(obs.Aftermath)
	if s.api.Fault != nil {
		obs.Aftermath.Held = s.held(calls)
	}
	if r.group != nil {
		s.endGroup(r)
		return
	}
	r.noteLeft()
	if r.extended && len(obs.Candidates) > 0 && obs.AfterExtenders == nil && obs.PostFilterCode != fwk.Error.String() {
		obs.AfterExtenders = map[string]model.DryRun{} // nothing left
	}
	if obs.Pick == nil && obs.Actuation != nil && obs.Actuation.NominatedNode != "" {
		// Victims that were terminating already are not preempted again, so what was
		// picked shows in the node's dry run only.
		node := obs.Actuation.NominatedNode
		run := obs.DryRuns[node]
		if obs.AfterExtenders != nil {
			run = obs.AfterExtenders[node]
		}
		obs.Pick = &model.Pick{Node: node, Victims: run.Victims, Violations: run.Violations}
	}
	if obs.Pick != nil && len(obs.Candidates) == 0 {
		obs.Candidates = []string{obs.Pick.Node}
	}
}

// runCounted is run, with metrics if they are asked for.
func (s *scheduler) runCounted(r *recorder, counted bool) error {
	if !counted {
		s.run(r)
		return nil
	}
	before, err := metricsNow()
	if err != nil {
		return err
	}
	s.run(r)
	now, err := metricsNow()
	r.obs.Aftermath.Metrics = since(before, now)
	return err
}

// beforeCall holds back the calls of an asynchronous preemption.
func (s *scheduler) beforeCall(c *model.Call) {
	s.bubble.Progress()
	if s.async && s.recorder != nil && strings.HasPrefix(c.Resource, "pods") && !s.isOwn(c.Object) {
		<-s.over
	}
	if r := s.recorder; r != nil {
		r.note(func(o *model.Observation) { o.AddCall(*c) })
	}
}

// observeQueue is where the preemptor is once the cycle is over.
func (s *scheduler) observeQueue(a *model.Aftermath) {
	queue := s.sched.SchedulingQueue
	a.Gated, a.NeverPopped = s.gated(), s.loaded.neverPopped
	isOwn := func(p *v1.Pod) bool { return s.isOwn(model.Key(p)) }
	for name, pods := range map[model.Queue][]*v1.Pod{
		model.QueueActive: queue.PodsInActiveQ(), model.QueueBackoff: queue.PodsInBackoffQ(), model.QueueUnschedulable: queue.UnschedulablePods(),
	} {
		if slices.ContainsFunc(pods, isOwn) {
			a.Queue = name
		}
	}
	a.InFlight = slices.ContainsFunc(queue.InFlightPods(), isOwn)
	var unschedulable, pending sets.Set[string] // of all of them
	for _, pod := range s.preemptors() {
		if info, ok := queue.GetPod(pod.Name, pod.Namespace, pod.Spec.SchedulingGroup); ok && info.Pod.UID == pod.UID {
			unschedulable, pending = unschedulable.Union(info.UnschedulablePlugins), pending.Union(info.PendingPlugins)
			a.UnschedulablePlugins, a.PendingPlugins = sets.List(unschedulable), sets.List(pending)
		}
	}
	if p := s.loaded.preemptor; p != nil {
		a.NominatedTo = s.nominatedTo(model.Key(p))
	}
}

// held are those of the pods on nodes that calls are about which the next cycle meets there.
func (s *scheduler) held(calls []model.Call) (keys []string) {
	about := map[string]bool{}
	for _, c := range calls {
		about[c.Object] = strings.HasPrefix(c.Resource, "pods") || about[c.Object]
	}
	for _, name := range s.loaded.nodeNames {
		node, err := s.sched.Cache.GetNode(name)
		if err != nil {
			continue
		}
		for _, p := range node.Pods {
			if pod := p.GetPod(); about[model.Key(pod)] && pod.DeletionTimestamp == nil {
				keys = append(keys, model.Key(pod))
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// nominatedTo is the node for which the scheduler holds a pod as nominated, or "".
func (s *scheduler) nominatedTo(key string) (node string) {
	for _, n := range s.loaded.nodes {
		for _, p := range s.sched.SchedulingQueue.NominatedPodsForNode(n.Name) {
			if model.Key(p.GetPod()) == key {
				node = n.Name
			}
		}
	}
	return node
}

// gated tells whether DefaultPreemption keeps the preemptor out of the active queue.
func (s *scheduler) gated() bool {
	own := s.preemptors()
	return len(own) > 0 && !s.plugin.PreEnqueue(s.ctx, own[0]).IsSuccess()
}

// hook puts the recorder at the scheduler's own places.
func (s *scheduler) hook() {
	schedulePod, failed := s.sched.SchedulePod, s.sched.FailureHandler
	s.sched.NextEntity = func(klog.Logger) (framework.QueuedEntityInfo, error) {
		if g := s.loaded.group; g != nil {
			return g.queued, nil
		}
		return s.loaded.queuedInfo, nil
	}
	s.sched.SchedulePod = func(ctx context.Context, fw framework.Framework, state fwk.CycleState, pod *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {
		result, err := schedulePod(ctx, fw, state, pod)
		switch r := s.recorder; {
		case r == nil:
		case r.group != nil:
			r.member(pod.Pod, result, err)
		default:
			r.scheduled(result, err)
		}
		return result, err
	}
	s.sched.FailureHandler = func(ctx context.Context, fw framework.Framework, pod *framework.QueuedPodInfo, status *fwk.Status, info *fwk.NominatingInfo, start time.Time) {
		switch r := s.recorder; {
		case r == nil:
		case r.group != nil:
			r.group.Failed(pod.Pod, status, info)
		default:
			r.failed(status, info)
		}
		failed(ctx, fw, pod, status, info, start)
	}
	for name, profile := range s.sched.Profiles {
		s.sched.Profiles[name] = &profileWatch{linked.Profile{Framework: profile, Rescue: s.rescue}, s}
	}
}

// runTwin runs the cycle of a pod that is like the preemptor, and reports whether it
// was bound. After it a node is tainted, if any.
func (s *scheduler) runTwin(tainted string) bool {
	preemptor, queue := s.loaded.queuedInfo, s.sched.SchedulingQueue
	twin := preemptor.Pod.DeepCopy()
	twin.Name, twin.UID = twin.Name+twinSuffix, twin.UID+twinSuffix
	if s.loaded.neverPopped || len(queue.PodsInActiveQ()) > 0 || s.pods.Add(twin) != nil {
		return false
	}
	s.loaded.twin = twin
	if s.loaded.queuedInfo = s.pop(twin); s.loaded.queuedInfo == nil {
		return false
	}
	s.sched.ScheduleOne(s.ctx)
	synctest.Wait()
	for _, c := range s.api.Take() {
		if c.Verb == "bind" && c.Object == model.Key(twin) {
			twin.Spec.NodeName = c.Node
		}
	}
	s.events.take()
	s.activated.take()
	if tainted != "" && s.taint(tainted) != nil {
		return false
	}
	// The cycles follow one another by their numbers only if the pods are popped so.
	queue.Done(preemptor.Pod.UID)
	s.loaded.queuedInfo = s.pop(preemptor.Pod)
	return twin.Spec.NodeName != "" && s.loaded.queuedInfo != nil
}

// taint lets a second pass, and gives a node a taint that pods should rather avoid.
func (s *scheduler) taint(node string) error {
	i := slices.Index(s.loaded.nodeNames, node)
	if i < 0 {
		return fmt.Errorf("no node %s", node)
	}
	time.Sleep(time.Second)
	old := s.loaded.nodes[i]
	tainted := old.DeepCopy()
	tainted.Spec.Taints = append(tainted.Spec.Taints, reference.LateTaint)
	s.updates.nodes.Updated(old, tainted)
	return s.nodes.Update(tainted)
}

// pop adds a pod to the queue, and pops it; nil if it cannot be had.
func (s *scheduler) pop(p *v1.Pod) *framework.QueuedPodInfo {
	queue := s.sched.SchedulingQueue
	queue.Add(s.ctx, p)
	if len(queue.PodsInActiveQ()) != 1 {
		return nil
	}
	popped, err := queue.Pop(linked.Discard)
	if err != nil {
		return nil
	}
	return popped.(*framework.QueuedPodInfo)
}

// twinSuffix is what tells the name of the preemptor's twin from its own.
const twinSuffix = "-twin"

// scheduled records the end of SchedulePod.
func (r *recorder) scheduled(result upstream.ScheduleResult, err error) {
	if err == nil {
		r.note(func(o *model.Observation) { o.ScheduledTo = result.SuggestedHost })
		return
	}
	fitError, ok := err.(*framework.FitError)
	if !ok {
		r.note(func(o *model.Observation) { o.CycleError = err.Error() })
		return
	}
	given := map[string]bool{}
	fitError.Diagnosis.NodeToStatus.ForEachExplicitNode(func(name string, _ *fwk.Status) { given[name] = true })
	absent := []string{}
	for _, name := range r.sched.loaded.nodeNames {
		if !given[name] {
			absent = append(absent, name)
		}
		v := groups.Verdict(fitError.Diagnosis.NodeToStatus.Get(name))
		if v.Plugin == "" && r.extended { // no plugin, so it was an extender
			v.Plugin = model.ExtenderName
		}
		r.note(func(o *model.Observation) { o.SetFilter(name, v) })
	}
	r.note(func(o *model.Observation) { o.Absent = absent })
}

// failed records what the failure handler is told about the nomination, and who answered
// Pending.
func (r *recorder) failed(status *fwk.Status, info *fwk.NominatingInfo) {
	r.pending = r.whoPends(status)
	r.nomination, r.nominated = model.NominationKept, ""
	if info.Mode() == fwk.ModeOverride {
		r.nomination, r.nominated = model.NominationSet, info.NominatedNodeName
		if r.nominated == "" {
			r.nomination = model.NominationCleared
		}
	}
}

// whoPends are the plugins of all statuses with the code Pending that a failure is made of.
func (r *recorder) whoPends(status *fwk.Status) []string {
	all := []*fwk.Status{status}
	if fitError, ok := status.AsError().(*framework.FitError); ok {
		for _, name := range r.sched.loaded.nodeNames {
			all = append(all, fitError.Diagnosis.NodeToStatus.Get(name))
		}
	}
	who := sets.New[string]()
	for _, s := range all {
		if s.Code() == fwk.Pending {
			who.Insert(s.Plugin())
		}
	}
	return sets.List(who)
}

// cycle loads c, runs it and unloads it. It reports whether the scheduler can be
// used again; err is why c could not be loaded.
func (s *scheduler) cycle(c *model.Cluster, under reference.Circumstances, r *recorder) (reusable bool, err error) {
	obs := r.obs
	defer func() {
		obs.Crash = s.crash.Load()
		reusable = reusable && obs.Crash == nil // upstream may hold locks: never touch it again
	}()
	defer s.recoverCrash()
	s.updates.random, s.updates.claimless, s.updates.ways = nil, under.Claimless, nil
	if under.Updates != 0 {
		s.updates.random = rand.New(rand.NewPCG(under.Updates, 0))
	}
	err = s.load(c)
	s.updates.random = nil
	if err == nil {
		if g := s.loaded.group; g != nil {
			r.ofGroup(groups.NewRecorder(s.bubble.Progress))
			obs.Group = r.group.Cycle
			if obs.Group.Waits = g.waits; g.waits != "" {
				return s.unload() == nil, nil
			}
		}
		if offset := c.Settings.DryRunOffset; offset != nil {
			r.offset = *offset
		}
		s.api.Fault = under.Fault
		if !under.Twin || s.runTwin(under.Tainted) {
			if err = s.runCounted(r, under.Metrics); err != nil {
				return false, err
			}
		}
		s.api.Fault = nil
	}
	if s.crash.Load() != nil {
		return false, nil
	}
	if len(c.Pods) >= tooMany {
		return false, err
	}
	return s.unload() == nil, err
}

// tooMany is how many pods take longer to unload than a new scheduler takes to build.
const tooMany = 10_000

// recoverCrash makes a panic the crash of the scheduler.
func (s *scheduler) recoverCrash() {
	if p := recover(); p != nil {
		s.crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
	}
}

// rescue makes a panic the status of the call that is deferring it, too. Upstream's
// goroutine would end the process.
func (s *scheduler) rescue(status **fwk.Status) {
	if p := recover(); p != nil {
		s.crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
		*status = fwk.AsStatus(fmt.Errorf("panic: %v", p))
	}
}

type preemptPodFunc = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error)

// watch records which candidate Executor.PreemptPod is called for, and makes a panic in
// it an error.
func (s *scheduler) watch(next preemptPodFunc) preemptPodFunc {
	return func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (inMemory bool, err error) {
		var status *fwk.Status
		defer func() {
			if status != nil {
				err = status.AsError()
			}
		}()
		defer s.rescue(&status)
		if r := s.recorder; r != nil {
			r.preempts(c)
		}
		return next(ctx, c, preemptor, victim, plugin)
	}
}
