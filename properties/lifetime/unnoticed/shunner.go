package unnoticed

import (
	"math"
	"regexp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// isShunned matches why a pod does not fit that pods on nodes shun, and that waits for nothing else.
var isShunned = regexp.MustCompile(`^0/\d+ nodes are available: \d+ node\(s\) didn't satisfy existing pods anti-affinity rules\.( |$)`)

// ShunnerGone tells whether pods on nodes shunned a pod that shuns none when it was last tried, and it can be helped now
// only as such pods are gone since then.
func (l *Life) ShunnerGone(pod string, preempts bool) bool {
	var waits *v1.Pod
	var gone []*v1.Pod
	shunned := false
	for i := range l.Trace.Entries[:l.End] {
		e := &l.Trace.Entries[i]
		was, _ := e.Was.(*v1.Pod)
		switch {
		case e.What == timeline.TakenOver:
			waits = nil
		case e.What == timeline.Popped && e.Pod() == pod:
			waits, _ = e.Is.(*v1.Pod)
			gone, shunned = nil, false
		case e.What == timeline.Unfit && e.Pod() == pod:
			shunned = isShunned.MatchString(e.Text)
		case e.What == timeline.Handled && e.Text == "deleted" && was != nil && len(filter.RequiredAntiAffinity(was)) > 0:
			gone = append(gone, onlyShuns(was))
		}
	}
	return shunned && waits != nil && len(gone) > 0 && len(filter.RequiredAntiAffinity(waits)) == 0 &&
		l.helpless(pod, preempts, func(c *model.Cluster) { c.Pods = slices.Concat(c.Pods, gone) })
}

// onlyShuns is a pod that shuns others as p does. It takes no room, nobody asks for it, and none can preempt it.
func onlyShuns(p *v1.Pod) *v1.Pod {
	only := &v1.Pod{ObjectMeta: p.ObjectMeta, Spec: v1.PodSpec{NodeName: p.Spec.NodeName, Affinity: &v1.Affinity{PodAntiAffinity: p.Spec.Affinity.PodAntiAffinity},
		Containers: []v1.Container{{Name: "c"}}, Priority: ptr.To[int32](math.MaxInt32)}}
	only.Name += "-gone"
	only.UID += "-gone"
	only.Labels, only.DeletionTimestamp, only.DeletionGracePeriodSeconds = nil, nil, nil
	return only
}
