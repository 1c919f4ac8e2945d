package releases

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A driver that runs timelines is made of the packages that run those of the linked release,
// with edits for what its own release calls otherwise, or does not have.

// edit changes what is in a file once. It is for releases before a minor one.
type edit struct {
	before        int
	file          string
	find, replace string
}

// cut takes out what begins with from, up to where to begins.
const cut = "\x00"

var lifeEdits = []edit{
	// What these packages share with others is left out.
	{99, "model/cluster.go", "return filter.Key(o)", `return o.GetNamespace() + "/" + o.GetName()`},
	{99, "model/cluster.go", "\t\"github.com/preemptcheck/preemptcheck/model/filter\"\n", ""},

	// The drivers know no pod groups: see Life.Live.
	{99, "reference/life/scheduler.go", "\tgroup     atomic.Pointer[groupCycle] // that is on; nil if none is\n", ""},
	{99, "reference/life/scheduler.go", "\t\tif err := s.watchGroups(plugin); err != nil {\n\t\t\treturn nil, err\n\t\t}\n", ""},
	{99, "reference/life/scheduler.go", "\ts.hookGroups(schedule, failed)\n", ""},
	{99, "reference/life/scheduler.go", "\t\tif rejected, ok := s.groupRejected(p); ok {\n\t\t\treturn rejected\n\t\t}\n", ""},
	{99, "reference/life/observe.go", "\tif gated, ok := s.groupGated(p); ok {\n\t\treturn gated\n\t}\n", ""},
	{99, "reference/life/observe.go", "s.preemptsAs(p)", "p.UID"},
	{99, "reference/life/observe.go", "return append(all, beside(queue)...)", "return all"},
	{99, "reference/life/watch.go", " else {\n\t\t\te.Object, e.Is = preemptorGroup" + cut + "\n\t\tif s.sync", ""},

	// Nodes are known as they are when SchedulePod is called since 1.36, and a queue hands out entities since 1.37.
	{37, "reference/life/scheduler.go", "next := s.sched.NextEntity", "next := s.sched.NextPod"},
	{37, "reference/life/scheduler.go", "s.sched.NextEntity = func(logger klog.Logger) (framework.QueuedEntityInfo, error) {", "s.sched.NextPod = func(logger klog.Logger) (*framework.QueuedPodInfo, error) {"},
	{37, "reference/life/scheduler.go", "entity, err := next(logger)", "info, err := next(logger)"},
	{37, "reference/life/scheduler.go", "if info, ok := entity.(*framework.QueuedPodInfo); ok && info != nil && info.Pod != nil {", "if info != nil && info.Pod != nil {"},
	{37, "reference/life/scheduler.go", "return entity, err", "return info, err"},
	{36, "reference/life/scheduler.go", "info *framework.QueuedPodInfo) (upstream.ScheduleResult, error) {\n\t\ts.park(timeline.Place{Name: timeline.Filter, Pod: model.Key(info.Pod)}, nil)\n\t\tresult, err := schedule(ctx, f, state, info)\n",
		"pod *v1.Pod) (upstream.ScheduleResult, error) {\n\t\tinfo := &framework.PodInfo{Pod: pod}\n\t\tresult, err := schedule(ctx, f, state, pod)\n"},
	{36, "reference/life/watch.go", "type preemptPodFunc", `// RunPreFilterPlugins is where a cycle first knows the nodes as they are.
func (w *profileWatch) RunPreFilterPlugins(ctx context.Context, state fwk.CycleState, pod *v1.Pod) (*fwk.PreFilterResult, *fwk.Status, sets.Set[string]) {
	w.s.park(timeline.Place{Name: timeline.Filter, Pod: model.Key(pod)}, nil)
	return w.Framework.RunPreFilterPlugins(ctx, state, pod)
}

type preemptPodFunc`},
	{36, "reference/life/watch.go", "\tpolicyv1 \"k8s.io/api/policy/v1\"\n", "\tpolicyv1 \"k8s.io/api/policy/v1\"\n\t\"k8s.io/apimachinery/pkg/util/sets\"\n"},
	{37, "reference/life/scheduler.go", "queue.GetPod(p.Name, p.Namespace, nil)", "queue.GetPod(p.Name, p.Namespace)"},
	{37, "reference/life/observe.go", "SchedulingQueue.GetPod(p.Name, p.Namespace, nil)", "SchedulingQueue.GetPod(p.Name, p.Namespace)"},

	// Whether a victim was preempted in memory is not told before 1.37.
	{37, "reference/life/watch.go", "preemption.ExecutorPreemptor, *v1.Pod, string) (bool, error)", "preemption.ExecutorPreemptor, *v1.Pod, string) error"},
	{37, "reference/life/watch.go", "victim *v1.Pod, plugin string) (bool, error) {", "victim *v1.Pod, plugin string) error {"},

	// The evaluator is what evicts before 1.36, for a pod, and always by a call.
	{36, "reference/life/scheduler.go", "plugin.Executor.PreemptPod = s.preempts(plugin.Executor.PreemptPod)", "plugin.Evaluator.PreemptPod = s.preempts(plugin.Evaluator.PreemptPod)"},
	{36, "reference/life/observe.go", "plugin.Executor.IsPodRunningPreemption", "plugin.Evaluator.IsPodRunningPreemption"},
	{36, "reference/life/watch.go", "type preemptPodFunc = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *v1.Pod, string) error",
		"type preemptPodFunc = func(context.Context, preemption.Candidate, *v1.Pod, *v1.Pod, string) error"},
	{36, "reference/life/watch.go", "c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, plugin string) error {", "c preemption.Candidate, pod, victim *v1.Pod, plugin string) error {"},
	{36, "reference/life/watch.go", "if pod, ok := preemptorPod(preemptor); ok {", "{"},
	{36, "reference/life/watch.go", "return next(ctx, c, preemptor, victim, plugin)", "return next(ctx, c, pod, victim, plugin)"},
	{36, "reference/life/watch.go", "// preemptorPod is the pod" + cut + "// logged is told", ""},
	{37, "reference/life/watch.go", "possible []*preemption.DomainVictim, budgets", "budgets"},
	{37, "reference/life/watch.go", "preemptor, node, possible, budgets)", "preemptor, node, budgets)"},
	{36, "reference/life/scheduler.go", "func(string) events.EventRecorderLogger {", "func(string) events.EventRecorder {"},
	{36, "reference/life/holder.go", "pod *v1.Pod, _ string) (*fwk.PreBindPreFlightResult, *fwk.Status) {", "pod *v1.Pod, _ string) *fwk.Status {"},
	{36, "reference/life/holder.go", "\t\treturn nil, nil\n\t}\n\treturn nil, fwk.NewStatus(fwk.Skip)", "\t\treturn nil\n\t}\n\treturn fwk.NewStatus(fwk.Skip)"},

	// Kinds of objects that came later.
	{37, "reference/linked/kinds.go", "\tschedulingv1alpha3 \"k8s.io/api/scheduling/v1alpha3\"\n\tschedulingv1beta1 \"k8s.io/api/scheduling/v1beta1\"\n", ""},
	{37, "reference/linked/kinds.go", "\t\t&schedulingv1beta1.PodGroup{}, &schedulingv1alpha3.CompositePodGroup{},\n", ""},
	{37, "reference/linked/kinds.go", ", &resourcev1.DeviceTaintRule{}", ""},

	// 1.34 draws lots among nodes of equal score.
	{35, "reference/linked/watch.go", "scores[i].Randomizer = i", "scores[i].TotalScore = scores[i].TotalScore*int64(len(scores)) + int64(i)"},
}

