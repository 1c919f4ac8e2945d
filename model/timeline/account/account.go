// Package account keeps an account of what a scheduler knows while a timeline goes on, and
// says for each of its cycles which clusters it may have decided about.
//
// The account is kept from a trace alone: from what the scheduler was told, and from what
// it has said that it does. It shares nothing with the scheduler's own cache, queue and
// nominator.
//
//   - Nodes, and the pods on them, are those of the events that were handled when the cycle
//     began (doc comment of Snapshot, backend/cache/snapshot.go:82@v1.37.1, "takes a snapshot
//     at the beginning of each scheduling cycle").
//   - A pod for which the scheduler has found a node is there from then on, until it is
//     handled that it is bound or goes, or its binding fails (Cache, "assumed",
//     backend/cache/interface.go:29@v1.37.1; schedule_one.go:1060@v1.37.1, assume; eventhandlers.go:264@v1.37.1,
//     handleAssumedPodDeletion).
//   - A pod is nominated as was last decided for it, from before that is written to the API
//     (doc comment of addNominatedPod, backend/queue/nominator.go:63@v1.37.1), or as an event
//     says later (UpdateNominatedPod, nominator.go:113@v1.37.1).
//   - Budgets, and the preemptor's own status, are looked up when they are needed.
//
// Where the documents leave open what counts, or when, the account has several states, and a
// decision is admissible if it is in one of them.
package account

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// account is what a scheduler knows at an entry of a trace.
type account struct {
	settings model.Settings
	nodes    map[string]*v1.Node
	now      time.Duration         // when what comes next is, since the start
	onNodes  map[types.UID]*v1.Pod // bound, as far as it was told, or assumed
	assumed  map[types.UID]*assumption
	lingers  map[types.UID]*v1.Pod // assumed, and told to go before their binding was over
	late     map[types.UID]*v1.Pod // told to go in the cycle of their group, and assumed at its end: as they were in the group
	outlived map[string]string     // nominations of pods that were created again in the cycle of their group, by name
	ends     map[types.UID]int     // how many failed bindings of a pod have not come to their end
	holds    []string              // the places that are held
	waiting  map[types.UID]*waiting
	victims  map[string][]string // by preemptor: those of its last preemption that no call was about
	ports    ports
	// stored and the next two are what listers show.
	stored        map[string]*v1.Pod // by key
	storedBudgets map[string]*policyv1.PodDisruptionBudget
	others        map[string]runtime.Object
	// told and budgets are what of these was handled.
	told    map[string]runtime.Object
	budgets map[string]*policyv1.PodDisruptionBudget

	cycle  *Cycle
	cycles []*Cycle
	group  *GroupCycle // nil if no cycle of a group is on
	groups []*GroupCycle
}

// assumption is of a pod that counts as being on a node before it is bound.
type assumption struct {
	// failed: its binding has failed, so that it counts no longer, or will soon.
	failed bool
	// freed: its ports are free, as another pod has one since its binding failed.
	freed bool
	// permit: it may wait for a plugin's permission. If it is to go, it is rejected, and counts
	// until that is done (eventhandlers.go:292@v1.37.1, handleAssumedPodDeletion).
	permit bool
	// patience is how long that is at most; 0 is permitTime.
	patience time.Duration
	// since is when it was assumed.
	since time.Duration
}

// permitTime is how long a plugin may make a pod wait for its permission at most
// (runtime/framework.go:53@v1.37.1).
const permitTime = 15 * time.Minute

// quorumTime is how long a pod of a group waits for others of it at most (gangscheduling.go:42@v1.37.1).
const quorumTime = 5 * time.Minute

// timedOut tells whether a pod may have waited for too long. It is given up then.
func (s *assumption) timedOut(now time.Duration) bool {
	return s != nil && s.permit && !s.failed && now >= s.since+cmp.Or(s.patience, permitTime)
}

// Cycles are the cycles of a trace that came to a result, in turn.
func Cycles(t *timeline.Timeline, trace *timeline.Trace) []*Cycle {
	return follow(t, trace, func(int, *account) {}).cycles
}

// follow keeps the account of a whole trace. It calls visit before each entry, and after the last
// one, while a scheduler is there.
func follow(t *timeline.Timeline, trace *timeline.Trace, visit func(i int, a *account)) *account {
	a := &account{settings: t.Cluster.Settings, victims: map[string][]string{}}
	// A decision does not depend on whether calls are made in line with it (KEP-5229).
	a.settings.FeatureGates = maps.Clone(a.settings.FeatureGates)
	delete(a.settings.FeatureGates, "SchedulerAsyncAPICalls")
	startups := trace.Startups
	for i := range trace.Entries {
		for len(startups) > 0 && startups[0].Entry <= i {
			a.start(startups[0].Objects)
			startups = startups[1:]
		}
		a.now = trace.Entries[i].At
		if a.nodes != nil { // a scheduler has started
			visit(i, a)
			a.follow(i, &trace.Entries[i])
		}
	}
	if a.nodes != nil {
		visit(len(trace.Entries), a)
	}
	return a
}

