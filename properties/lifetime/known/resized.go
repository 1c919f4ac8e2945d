package known

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// resized tells whether NodeResourcesFit rejected a pod when it was last tried, and it can be helped now, or could when it was handled, only as
// others have come to ask for less for which room was kept: nominated pods, and such as were on their way to a node, which are bound so. It is
// helped if it fits or, if preempts, if it can preempt.
func (l *Life) resized(pod string, preempts bool) bool {
	rejected := false
	var told []int // the entries that say so
	assumed, before := map[types.UID]*v1.Pod{}, map[types.UID]*v1.Pod{}
	for i := range l.Trace.Entries[:l.end()] {
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
			rejected = strings.Contains(e.Text, "Insufficient")
		case e.What == timeline.Fits:
			assumed[is.UID] = is
		case e.What == timeline.Requeued:
			delete(assumed, is.UID)
		case e.What == timeline.Handled && e.Pod() != pod:
			was, onItsWay := assumed[is.UID]
			if is.Spec.NodeName != "" {
				delete(assumed, is.UID)
			} else if onItsWay {
				break // it counts as it was
			} else {
				was, _ = e.Was.(*v1.Pod)
			}
			if was != nil && was.UID == is.UID && asksForLess(is, was) {
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
				c.Pods[i].Spec.Containers = was.Spec.Containers
			}
		}
	}
	return rejected && len(told) > 0 && (l.helpless(pod, preempts, undo) || slices.ContainsFunc(told, func(i int) bool {
		then := *l
		then.until = i + 1
		return then.helpless(pod, preempts, undo) && !then.helpless(pod, preempts, func(*model.Cluster) {})
	}))
}

// asksForLess tells whether some container of a pod requests less of something than it did.
func asksForLess(is, was *v1.Pod) bool {
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
