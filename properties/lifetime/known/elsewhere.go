package known

import (
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// boundElsewhere tells whether, since a pod was last tried, the scheduler was told that another one is bound, and until then it
// had that one on a node where it is not: assumed there or, if it is of at least the pod's priority, nominated to it.
func (l *Life) boundElsewhere(pod, node string) (freed bool) {
	assumed, nominated := map[string]string{}, map[string]string{}
	var priority int32
	startups := l.Trace.Startups
	for i := range l.Trace.Entries[:l.end()] {
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			for _, o := range startups[0].Objects {
				if p, ok := o.(*v1.Pod); ok {
					nominated[model.Key(p)] = p.Status.NominatedNodeName
				}
			}
		}
		e := &l.Trace.Entries[i]
		other := e.Pod()
		p, _ := e.Is.(*v1.Pod)
		switch {
		case e.What == timeline.TakenOver:
			clear(assumed)
			clear(nominated)
			freed = false
		case e.What == timeline.Popped && other == pod && p != nil:
			priority, freed = model.Priority(p), false
		case e.What == timeline.Fits:
			assumed[other] = e.Node
			delete(nominated, other)
		case e.What == timeline.Told && strings.HasPrefix(e.Text, "FailedScheduling:"): // if it was on its way, that is over, and told
			delete(assumed, other)
		case e.Nomination != model.NominationKept && (e.What == timeline.Decided || e.What == timeline.Unfit && e.Group != ""):
			nominated[other] = e.Node
		case e.What != timeline.Handled || p == nil:
		case p.Spec.NodeName == "":
			nominated[other] = p.Status.NominatedNodeName
		default:
			if p.Spec.NodeName != node && (assumed[other] == node || nominated[other] == node && model.Priority(p) >= priority) {
				freed = true
			}
			delete(assumed, other)
			delete(nominated, other)
		}
	}
	return freed
}