// start begins the account of a new scheduler.
func (a *account) start(objects []runtime.Object) {
	a.nodes, a.onNodes = map[string]*v1.Node{}, map[types.UID]*v1.Pod{}
	a.assumed, a.ends, a.lingers = map[types.UID]*assumption{}, map[types.UID]int{}, map[types.UID]*v1.Pod{}
	a.late = map[types.UID]*v1.Pod{}
	a.outlived = map[string]string{}
	a.waiting, a.ports = map[types.UID]*waiting{}, ports{}
	a.stored, a.others, a.told = map[string]*v1.Pod{}, map[string]runtime.Object{}, map[string]runtime.Object{}
	a.budgets, a.storedBudgets = map[string]*policyv1.PodDisruptionBudget{}, map[string]*policyv1.PodDisruptionBudget{}
	a.cycle, a.group = nil, nil
	for _, obj := range objects {
		a.store(nil, obj)
	}
	for _, obj := range objects {
		a.handle(nil, obj)
	}
}

func (a *account) follow(i int, e *timeline.Entry) {
	switch e.What {
	case timeline.TakenOver:
		a.cycle, a.group = nil, nil
	case timeline.Stored:
		a.store(e.Was, e.Is)
	case timeline.Handled:
		a.handle(e.Was, e.Is)
	case timeline.Called:
		a.called(e)
	case timeline.Holding:
		a.holds = append(a.holds, e.Object)
	case timeline.Releasing:
		if e.Text == "" { // and not one that goes on
			a.holds = slices.DeleteFunc(a.holds, func(p string) bool { return p == e.Object })
		}
	case timeline.Told:
		switch {
		case e.PreemptsInMemory():
			a.bindingFails(e.UID)
		case e.Preempts() && a.uncalled(e.Pod()):
			a.rejects(e.UID)
		}
	case timeline.Ends:
		if e.Text != "success" {
			a.preemptionFails(e)
		}
	case timeline.Tried:
		a.group.tried(e, a.waiting)
	case timeline.Popped, timeline.Fits, timeline.Unfit, timeline.Decided, timeline.Requeued:
		switch pod, ok := e.Is.(*v1.Pod); {
		case ok && e.Group != "":
			a.goesOnInGroup(i, e, pod)
		case ok:
			a.goesOn(i, e, pod)
		case e.What == timeline.Popped:
			a.beginGroup(i, e)
		case e.What == timeline.Decided:
			a.group.decided(i, nil)
			a.victims[e.Preemptor()] = slices.Clone(e.Victims)
		}
	}
}

// goesOn follows what happens in the cycle of a pod.
func (a *account) goesOn(i int, e *timeline.Entry, pod *v1.Pod) {
	if e.What == timeline.Popped {
		a.group = nil
		if a.assumed[pod.UID].timedOut(e.At) { // or it would not be in the queue
			a.leave(pod.UID)
			a.ends[pod.UID]++
		}
		for uid, s := range a.assumed {
			if s.timedOut(e.At) { // and counts no longer, or will not soon
				a.fail(uid, s)
			}
		}
		a.begin(i, pod)
		return
	}
	if e.What == timeline.Requeued {
		delete(a.lingers, pod.UID)
	}
	w := a.waiting[pod.UID]
	if s := a.assumed[pod.UID]; e.What == timeline.Requeued && (s != nil || e.Text == "error" && a.ends[pod.UID] > 0) {
		// A binding has failed: that of now, or of an earlier time that the pod was assumed.
		timedOut := s.timedOut(e.At) && a.ends[pod.UID] == 0
		w.putBack(a.stored[model.Key(pod)])
		a.ends[pod.UID] = max(0, a.ends[pod.UID]-1)
		if timedOut || s != nil && s.failed && a.ends[pod.UID] == 0 {
			a.leave(pod.UID)
			a.nominate(w, union(one(""), w.nominations()))
		}
		return
	}
	if a.cycle == nil || a.cycle.Pod.UID != pod.UID {
		return
	}
	switch e.What {
	case timeline.Fits:
		a.end(i, e)
		a.assume(pod, e)
		a.nominate(w, one(""))
		a.cycle = nil
	case timeline.Unfit:
		a.cycle.unfit = e
		a.cycle.stored, a.cycle.namesakes = nil, nil // preemption asks for "the latest version" (preemption.go:105@v1.37.1, evaluate)
		a.cycle.see(a)
		if w != nil {
			w.decided, w.next = one(""), one("")
		}
	case timeline.Decided:
		a.end(i, e)
		a.victims[model.Key(pod)] = slices.Clone(e.Victims)
		if w != nil {
			w.decide(e, a.stored[model.Key(pod)])
		}
	case timeline.Requeued:
		if a.cycle.Ended < 0 {
			a.end(i, a.cycle.unfit)
		}
		a.cycle = nil
		if w != nil {
			a.requeue(w)
		}
	}
}

