package together

import (
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/hints"
)

// MemberGone tells whether a group that is kept out of the queue before an entry has not been tried since the scheduler was told that
// a pod of it is gone which waited for something: it had scheduling gates, and no other pod of the group has; or it did
// not fit on the nodes in the group's last cycle, and of no other pod that is there was that said; or only it was rejected for
// what the end of the group's victims may change.
func MemberGone(trace *timeline.Trace, group string, before int) bool {
	var goes []*v1.Pod
	rejected := map[types.UID]string{} // in the last cycle, by the nodes: why. Others may come under their names
	preempts := false                  // in the last cycle
	there := map[string]*v1.Pod{}      // pending pods of the group, as the scheduler was told
	see := func(p *v1.Pod) {
		if GroupOf(p) == group {
			there[p.Namespace+"/"+p.Name] = p
		}
	}
	startups := trace.Startups
	for i := range trace.Entries[:before] {
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
		e := &trace.Entries[i]
		switch is, was := pod(e.Is), pod(e.Was); {
		case e.What == timeline.Popped && e.Preemptor() == group:
			goes, preempts = nil, false
			clear(rejected)
		case e.What == timeline.Decided && e.Preemptor() == group:
			preempts = len(e.Victims) > 0
		case e.What == timeline.Unfit && e.Group == group && is != nil:
			if strings.Contains(e.Text, byNodes) {
				rejected[is.UID] = e.Text
			}
		case e.What != timeline.Handled || e.Pod() == "":
		case is != nil:
			see(is)
		case was != nil && GroupOf(was) == group && was.Spec.NodeName == "":
			goes = append(goes, was)
			delete(there, e.Pod())
		}
	}
	gated, waits, waitsForPods := false, false, false
	for _, p := range there {
		why, ok := rejected[p.UID]
		gated = gated || len(p.Spec.SchedulingGates) > 0
		waits = waits || ok
		waitsForPods = waitsForPods || ok && !hints.ByNodesAlone(why)
	}
	for _, p := range goes {
		why, ok := rejected[p.UID]
		if len(p.Spec.SchedulingGates) > 0 && !gated || ok && (!waits || preempts && !waitsForPods && !hints.ByNodesAlone(why)) {
			return true
		}
	}
	return false
}
