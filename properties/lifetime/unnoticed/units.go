package unnoticed

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// UnitsChanged tells whether a pod can preempt now only as pods on nodes have other priorities than when it was last tried, or go
// with others: their groups, or what these are part of, have come or gone since. No plugin that rejects pods asks for that.
func (l *Life) UnitsChanged(pod string) bool {
	before := map[string]runtime.Object{} // by name: what it was when the pod was popped, nil if it was not there
	for i := range l.Trace.Entries[:l.End] {
		e := &l.Trace.Entries[i]
		switch {
		case e.What == timeline.TakenOver, e.What == timeline.Popped && e.Pod() == pod:
			clear(before)
		case e.What == timeline.Handled && model.IsGroupKey(e.Preemptor()):
			if _, ok := before[e.Preemptor()]; !ok {
				before[e.Preemptor()] = e.Was
			}
		}
	}
	undo := func(c *model.Cluster) {
		c.Extra = slices.DeleteFunc(slices.Clone(c.Extra), func(o runtime.Object) bool {
			group, ok := o.(metav1.Object)
			if !ok {
				return false
			}
			_, changed := before[model.KeyOfGroup(group)]
			return changed
		})
		for _, was := range before {
			if was != nil {
				c.Extra = append(c.Extra, was)
			}
		}
	}
	return len(before) > 0 && l.helpless(pod, true, undo) && !l.helpless(pod, true, func(*model.Cluster) {})
}
