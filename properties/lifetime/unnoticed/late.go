package unnoticed

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// PeersDeletedLate tells whether a pod can be helped now only as pods no longer count as being on their nodes that were deleted late: it
// has to be near them, or away from them, or is spread among them. It is helped if it fits or, if preempts, if it can preempt.
func (l *Life) PeersDeletedLate(name string, preempts bool) bool {
	late := together.DeletedLate(l.Trace, l.End)
	return len(late) > 0 && l.helpless(name, preempts, func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)
		for _, uid := range slices.Sorted(maps.Keys(late)) {
			p := late[uid].Is.(*v1.Pod).DeepCopy()
			p.Spec.NodeName, p.Spec.SchedulingGroup = late[uid].Node, nil
			p.Name += "-gone" // another one may have its name
			p.UID += "-gone"
			c.Pods = append(c.Pods, p)
		}
	})
}
