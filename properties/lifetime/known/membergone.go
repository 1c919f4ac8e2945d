package known

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// memberGone tells whether a group that is kept out of the queue has not been tried since the scheduler was told that a
// pod of it is gone which waited for something: it had scheduling gates, and no other pod of the group has; or it did
// not fit on the nodes in the group's last cycle, and of no other pod that is there was that said.
func (l *Life) memberGone(group string) bool {
	var goes []*v1.Pod
	rejected := map[types.UID]bool{} // in the last cycle, by the nodes: others may come under their names
	there := map[string]*v1.Pod{}    // pending pods of the group, as the scheduler was told
	see := func(p *v1.Pod) {
		if together.GroupOf(p) == group {
			there[p.Namespace+"/"+p.Name] = p
		}
	}
	startups := l.Trace.Startups
	for i := range l.Trace.Entries[:l.end()] {
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			goes = nil
			clear(rejected)
			clear(there)
			for _, obj := range startups[0].Objects {
				if p, ok := obj.(*v1.Pod); ok {
					see(p)
				}
			}
		}
		e := &l.Trace.Entries[i]
		switch is, was := pod(e.Is), pod(e.Was); {
		case e.What == timeline.Popped && e.Preemptor() == group:
			goes = nil
			clear(rejected)
		case e.What == timeline.Unfit && e.Group == group && is != nil:
			rejected[is.UID] = strings.Contains(e.Text, " nodes are available: ")
		case e.What != timeline.Handled || e.Pod() == "":
		case is != nil:
			see(is)
		case was != nil && together.GroupOf(was) == group && was.Spec.NodeName == "":
			goes = append(goes, was)
			delete(there, e.Pod())
		}
	}
	gated, waits := false, false
	for _, p := range there {
		gated = gated || len(p.Spec.SchedulingGates) > 0
		waits = waits || rejected[p.UID]
	}
	for _, p := range goes {
		if len(p.Spec.SchedulingGates) > 0 && !gated || rejected[p.UID] && !waits {
			return true
		}
	}
	return false
}

func pod(obj any) *v1.Pod {
	p, _ := obj.(*v1.Pod)
	return p
}
