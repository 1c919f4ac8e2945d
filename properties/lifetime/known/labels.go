package known

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// relabelled tells whether PodTopologySpread, or the anti-affinity of a pod, rejected it when it was last tried,
// and it can be helped now, or could when it was handled, only as others, which were on their way to a node then,
// are bound with other labels than they were assumed with. It is helped if it fits or, if preempts, if it can
// preempt.
func (l *Life) relabelled(pod string, preempts bool) bool {
	rejected := false
	var bound []int // the entries that say so
	assumed, before := map[types.UID]map[string]string{}, map[types.UID]map[string]string{}
	for i := range l.Trace.Entries[:l.end()] {
		e := &l.Trace.Entries[i]
		is, _ := e.Is.(*v1.Pod)
		switch {
		case e.What == timeline.TakenOver:
			rejected, bound = false, nil
			clear(assumed)
			clear(before)
		case is == nil:
		case e.What == timeline.Popped && e.Pod() == pod:
			rejected, bound = false, nil
			clear(before)
		case e.What == timeline.Unfit && e.Pod() == pod:
			rejected = spreadRejects(e.Text) || strings.Contains(e.Text, "didn't match pod anti-affinity rules")
		case e.What == timeline.Fits:
			assumed[is.UID] = is.Labels
		case e.What == timeline.Requeued:
			delete(assumed, is.UID)
		case e.What == timeline.Handled && is.Spec.NodeName != "":
			if was, ok := assumed[is.UID]; ok && !maps.Equal(was, is.Labels) {
				before[is.UID] = was
				bound = append(bound, i)
			}
			delete(assumed, is.UID)
		}
	}
	undo := func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)
		for i, p := range c.Pods {
			if was, ok := before[p.UID]; ok {
				c.Pods[i] = p.DeepCopy()
				c.Pods[i].Labels = was
			}
		}
	}
	return rejected && len(bound) > 0 && (l.helpless(pod, preempts, undo) || slices.ContainsFunc(bound, func(i int) bool {
		then := *l
		then.until = i + 1
		return then.helpless(pod, preempts, undo) && !then.helpless(pod, preempts, func(*model.Cluster) {})
	}))
}
