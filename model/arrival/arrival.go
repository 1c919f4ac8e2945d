// Package arrival follows what happens when pods come to a cluster one after another: whom each
// preempts, what that does to budgets, and what those who were preempted do next. It does not decide
// itself: it asks, of one cluster after another, whoever decides a scheduling cycle.
package arrival

import (
	"context"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/internal/workload"
	"github.com/preemptcheck/preemptcheck/internal/workload/expand"
	"github.com/preemptcheck/preemptcheck/model"
)

// Answer is what is decided in one scheduling cycle.
type Answer struct {
	// Nodes are where the pod goes, or the members of a group do, by their keys. Pods that are not in
	// it stay pending.
	Nodes map[string]string
	// Victims go, most important first. None if the pod fits as it is.
	Victims []string
	// Violates names the budget, as namespace/name, that is violated by a victim.
	Violates map[string]string
	// Cleared lose their nomination to the node.
	Cleared []string
	// Ways is how many answers are allowed; 0 if that is not known. Where the pod fits these are the nodes
	// that it fits on.
	Ways int
	// Percent is how likely the node is, if it is one of several; 0 if that is not known.
	Percent float64
	// By is what decided for the node.
	By string
	// Why is why the pod stays pending, for nodes with the same reasons at once.
	Why []Reason
	// Error is what the cycle ends in, and Unknown why nobody can tell what is decided.
	Error, Unknown string
	// Disagrees is how the scheduler does otherwise, and New whether that is no known finding. Asked tells whether it
	// was asked at all.
	Disagrees  string
	New, Asked bool
}

// Reason is why a pod does not fit on some nodes.
type Reason struct {
	// Plugin is "" where it is preemption that does not help.
	Plugin string
	Text   string
	Nodes  int
}

// Decide decides the scheduling cycle of a cluster.
type Decide func(context.Context, *model.Cluster) (*Answer, error)

// Coming is what comes to a cluster.
type Coming struct {
	Workloads []*expand.Workload
	// Objects are all others: priority classes, budgets, claims, groups.
	Objects []runtime.Object
}

// Bounds say how far the cascade is followed.
type Bounds struct {
	// Levels: pods that replace those preempted by what comes are of level 1, those that replace what
	// these preempt of level 2. Those beyond Levels are not tried.
	Levels int
	// Cycles is how many are asked at most.
	Cycles int
}

// Pod is one that is followed.
type Pod struct {
	*v1.Pod
	Workload workload.Ref
	// Level is 0 for a pod that comes, else how far down the cascade it is.
	Level int
	// Replaces is the pod in whose place it is made, and Preempted by whom that was; "" for level 0.
	Replaces, PreemptedBy string

	turn  *turn // the pods that come after it, one at a time
	order int   // when it joined the queue
	gone  int   // how many pods had gone when it was last tried
}

// turn is a workload whose pods come one at a time.
type turn struct{ rest []*Pod }

// Step is one scheduling cycle.
type Step struct {
	// Pods is one pod, or the members of a group.
	Pods []*Pod
	// Group is the pod group, as model.Cluster.PreemptorGroup; "" for a pod.
	Group string
	// Cluster is what was asked.
	Cluster *model.Cluster
	*Answer
	// Again says that the pod was tried before, and that others have gone since.
	Again bool
}

// Victim is a pod that went.
type Victim struct {
	Pod      *v1.Pod
	Workload workload.Ref
	By       string // the pod or group that preempted it
	Level    int    // of that
	Violates string // the budget, or ""
	// Terminating: it was told to end before, and replaced by then if it is.
	Terminating bool
	// Replaced is the pod that its controller makes instead; nil if it is gone for good.
	Replaced *Pod
}

// Course is how it went.
type Course struct {
	Steps   []*Step
	Victims []*Victim
	// Arrived are the pods that came, and Replacing those that were made for victims: each in the order in which
	// they joined the queue.
	Arrived, Replacing []*Pod
	// Pending stay so, with the last answer that they got; NotMade wait for the one before them.
	Pending []*Step
	NotMade []*Pod
	// NotTried are beyond the bounds.
	NotTried []*Pod
	// Waiting is how many pods were pending before, which are not tried.
	Waiting int
	// After is the cluster in the end.
	After *model.Cluster
}

