package account

import (
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// Cycle is a scheduling cycle and what the scheduler may have known in it.
type Cycle struct {
	// Began and Ended are the indices of the entries at which the pod was popped, and by
	// which it is known what the cycle came to.
	Began, Ended int
	// Pod is the pod as it was popped. Told is the same pod as the scheduler had been told
	// it is; nil if it was told of no such pod.
	Pod, Told *v1.Pod
	// Result is the entry that says what the cycle came to: Fits; Decided; or Unfit, if it
	// ended before it was asked whether preemption helps.
	Result *timeline.Entry
	// Stored tells whether listers still showed the pod in the end, and Bound whether as one
	// that is bound.
	Stored, Bound bool

	settings    model.Settings
	nodes       []*v1.Node
	pods        []onNode
	unsure      []onNode              // which may still count there, or not
	lingers     []onNode              // which count no longer, and do for a scheduler with DeletedStay
	outlived    map[string]string     // nominations of earlier pods of a name, for a scheduler with NominationOutlives
	late        map[types.UID]*v1.Pod // those that were deleted in the cycle of their group, as they were in it
	group       string                // that the cycle is of, if it is that of a group
	nominations []*nominated          // of other pods
	own         []string              // of the pod itself
	budgets     [][]*policyv1.PodDisruptionBudget
	stored      []*v1.Pod // the pod, as listers show it
	namesakes   []*v1.Pod // another one that listers show under its name
	extra       []runtime.Object
	unfit       *timeline.Entry
}

// onNode is a pod on a node, as it is and as it is without host ports that the scheduler has
// forgotten.
type onNode struct {
	pod, forgotten *v1.Pod
	assumed        bool // and not said to be bound yet
}

// nominated is another pod, as it may count, and what it may be nominated to.
type nominated struct {
	as     []*v1.Pod
	to     []string
	behind bool // as of waiting
}

// begin is the start of a cycle.
func (a *account) begin(i int, pod *v1.Pod) {
	a.cycle = a.newCycle(i, pod)
	a.cycle.see(a)
}

// newCycle is a cycle that would begin now.
func (a *account) newCycle(i int, pod *v1.Pod) *Cycle {
	c := &Cycle{Began: i, Ended: -1, Pod: pod, settings: a.settings, nodes: sorted(a.nodes), extra: a.looked()}
	if w := a.waiting[pod.UID]; w != nil {
		c.Told = w.pod
	}
	for _, uid := range uids(a.onNodes) {
		s := a.assumed[uid]
		there := onNode{started(a.onNodes[uid]), a.ports.forgotten(started(a.onNodes[uid])), s != nil}
		if s != nil && (s.failed || s.timedOut(a.now)) { // it counts no longer, or will not soon
			c.unsure = append(c.unsure, there)
		} else {
			c.pods = append(c.pods, there)
		}
	}
	for _, uid := range uids(a.lingers) {
		c.lingers = append(c.lingers, onNode{started(a.lingers[uid]), started(a.lingers[uid]), true})
	}
	c.late, c.outlived = maps.Clone(a.late), maps.Clone(a.outlived)
	for _, uid := range uids(a.waiting) {
		c.nominated(a.waiting[uid], a.stored[model.Key(a.waiting[uid].pod)])
	}
	return c
}

// looked are the objects of other kinds as a cycle finds them: as listers show them, but for groups, which are part of its
// snapshot.
func (a *account) looked() []runtime.Object {
	all := maps.Clone(a.others)
	maps.DeleteFunc(all, func(_ string, o runtime.Object) bool { return model.IsGroup(o) })
	for name, o := range a.told {
		if model.IsGroup(o) {
			all[name] = o
		}
	}
	return sorted(all)
}

func uids[T any](m map[types.UID]T) []types.UID { return slices.Sorted(maps.Keys(m)) }

// nominated adds what a pod may be nominated to. stored is the pod as listers show it: one that
// terminates by that is skipped, too (schedule_one.go:552@v1.37.1, skipPodSchedule).
func (c *Cycle) nominated(w *waiting, stored *v1.Pod) {
	if c == nil {
		return
	}
	if w.pod.UID == c.Pod.UID {
		c.own = union(w.nominated, c.own)
		return
	}
	to := w.nominated
	if w.pod.DeletionTimestamp != nil || stored != nil && stored.UID == w.pod.UID && stored.DeletionTimestamp != nil { // it does not wait for a node any more
		to = union(to, one(""))
	}
	for _, n := range c.nominations {
		if n.as[0].UID == w.pod.UID {
			n.as, n.to, n.behind = versions(w.as, n.as), union(to, n.to), w.behind
			return
		}
	}
	if c.Ended < 0 {
		c.nominations = append(c.nominations, &nominated{versions(w.as, nil), to, w.behind})
	}
}

// see adds what listers show now.
func (c *Cycle) see(a *account) {
	if c == nil {
		return
	}
	for _, m := range []map[string]*policyv1.PodDisruptionBudget{a.storedBudgets, a.budgets} {
		if all := sorted(m); !slices.ContainsFunc(c.budgets, func(b []*policyv1.PodDisruptionBudget) bool { return slices.Equal(b, all) }) {
			c.budgets = append(c.budgets, all)
		}
	}
	p := a.stored[model.Key(c.Pod)]
	c.Bound = p != nil && p.UID == c.Pod.UID && p.Spec.NodeName != ""
	if c.Stored = p != nil && p.UID == c.Pod.UID; c.Stored && !slices.Contains(c.stored, p) {
		c.stored = append(c.stored, p)
	}
	if p != nil && !c.Stored && !slices.Contains(c.namesakes, p) {
		c.namesakes = append(c.namesakes, p)
	}
}

// end is that a cycle comes to a result.
func (a *account) end(i int, result *timeline.Entry) {
	if result == nil || a.cycle.Ended >= 0 {
		return
	}
	a.cycle.Ended, a.cycle.Result = i, result
	ended := *a.cycle // what comes later is not part of it
	ended.nominations = slices.Clone(ended.nominations)
	for i, n := range ended.nominations {
		same := *n
		ended.nominations[i] = &same
	}
	a.cycles = append(a.cycles, &ended)
}

// Namesakes tells whether two pods of one name were on nodes: a victim's name does not tell which
// of them is meant.
func (c *Cycle) Namesakes() bool {
	names := map[string]bool{}
	for _, p := range slices.Concat(c.pods, c.unsure) {
		key := model.Key(p.pod)
		if names[key] {
			return true
		}
		names[key] = true
	}
	return false
}

// Stale tells whether the pod was popped as it was before the scheduler was told otherwise.
func (c *Cycle) Stale() bool { return c.Told != nil && version(c.Pod) < version(c.Told) }

func version(p *v1.Pod) int {
	n, _ := strconv.Atoi(p.ResourceVersion) // an API server in memory counts
	return n
}

// State is a cluster that the scheduler may have decided about.
type State struct {
	*model.Cluster
	// Own: the preemptor is nominated as the scheduler has decided, or was told, last.
	// Otherwise it is as some status of it says.
	Own bool
	// Units are which pods are preempted together, if not as documented.
	Units func(s *filter.Snapshot, groups *unit.Groups) *unit.Units
}

// maxStates is how many states of a cycle are looked at.
const maxStates = 200

// Bugs are known ones of some schedulers, by which they take something else for given.
type Bugs struct {
	// PortsForgotten is that a port of two pods is free once one of the two is gone: see the
	// finding host-ports-forgotten.
	PortsForgotten bool
	// DeletedStay is that a pod which is deleted on its way to a node counts there until its
	// binding has failed: see the finding deleted-pod-stays-assumed.
	DeletedStay bool
	// BoundPreempt is that a pod preempts on its own node though listers show that it is bound: see
	// the finding preempts-for-bound-pod.
	BoundPreempt bool
	// NamesakePreempts is that the preemption for a pod that is gone is one for the pod which listers show
	// under its name: see the finding preempts-as-namesake.
	NamesakePreempts bool
	// LateStay is that a pod which is deleted in the cycle of its group is on a node, and is not found there when its group is
	// preempted as a whole: see the finding late-deletion-holds-room.
	LateStay bool
	// NominationOutlives is that a pod of a group which is created again in the group's cycle is nominated as the one before
	// it was: see the finding recreated-member-keeps-nomination.
	NominationOutlives bool
	// LeftBehind is that the nomination of a pod counts not that waits for the end of a cycle of its group which is over: see the
	// finding failed-binding-cuts-group-cycle. Where nominated pods are looked up, it is in no queue
	// (backend/queue/scheduling_queue.go:2124@v1.37.1, nominatedPodToInfo).
	LeftBehind bool
}

// States visits the states that the scheduler may have been in, the likeliest first, until
// visit returns false. all is false if there are too many.
func (c *Cycle) States(bugs Bugs, visit func(s *State) bool) (all bool) {
	if !bugs.LateStay || len(c.late) == 0 {
		return c.states(bugs, visit)
	}
	on := true
	for _, passed := range c.passedOver() {
		all = c.states(bugs, func(s *State) bool {
			s.Units = c.lateUnits(passed)
			on = visit(s)
			return on
		})
		if !on || !all {
			break
		}
	}
	return all
}

// states is States with units as documented.
func (c *Cycle) states(bugs Bugs, visit func(s *State) bool) (all bool) {
	unsure := c.unsure
	if bugs.DeletedStay {
		unsure = slices.Concat(c.lingers, unsure)
	}
	preemptors := c.preemptors(bugs.BoundPreempt)
	if bugs.NamesakePreempts && c.Result.What == timeline.Decided {
		for _, p := range c.namesakes {
			preemptors = append(preemptors, preemptor{p, true})
		}
	}
	choices := []int{len(preemptors), len(c.budgets)}
	for _, n := range c.nominations {
		choices = append(choices, len(n.to)*len(n.as))
	}
	for range unsure {
		choices = append(choices, 2)
	}
	as := func(p onNode) *v1.Pod {
		out := p.pod
		if bugs.PortsForgotten {
			out = p.forgotten
		}
		if bugs.LateStay {
			out = c.ranked(out)
		}
		return out
	}
	pods := make([]*v1.Pod, len(c.pods))
	for i, p := range c.pods {
		pods[i] = as(p)
	}
	chosen := make([]int, len(choices))
	for range maxStates {
		cluster := &model.Cluster{Nodes: c.nodes, Pods: slices.Clone(pods), PodDisruptionBudgets: c.budgets[chosen[1]], Extra: c.extra, Settings: c.settings}
		own := preemptors[chosen[0]]
		cluster.Preemptor = own.pod
		for i, n := range c.nominations {
			to := n.to[chosen[2+i]%len(n.to)]
			if earlier := c.outlived[model.Key(n.as[0])]; bugs.NominationOutlives && earlier != "" {
				if to != "" { // each of the two nominations is looked up by name, and so the pod counts twice
					cluster.Pods = append(cluster.Pods, namesake(nominatedTo(n.as[0], earlier)))
				} else {
					to = earlier
				}
			}
			if to != "" && !(bugs.LeftBehind && n.behind) {
				cluster.Pods = append(cluster.Pods, nominatedTo(n.as[chosen[2+i]/len(n.to)], to))
			}
		}
		for i, p := range unsure {
			if chosen[2+len(c.nominations)+i] == 0 {
				cluster.Pods = append(cluster.Pods, as(p))
			} else if bugs.PortsForgotten {
				for j, other := range cluster.Pods {
					cluster.Pods[j] = withoutPortsOf(other, p.pod)
				}
			}
		}
		if !visit(&State{Cluster: cluster, Own: own.own}) {
			return true
		}
		i := 0
		for i < len(chosen) {
			if chosen[i]++; chosen[i] < choices[i] {
				break
			}
			chosen[i] = 0
			i++
		}
		if i == len(chosen) {
			return true
		}
	}
	return false
}

// preemptor is the pod of a cycle as it may be seen.
type preemptor struct {
	pod *v1.Pod
	own bool
}

// PreemptsBound tells whether listers showed the pod as bound all the time that preemption was looked for.
func (c *Cycle) PreemptsBound() bool {
	return len(c.stored) > 0 && !slices.ContainsFunc(c.stored, func(p *v1.Pod) bool { return p.Spec.NodeName == "" })
}

// preemptors are the pod with each nomination that it may have; or, for a scheduler with BoundPreempt, as it
// is bound.
func (c *Cycle) preemptors(bound bool) (all []preemptor) {
	if bound && c.PreemptsBound() { // what it was nominated to is over
		for _, p := range c.stored {
			all = append(all, preemptor{p, true})
		}
		return all
	}
	objects := []*v1.Pod{c.Pod}
	for _, p := range c.stored {
		if isBound := p.Spec.NodeName != ""; isBound && bound || !isBound && !maps.Equal(p.Labels, c.Pod.Labels) {
			objects = append(objects, p)
		}
	}
	add := func(to []string, own bool) {
		for _, p := range objects {
			for _, node := range to {
				if !slices.ContainsFunc(all, func(o preemptor) bool {
					return o.pod.Status.NominatedNodeName == node && o.pod.Spec.NodeName == p.Spec.NodeName && maps.Equal(o.pod.Labels, p.Labels)
				}) {
					all = append(all, preemptor{nominatedTo(p, node), own})
				}
			}
		}
	}
	add(c.own, true)
	if len(c.own) == 0 { // the scheduler was not told of it
		add(statusOf(c.Pod), true)
	}
	if c.Result.What != timeline.Decided || len(c.stored) == 0 {
		add(statusOf(c.Pod), false)
	}
	for _, p := range c.stored {
		add(statusOf(p), false)
	}
	return all
}

// nominatedTo is a pod with a nomination.
func nominatedTo(p *v1.Pod, node string) *v1.Pod {
	if p.Status.NominatedNodeName == node {
		return p
	}
	out := *p
	out.Status.NominatedNodeName = node
	return &out
}

// namesake is a pod of another name that is like p in all else.
func namesake(p *v1.Pod) *v1.Pod {
	out := *p
	out.Name, out.UID = p.Name+"-before", p.UID+"-before"
	return &out
}

// started is a pod with a start time.
func started(p *v1.Pod) *v1.Pod {
	if p.Status.StartTime != nil {
		return p
	}
	out := *p
	out.Status.StartTime = &notYet
	return &out
}