// movedTypes are those that package framework had before 1.35.
var movedTypes = regexp.MustCompile(`\bfwk\.(Extender|Handle|Plugin|PreEnqueuePlugin|PostFilterResult|NodeToStatusReader|NominatingInfo|ModeOverride|NodePluginScores|WaitingPod|PreFilterResult|NodeInfoLister)\b`)

const (
	importFwk       = "\tfwk \"k8s.io/kube-scheduler/framework\"\n"
	importFramework = "\t\"k8s.io/kubernetes/pkg/scheduler/framework\"\n"
)

// editLife is a file of a driver that runs timelines, for a minor release.
func editLife(minor int, file, text string) (string, error) {
	for _, e := range slices.Concat(lifeEdits, callsEdits) {
		if e.file != file || minor >= e.before {
			continue
		}
		find := e.find
		if from, to, isCut := strings.Cut(e.find, cut); isCut {
			begin := strings.Index(text, from)
			if begin < 0 {
				return "", fmt.Errorf("%s has no %q", file, from)
			}
			length := strings.Index(text[begin:], to)
			if length < 0 {
				return "", fmt.Errorf("%s has no %q after %q", file, to, from)
			}
			find = text[begin : begin+length]
		}
		if n := strings.Count(text, find); n != 1 {
			return "", fmt.Errorf("%s has %q %d times, want once", file, find, n)
		}
		text = strings.Replace(text, find, e.replace, 1)
	}
	if minor < 35 && strings.HasPrefix(file, "reference/") && movedTypes.MatchString(text) {
		text = movedTypes.ReplaceAllString(text, "framework.$1")
		if !strings.Contains(text, importFramework) {
			text = strings.Replace(text, importFwk, importFwk+importFramework, 1)
		}
		if !strings.Contains(text, "fwk.") {
			text = strings.Replace(text, importFwk, "", 1)
		}
	}
	return text, nil
}