// run is a Course that is on its way.
type run struct {
	*Course
	ctx     context.Context
	decide  Decide
	bounds  Bounds
	clock   *clock
	budgets *budgets
	queue   []*Pod
	joined  int
	pending map[*Pod]*Step
	gone    int // pods
}

// Run lets what comes arrive in a cluster, whose Preemptor and PreemptorGroup are not looked at. The
// cluster, and what comes, are not changed; all is admitted. Pods are tried in the order of the scheduler's queue:
// of higher priority first, then those that joined it first (docs:
// concepts/scheduling-eviction/pod-priority-preemption, "Effect of Pod priority on scheduling order"). What
// a pod preempts is gone, and the pod runs, before the next one is tried. A pod that stays pending is
// tried again once other pods have gone. docs/arrivals.md tells what else is assumed.
func Run(ctx context.Context, c *model.Cluster, coming *Coming, decide Decide, bounds Bounds) (*Course, error) {
	after := *c
	after.Preemptor, after.PreemptorGroup = nil, ""
	after.Pods = slices.Clone(c.Pods)
	r := &run{Course: &Course{After: &after}, ctx: ctx, decide: decide, bounds: bounds, clock: newClock(c), pending: map[*Pod]*Step{}}
	for _, p := range after.Pods {
		if p.Spec.NodeName == "" {
			r.Waiting++
		}
	}
	r.addObjects(coming)
	r.budgets = newBudgets(r.After, coming)
	for _, w := range coming.Workloads {
		r.arrive(w)
	}
	for {
		for len(r.queue) > 0 {
			if len(r.Steps) == bounds.Cycles {
				r.NotTried = append(r.NotTried, r.queue...)
				return r.end(), nil
			}
			if err := r.next(); err != nil {
				return nil, err
			}
		}
		if !r.retry() {
			return r.end(), nil
		}
	}
}

// arrive has the pods of a workload join the queue.
func (r *run) arrive(w *expand.Workload) {
	var line *turn
	if w.InTurn {
		line = &turn{}
	}
	for i, p := range w.Pods {
		pod := &Pod{Pod: p, Workload: w.Ref, turn: line}
		r.Arrived = append(r.Arrived, pod)
		if line != nil && i > 0 {
			line.rest = append(line.rest, pod)
			continue
		}
		r.join(pod)
	}
}

// join puts a pod at its place in the queue, and into the cluster as a pod that waits.
func (r *run) join(p *Pod) {
	p.order = r.joined
	r.joined++
	p.Pod = r.clock.created(p.Pod)
	r.After.Pods = append(r.After.Pods, p.Pod)
	r.enqueue(p)
}

func (r *run) enqueue(p *Pod) {
	at, _ := slices.BinarySearchFunc(r.queue, p, func(a, b *Pod) int {
		if pa, pb := model.Priority(a.Pod), model.Priority(b.Pod); pa != pb {
			return int(int64(pb) - int64(pa))
		}
		return a.order - b.order
	})
	r.queue = slices.Insert(r.queue, at, p)
}

// next tries the first pod of the queue, or all members of its group that are in it.
func (r *run) next() error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	first := r.queue[0]
	question := *r.After
	step := &Step{Pods: []*Pod{first}, Cluster: &question, Again: r.pending[first] != nil}
	if root := r.rootOf(first); root != "" {
		step.Group, question.PreemptorGroup, step.Pods = root, root, nil
		question.Pods = slices.Clone(r.After.Pods)
		for _, p := range r.queue {
			if r.rootOf(p) == root {
				step.Pods = append(step.Pods, p)
			}
		}
	} else {
		question.Preemptor = first.Pod
		question.Pods = without(r.After.Pods, first.Pod)
	}
	r.queue = slices.DeleteFunc(r.queue, func(p *Pod) bool { return slices.Contains(step.Pods, p) })
	answer, err := r.decide(r.ctx, &question)
	if err != nil {
		return err
	}
	step.Answer = answer
	r.Steps = append(r.Steps, step)
	r.preempt(step)
	for _, p := range step.Pods {
		node, placed := step.Nodes[model.Key(p.Pod)]
		if p.gone = r.gone; !placed {
			r.pending[p] = step
			continue
		}
		delete(r.pending, p)
		r.bind(p, node)
	}
	return nil
}

