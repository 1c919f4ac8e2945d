package account

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// waiting is a pod on no node that the scheduler knows.
type waiting struct {
	pod *v1.Pod // as it was told
	// as are the versions of it by which it may count where it is nominated, the likeliest first: as it
	// was put back ("requeued using the latest version from the informer cache",
	// scheduling_queue.go:1382@v1.37.1, Update) or, if that is later or open, as it was told.
	as []*v1.Pod
	// nominated are the nodes that it may be nominated to, "" for none; the likeliest
	// first.
	nominated []string
	// behind: it is a pod of a group that was left to wait for the end of a cycle when that was over.
	behind bool
	// unseen: the scheduler has decided what it was not told of yet.
	unseen bool
	// decided is what its last cycle came to, and next what it may be nominated to once
	// the cycle is over; nil if there is nothing of that kind.
	decided, next []string
	// cycle is the number of the cycle that has decided last.
	cycle int
}

func (w *waiting) nominations() []string {
	if w == nil {
		return nil
	}
	return w.nominated
}

func one(node string) []string { return []string{node} }

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, node := range b {
		if !slices.Contains(out, node) {
			out = append(out, node)
		}
	}
	return out
}

// statusOf is the node to which a status nominates a pod.
func statusOf(p *v1.Pod) []string {
	if p == nil {
		return one("")
	}
	return one(p.Status.NominatedNodeName)
}

// nominate changes what a pod may be nominated to. A cycle that is on may look before or
// after that.
func (a *account) nominate(w *waiting, to []string) {
	if w == nil {
		return
	}
	w.nominated = to
	stored := a.stored[model.Key(w.pod)]
	a.cycle.nominated(w, stored)
	a.group.nominated(w, stored)
}

// waitsNoMore is that a pod is gone, or bound.
func (a *account) waitsNoMore(uid types.UID) {
	a.nominate(a.waiting[uid], one(""))
	delete(a.waiting, uid)
}

// handleWaiting follows what the scheduler is told of a pod on no node.
func (a *account) handleWaiting(was, pod *v1.Pod) {
	w := a.waiting[pod.UID]
	if w == nil {
		w = &waiting{pod: pod, as: []*v1.Pod{pod}}
		a.waiting[pod.UID] = w
		a.nominate(w, a.unlessGone(pod, statusOf(pod)))
		return
	}
	before := w.pod
	w.pod = pod
	if queued := w.as[0]; version(queued) > version(pod) {
		w.as = []*v1.Pod{queued, pod}
	} else {
		w.as = []*v1.Pod{pod}
	}
	if s := a.assumed[pod.UID]; s != nil {
		if pod.DeletionTimestamp != nil && before.DeletionTimestamp == nil {
			a.goes(pod.UID)
		}
		if s.failed {
			a.nominate(w, union(w.nominated, statusOf(pod)))
		}
		return
	}
	if was == nil {
		was = before
	}
	after := w.told(was, w.nominated)
	if w.next != nil {
		w.next = union(w.told(was, w.next), w.decided)
	}
	if inCycle := a.cycle != nil && a.cycle.Pod.UID == pod.UID; inCycle {
		after = union(w.nominated, after)
	}
	if slices.Contains(w.nominated, pod.Status.NominatedNodeName) {
		w.unseen = false
	}
	a.nominate(w, a.unlessGone(pod, after))
}

// unlessGone are nominations of a pod. One of which listers show that it is gone or bound is
// not nominated any more (nominator.go:91@v1.37.1, addNominatedPodUnlocked).
func (a *account) unlessGone(p *v1.Pod, nominated []string) []string {
	if s := a.stored[model.Key(p)]; s == nil || s.UID != p.UID || s.Spec.NodeName != "" {
		return union(one(""), nominated)
	}
	return nominated
}

// told is what a pod may be nominated to after an update of it: it keeps what is not written
// yet, and otherwise an update that has a nomination, or takes it away, is followed
// (nominator.go:113@v1.37.1, UpdateNominatedPod). Of an update that may be older than what
// was decided, both is allowed.
func (w *waiting) told(was *v1.Pod, nominated []string) []string {
	old, now := was.Status.NominatedNodeName, w.pod.Status.NominatedNodeName
	switch {
	case old == "" && now == "":
		return nominated
	case old == now, w.unseen && !slices.Contains(nominated, now):
		return union(one(now), nominated)
	}
	return one(now)
}

// decide takes note of a decision. It takes effect as the cycle ends: when is not seen.
func (w *waiting) decide(e *timeline.Entry, stored *v1.Pod) {
	switch e.Nomination {
	case model.NominationSet:
		w.decided = one(e.Node)
	case model.NominationCleared:
		w.decided = one("")
	default:
		w.decided = union(w.nominated, statusOf(stored))
	}
	w.next, w.cycle = w.decided, e.Cycle
}

// preemptionFails follows the end of a goroutine that has failed. By KEP-4832 "it reverts the nomination"; its "Risks and
// Mitigations" let it be. So either is allowed, unless the pod has decided anew since.
func (a *account) preemptionFails(e *timeline.Entry) {
	for _, uid := range uids(a.waiting) {
		w := a.waiting[uid]
		switch {
		case model.Key(w.pod) != e.Pod() || w.cycle != e.Cycle:
		case w.next != nil:
			w.next, w.decided = union(w.next, one("")), union(w.decided, one(""))
		default:
			a.nominate(w, union(w.nominated, one("")))
		}
	}
}

// putBack takes note that a pod is put back as listers show it.
func (w *waiting) putBack(stored *v1.Pod) {
	if w != nil && stored != nil && stored.UID == w.pod.UID && stored.Spec.NodeName == "" {
		w.as = []*v1.Pod{stored}
	}
}

// versions are those of a and b that differ where it matters to others.
func versions(a, b []*v1.Pod) (all []*v1.Pod) {
	for _, p := range slices.Concat(a, b) {
		if !slices.ContainsFunc(all, func(o *v1.Pod) bool {
			return o == p || equality.Semantic.DeepEqual(o.Labels, p.Labels) && equality.Semantic.DeepEqual(o.Spec, p.Spec)
		}) {
			all = append(all, p)
		}
	}
	return all
}

// requeue is the end of a cycle in which a pod did not fit.
func (a *account) requeue(w *waiting) {
	to := w.next
	if to == nil {
		to = one("")
	}
	stored := a.stored[model.Key(w.pod)]
	w.putBack(stored)
	if stored == nil || stored.UID != w.pod.UID || stored.Spec.NodeName != "" {
		// Nothing is written about a pod that is gone (schedule_one.go:1201@v1.37.1,
		// handleSchedulingFailure), nor is it nominated.
		to = union(one(""), union(to, w.nominated))
	}
	w.unseen = w.unseen || !slices.Equal(to, statusOf(stored))
	w.decided, w.next = nil, nil
	a.nominate(w, to)
}
