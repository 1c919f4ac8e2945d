package known

import (
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// firstUnnoticed tells whether the last cycle of a pod ended as the pod has to be with others
// like itself, and the last of these on a node has gone, or is not like it any more, since
// that cycle began.
func (l *Life) firstUnnoticed(pod string) bool {
	placed := map[string]*v1.Pod{}
	for _, s := range l.Trace.Startups {
		for _, o := range s.Objects {
			if p, ok := o.(*v1.Pod); ok && p.Spec.NodeName != "" {
				placed[p.Namespace+"/"+p.Name] = p
			}
		}
	}
	var waits *v1.Pod
	peers := func() (n int) {
		for _, p := range placed {
			if filter.GoesWith(waits, p) {
				n++
			}
		}
		return n
	}
	rejected, left := false, false
	for i := range l.Trace.Entries[:l.end()] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.Popped && e.Pod() == pod:
			waits, _ = e.Is.(*v1.Pod)
			rejected, left = false, false
		case e.What == timeline.Unfit && e.Pod() == pod:
			rejected = strings.Contains(e.Text, "didn't match pod affinity rules")
		case e.What == timeline.Handled && e.Pod() != "":
			before := 0
			if waits != nil {
				before = peers()
			}
			delete(placed, e.Pod())
			if p, ok := e.Is.(*v1.Pod); ok && p.Spec.NodeName != "" {
				placed[e.Pod()] = p
			}
			left = waits != nil && peers() == 0 && (left || before > 0)
		}
	}
	return rejected && left && filter.GoesWith(waits, waits)
}