// rootOf names the group that a pod is scheduled with; "" if it is scheduled by itself.
func (r *run) rootOf(p *Pod) string {
	if !r.After.Settings.FeatureGates[model.GateWorkload] {
		return ""
	}
	return r.After.RootOf(p.Pod)
}

// bind has a pod run on a node. The next pod of its workload comes, if they come in turn.
func (r *run) bind(p *Pod, node string) {
	i := slices.Index(r.After.Pods, p.Pod)
	p.Pod = r.clock.bound(p.Pod, node)
	r.After.Pods[i] = p.Pod
	r.budgets.healthy(p.Pod, +1)
	if p.turn != nil && len(p.turn.rest) > 0 {
		next := p.turn.rest[0]
		p.turn.rest = p.turn.rest[1:]
		r.join(next)
	}
}

// preempt has the victims of a step go, and their controllers replace them.
func (r *run) preempt(s *Step) {
	by := s.Title()
	for _, key := range s.Victims {
		i := slices.IndexFunc(r.After.Pods, func(p *v1.Pod) bool { return model.Key(p) == key && p.Spec.NodeName != "" })
		if i < 0 {
			continue
		}
		pod := r.After.Pods[i]
		r.After.Pods = slices.Delete(r.After.Pods, i, i+1)
		r.gone++
		r.budgets.healthy(pod, -1)
		v := &Victim{Pod: pod, Workload: workload.Of(pod), By: by, Level: s.Pods[0].Level, Violates: s.Violates[key], Terminating: pod.DeletionTimestamp != nil}
		r.Victims = append(r.Victims, v)
		if v.Terminating {
			continue
		}
		next := expand.Replace(pod, len(r.Replacing)+1)
		if next == nil {
			r.budgets.expects(pod, -1)
			continue
		}
		v.Replaced = &Pod{Pod: next, Workload: v.Workload, Level: v.Level + 1, Replaces: key, PreemptedBy: by}
		r.Replacing = append(r.Replacing, v.Replaced)
		if v.Replaced.Level > r.bounds.Levels {
			r.NotTried = append(r.NotTried, v.Replaced)
			continue
		}
		r.join(v.Replaced)
	}
	for _, key := range s.Cleared {
		if i := slices.IndexFunc(r.After.Pods, func(p *v1.Pod) bool { return model.Key(p) == key }); i >= 0 {
			p := r.After.Pods[i].DeepCopy()
			p.Status.NominatedNodeName = ""
			r.After.Pods[i] = p
		}
	}
}

// retry puts the pods back that stayed pending while others have gone since; whether there are any.
func (r *run) retry() bool {
	for _, p := range slices.Concat(r.Arrived, r.Replacing) {
		if r.pending[p] != nil && p.gone < r.gone {
			r.enqueue(p)
		}
	}
	return len(r.queue) > 0
}

func (r *run) end() *Course {
	told := map[*Step]bool{}
	for _, p := range slices.Concat(r.Arrived, r.Replacing) {
		if s := r.pending[p]; s != nil && !told[s] && !slices.Contains(r.NotTried, p) {
			told[s] = true
			r.Pending = append(r.Pending, s)
		}
		if p.turn != nil && slices.Contains(p.turn.rest, p) {
			r.NotMade = append(r.NotMade, p)
		}
	}
	return r.Course
}

// Title names who was tried: a pod by its key, a group as "PodGroup default/train".
func (s *Step) Title() string {
	if s.Group != "" {
		return model.GroupTitle(s.Group)
	}
	return model.Key(s.Pods[0].Pod)
}

// Unplaced are the pods of a step that stay pending.
func (s *Step) Unplaced() (pods []*Pod) {
	for _, p := range s.Pods {
		if _, placed := s.Nodes[model.Key(p.Pod)]; !placed {
			pods = append(pods, p)
		}
	}
	return pods
}

func without(pods []*v1.Pod, one *v1.Pod) []*v1.Pod {
	i := slices.Index(pods, one)
	return slices.Concat(pods[:i], pods[i+1:])
}