// goesOnInGroup follows what comes of a member in the cycle of its group.
func (a *account) goesOnInGroup(i int, e *timeline.Entry, pod *v1.Pod) {
	w := a.waiting[pod.UID]
	switch e.What {
	case timeline.Popped:
		if a.assumed[pod.UID].timedOut(e.At) {
			a.leave(pod.UID)
			a.ends[pod.UID]++
		}
		// Pods that are assumed come again if they were updated before: "This can happen … when the pod has already been assumed"
		// (doc comment of skipPodGroupPodSchedule, schedule_one_podgroup.go:336@v1.37.1).
		if s := a.assumed[pod.UID]; s == nil || s.failed {
			a.member(i, pod)
		}
		if w != nil {
			w.behind = false
		}
	case timeline.Fits:
		if a.group.decided(i, pod); a.group != nil {
			a.group.Binds = append(a.group.Binds, model.Key(pod)+" to "+e.Node)
		}
		if w == nil && pod.Spec.SchedulingGroup != nil { // it was deleted in its cycle, and is no pod of its group any more
			a.late[pod.UID] = pod
			alone := *pod
			alone.Spec.SchedulingGroup = nil
			pod = &alone
		}
		a.assume(pod, e)
		if s := a.assumed[pod.UID]; s != nil {
			s.permit, s.patience = true, quorumTime // it may have to wait for others of its group
		}
		a.nominate(w, one(""))
	case timeline.Unfit:
		a.group.decided(i, pod)
		if w != nil {
			w.decide(e, a.stored[model.Key(pod)])
		} else if again := a.stored[model.Key(pod)]; again != nil && again.UID != pod.UID && a.group.isNominatedAgain(pod) {
			a.outlived[model.Key(pod)] = pod.Status.NominatedNodeName
		}
	case timeline.Requeued:
		if a.assumed[pod.UID] != nil { // a plugin did not permit it
			a.leave(pod.UID)
		}
		if w != nil {
			w.behind = e.Queue == timeline.QueuePending
			a.requeue(w)
		}
	}
}

func name(obj runtime.Object) string {
	o, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return model.Key(o)
}

// named is the key of an object among those of several kinds.
func named(obj runtime.Object) string { return reflect.TypeOf(obj).String() + " " + name(obj) }

// set puts an object into a map by its name, or takes the old one out.
func set[T runtime.Object](m map[string]T, was, is runtime.Object) { setBy(name, m, was, is) }

func setBy[T runtime.Object](key func(runtime.Object) string, m map[string]T, was, is runtime.Object) {
	if is != nil {
		m[key(is)] = is.(T)
	} else {
		delete(m, key(was))
	}
}

// store follows what listers show.
func (a *account) store(was, is runtime.Object) {
	switch about(was, is).(type) {
	case *v1.Pod:
		set(a.stored, was, is)
		a.seen()
	case *policyv1.PodDisruptionBudget:
		set(a.storedBudgets, was, is)
		a.seen()
	case *v1.Node:
	default:
		if obj := about(was, is); obj != nil {
			setBy(named, a.others, was, is)
		}
	}
}

// seen has the cycle that is on see what listers show now.
func (a *account) seen() {
	a.cycle.see(a)
	a.group.see(a)
}

func about(was, is runtime.Object) runtime.Object {
	if is == nil {
		return was
	}
	return is
}

// handle follows what the scheduler is told.
func (a *account) handle(was, is runtime.Object) {
	switch obj := about(was, is).(type) {
	case *v1.Pod:
		old, _ := was.(*v1.Pod)
		a.handlePod(old, obj, is == nil)
	case *v1.Node:
		set(a.nodes, was, is)
	case *policyv1.PodDisruptionBudget:
		set(a.budgets, was, is)
		a.seen()
	default:
		if obj != nil {
			setBy(named, a.told, was, is)
		}
	}
}

