package unnoticed

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// onItsWay is a change of a pod that is not bound yet, of which nobody else is told.
type onItsWay struct {
	rejects   func(reasons string) bool  // a plugin may have rejected another pod for how it was
	changed   func(was, is *v1.Pod) bool // in what matters to that plugin
	undo      func(p, was *v1.Pod)       // has it be as it was, in that
	nominated bool                       // that holds of nominated pods, too, and not only of those that are assumed on a node
}

// relabelled: a pod is bound with other labels than it was assumed with.
var relabelled = onItsWay{
	rejects: func(reasons string) bool {
		return spreadRejects(reasons) || strings.Contains(reasons, "didn't match pod anti-affinity rules")
	},
	changed: func(was, is *v1.Pod) bool { return !maps.Equal(was.Labels, is.Labels) },
	undo:    func(p, was *v1.Pod) { p.Labels = was.Labels },
}

// resized: a pod has come to ask for less, while it was nominated, or assumed on a node.
var resized = onItsWay{
	rejects:   func(reasons string) bool { return strings.Contains(reasons, "Insufficient") },
	changed:   asksForLess,
	undo:      func(p, was *v1.Pod) { p.Spec.Containers = was.Spec.Containers },
	nominated: true,
}

// Relabelled tells whether a plugin rejected a pod when it was last tried, and it can be helped only as others were bound with other labels than they
// were assumed with. It is helped if it fits or, if preempts, if it can preempt.
func (l *Life) Relabelled(pod string, preempts bool) bool {
	return l.changedOnItsWay(pod, preempts, relabelled)
}

// Resized tells whether a plugin rejected a pod when it was last tried, and it can be helped only as others have come to ask for less while they were
// nominated, or assumed on a node. It is helped if it fits or, if preempts, if it can preempt.
func (l *Life) Resized(pod string, preempts bool) bool {
	return l.changedOnItsWay(pod, preempts, resized)
}

// changedOnItsWay tells whether a plugin rejected a pod when it was last tried, and it can be helped now, or could when it was handled, only as
// others have changed that were not bound then. It is helped if it fits or, if preempts, if it can preempt.
func (l *Life) changedOnItsWay(pod string, preempts bool, how onItsWay) bool {
	rejected := false
	var told []int // the entries that say so
	assumed, before := map[types.UID]*v1.Pod{}, map[types.UID]*v1.Pod{}
	for i := range l.Trace.Entries[:l.End] {
		e := &l.Trace.Entries[i]
		is, _ := e.Is.(*v1.Pod)
		switch {
		case e.What == timeline.TakenOver:
			rejected, told = false, nil
			clear(assumed)
			clear(before)
		case is == nil:
		case e.What == timeline.Popped && e.Pod() == pod:
			rejected, told = false, nil
			clear(before)
		case e.What == timeline.Unfit && e.Pod() == pod:
			rejected = how.rejects(e.Text)
		case e.What == timeline.Fits:
			assumed[is.UID] = is
		case e.What == timeline.Requeued:
			delete(assumed, is.UID)
		case e.What == timeline.Handled && e.Pod() != pod:
			was := assumed[is.UID]
			if is.Spec.NodeName != "" {
				delete(assumed, is.UID)
			} else if was != nil || !how.nominated {
				break // one that is assumed counts as it was
			} else {
				was, _ = e.Was.(*v1.Pod)
			}
			if was != nil && was.UID == is.UID && how.changed(was, is) {
				if before[is.UID] == nil {
					before[is.UID] = was
				}
				told = append(told, i)
			}
		}
	}
	undo := func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)
		for i, p := range c.Pods {
			if was := before[p.UID]; was != nil {
				c.Pods[i] = p.DeepCopy()
				how.undo(c.Pods[i], was)
			}
		}
	}
	return rejected && len(told) > 0 && (l.helpless(pod, preempts, undo) || slices.ContainsFunc(told, func(i int) bool {
		then := *l
		then.End = i + 1
		return then.helpless(pod, preempts, undo) && !then.helpless(pod, preempts, func(*model.Cluster) {})
	}))
}

// asksForLess tells whether some container of a pod requests less of something than it did.
func asksForLess(was, is *v1.Pod) bool {
	for i := range min(len(is.Spec.Containers), len(was.Spec.Containers)) {
		now := is.Spec.Containers[i].Resources.Requests
		for name, q := range was.Spec.Containers[i].Resources.Requests {
			if n := now[name]; n.Cmp(q) < 0 {
				return true
			}
		}
	}
	return false
}
