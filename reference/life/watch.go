package life

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// profileWatch is a profile whose choices are pinned and noted.
type profileWatch struct {
	linked.Profile
	s *scheduler
}

func (w *profileWatch) RunFilterPluginsWithNominatedPods(ctx context.Context, state fwk.CycleState, pod *v1.Pod, node fwk.NodeInfo) (status *fwk.Status) {
	w.s.r.bubble.Progress()
	defer w.s.rescue(&status)
	return w.Framework.RunFilterPluginsWithNominatedPods(ctx, state, pod, node)
}

// rescue makes a panic the crash of the scheduler, and the status of the call that is
// deferring it.
func (s *scheduler) rescue(status **fwk.Status) {
	if p := recover(); p != nil {
		s.r.crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
		*status = fwk.AsStatus(fmt.Errorf("panic: %v", p))
	}
}

// RunPostFilterPlugins gets the potential nodes in order, and notes what was decided.
func (w *profileWatch) RunPostFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod, nodes fwk.NodeToStatusReader) (*fwk.PostFilterResult, *fwk.Status) {
	result, status := w.Framework.RunPostFilterPlugins(ctx, state, pod, linked.SortedNodes{NodeToStatusReader: nodes})
	e := timeline.Entry{What: timeline.Decided, Object: podName(pod), Text: status.Message(), Is: pod}
	switch {
	case result == nil || result.NominatingInfo == nil || result.NominatingInfo.NominatingMode != fwk.ModeOverride:
		e.Node, e.Nomination = pod.Status.NominatedNodeName, model.NominationKept
		e.Text = strings.TrimSpace(e.Text + " (the nomination is left as it is)")
	case result.NominatedNodeName == "":
		e.Nomination = model.NominationCleared
	default:
		e.Node, e.Nomination = result.NominatedNodeName, model.NominationSet
	}
	e.Failed = status.Code() == fwk.Error
	w.s.mu.Lock()
	e.Cycle = w.s.cycle
	done := w.s.decided
	if run := w.s.dryRuns[e.Node]; status.IsSuccess() {
		e.Victims, e.Violations = keys(run.victims), run.violations
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
		w.s.dryRuns[node.Node().Name] = dryRun{victims, violations}
		w.s.mu.Unlock()
	}
	return victims, violations, status
}

// OrderedScoreFuncs gets the very map that the node is then picked from: among nodes that
// no criterion tells apart, only the first name is left in it.
func (w *watch) OrderedScoreFuncs(ctx context.Context, victims map[string]*extenderv1.Victims) []func(string) int64 {
	linked.BreakTies(victims, 0)
	return w.Interface.OrderedScoreFuncs(ctx, victims)
}

type preemptorKey struct{}

// caller is for whom a call is made.
type caller struct {
	name string // as Entry.By
	uid  types.UID
}

type preemptPodFunc = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error)

// preempts makes calls tell for which pod they are.
func (s *scheduler) preempts(next preemptPodFunc) preemptPodFunc {
	return func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) (bool, error) {
		defer func() {
			if p := recover(); p != nil {
				s.r.crash.CompareAndSwap(nil, bubble.Crashed(p, debug.Stack()))
			}
		}()
		e := timeline.Entry{What: timeline.Decided, Victims: keys(c.Victims().Pods), Violations: int(c.Victims().NumPDBViolations), Nomination: model.NominationSet}
		if pod, ok := preemptorPod(preemptor); ok {
			e.Object, e.Node, e.Is = podName(pod), c.Name(), pod
			ctx = context.WithValue(ctx, preemptorKey{}, caller{model.Key(pod), pod.UID})
		} else {
			e.Object, e.Is = preemptorGroup(preemptor)
			ctx = context.WithValue(ctx, preemptorKey{}, caller{e.Preemptor(), preemptor.UID()})
		}
		if s.sync { // the calls are made before PostFilter answers
			s.mu.Lock()
			first, cycle := !s.decided, s.cycle
			s.decided = true
			s.mu.Unlock()
			if e.Cycle = cycle; first {
				s.note(e)
			}
		}
		return next(ctx, c, preemptor, victim, plugin)
	}
}

// preemptorPod is the pod that is preempted for.
func preemptorPod(p preemption.ExecutorPreemptor) (pod *v1.Pod, ok bool) {
	for _, pod = range p.Pods() {
		ok = pod.UID == p.UID()
	}
	return pod, ok
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
	// What another scheduler began, and has not ended yet, is not this one's. A goroutine comes here before the cycle
	// that starts it ends.
	s := r.scheduler
	if place == timeline.Preempt {
		s.mu.Lock()
		e.Cycle, e.Object = s.cycle, s.current
		s.mu.Unlock()
		r.preemptions.Store(bubble.Goroutine(), routine{s, e.Cycle, e.Object})
	} else {
		e.Object = "Pod " + pod
		if began, ok := r.preemptions.LoadAndDelete(bubble.Goroutine()); ok {
			routine := began.(routine)
			s, e.Cycle, e.Object = routine.s, routine.cycle, routine.of
		}
		s.note(e) // it ends before it waits here
	}
	s.park(timeline.Place{Name: place, Pod: e.Preemptor()}, nil)
	if place == timeline.Preempt {
		s.note(e)
	}
}

// routine is a goroutine that preempts: by which scheduler, and by which of its cycles, it was started, and whose that was.
type routine struct {
	s     *scheduler
	cycle int
	of    string // as the object of an entry
}