func (a *account) handlePod(was, pod *v1.Pod, gone bool) {
	switch uid := pod.UID; {
	case gone:
		a.goes(uid)
		a.waitsNoMore(uid)
	case pod.Spec.NodeName != "":
		a.group.bound(pod)
		a.come(pod)
		a.waitsNoMore(uid)
	case a.settings.Schedules(pod.Spec.SchedulerName):
		a.handleWaiting(was, pod)
	}
}

// assume puts a pod on its node before it is bound, unless the scheduler was told meanwhile
// that it is bound already.
func (a *account) assume(pod *v1.Pod, e *timeline.Entry) {
	if a.assumed[pod.UID] == nil && a.onNodes[pod.UID] != nil {
		return
	}
	there := *pod
	there.Spec.NodeName = e.Node
	a.come(&there)
	a.assumed[pod.UID] = &assumption{since: e.At, permit: slices.ContainsFunc(a.holds, func(p string) bool {
		return p == string(timeline.Permit) || p == timeline.Place{Name: timeline.Permit, Pod: model.Key(pod)}.String()
	})}
}

// goes takes a pod off its node that is to be deleted, or is gone.
func (a *account) goes(uid types.UID) {
	s := a.assumed[uid]
	if s != nil && s.permit {
		a.fail(uid, s)
		return
	}
	pod := a.onNodes[uid]
	a.leave(uid)
	if s != nil {
		a.lingers[uid] = pod
	}
}

// come puts a pod on its node, as it is now.
func (a *account) come(pod *v1.Pod) {
	a.leave(pod.UID)
	delete(a.lingers, pod.UID)
	a.freePorts(pod)
	a.onNodes[pod.UID] = pod
	a.ports.add(pod)
}

// leave takes a pod off its node, if it is on one.
func (a *account) leave(uid types.UID) {
	if pod, s := a.onNodes[uid], a.assumed[uid]; pod != nil && (s == nil || !s.freed) {
		a.ports.remove(pod)
	}
	delete(a.onNodes, uid)
	delete(a.assumed, uid)
}

// called follows the calls that change what the scheduler takes for given.
func (a *account) called(e *timeline.Entry) {
	a.victims[e.By] = slices.DeleteFunc(a.victims[e.By], func(v string) bool { return v == e.Pod() })
	switch {
	case e.Call == timeline.Bind && e.Error != "":
		a.bindingFails(e.UID)
	case e.Call == timeline.Bind:
		if s := a.assumed[e.UID]; s != nil {
			s.permit = false // it waits no longer
		}
	case e.Call == timeline.Patch && strings.Contains(e.Text, "nomination cleared"):
		// The pod has lost its nomination, and the scheduler is not told of it yet.
		for _, w := range a.waiting {
			if model.Key(w.pod) == e.Pod() {
				a.nominate(w, union(w.nominated, one("")))
			}
		}
	}
	if c := a.cycle; c != nil && e.Error != "" && e.By == model.Key(c.Pod) && !a.settings.AsyncPreemption() {
		// A preemption that fails leaves the nomination as it is.
		if w := a.waiting[c.Pod.UID]; w != nil {
			w.next = union(w.next, union(w.nominated, statusOf(a.stored[model.Key(c.Pod)])))
		}
	}
}

// rejects notes that a pod is said to be preempted about which no call was made: it was waiting for
// permission, and is rejected. Since 1.36 the event itself says that it is not deleted.
func (a *account) rejects(uid types.UID) {
	if s := a.assumed[uid]; s != nil && s.permit {
		a.fail(uid, s)
	}
}

// uncalled tells whether a pod is a victim about which no call was made.
func (a *account) uncalled(pod string) bool {
	for _, victims := range a.victims {
		if slices.Contains(victims, pod) {
			return true
		}
	}
	return false
}

// bindingFails notes that a pod goes nowhere. That it counts no longer on its node is said
// of the end of this (schedule_one.go:507@v1.37.1, handleBindingCycleError), which is seen
// when it is put back into the queue.
func (a *account) bindingFails(uid types.UID) {
	if s := a.assumed[uid]; s != nil {
		a.fail(uid, s)
	}
}

func (a *account) fail(uid types.UID, s *assumption) {
	if !s.failed {
		s.failed = true
		a.ends[uid]++
	}
}

// notYet is when pods without a start time start: they count as starting now, whenever that
// is (util/utils.go:53@v1.37.1, GetPodStartTime).
var notYet = metav1.NewTime(time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))

func sorted[T any](m map[string]T) (all []T) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[key])
	}
	return all
}
