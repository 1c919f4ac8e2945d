package unnoticed

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/hints"
)

// SpreadEased tells whether PodTopologySpread rejected a pod when it was last tried, and the pod can be helped
// now only as others terminate, which they did not then, and which a constraint of it counted. It is
// helped if it fits or, if preempts, if it can preempt.
func (l *Life) SpreadEased(pod string, preempts bool) bool {
	var waits *v1.Pod
	rejected, terminating := false, map[types.UID]bool{}
	for i := range l.Trace.Entries[:l.End] {
		switch e := &l.Trace.Entries[i]; {
		case e.What == timeline.TakenOver:
			waits, rejected = nil, false
			clear(terminating)
		case e.What == timeline.Popped && e.Pod() == pod:
			waits, _ = e.Is.(*v1.Pod)
			rejected = false
			clear(terminating)
		case e.What == timeline.Unfit && e.Pod() == pod:
			rejected = spreadRejects(e.Text)
		case e.What == timeline.Handled && waits != nil:
			was, _ := e.Was.(*v1.Pod)
			if is, _ := e.Is.(*v1.Pod); startsToTerminate(was, is) && spreadCounts(hints.WithDefaultSpread(l.Timeline.Cluster.Settings, waits), was) {
				terminating[is.UID] = true
			}
		}
	}
	return rejected && len(terminating) > 0 && l.helpless(pod, preempts, func(c *model.Cluster) {
		c.Pods = slices.Clone(c.Pods)
		for i, p := range c.Pods {
			if terminating[p.UID] {
				c.Pods[i] = p.DeepCopy()
				c.Pods[i].DeletionTimestamp = nil
			}
		}
	})
}

// spreadRejects tells whether what a cycle came to says that a node was rejected for how the pods are spread.
func spreadRejects(unfit string) bool {
	_, reasons, _ := strings.Cut(strings.TrimSuffix(unfit, "."), "available: ")
	return slices.ContainsFunc(strings.Split(reasons, ", "), func(reason string) bool {
		return strings.HasSuffix(reason, "didn't match pod topology spread constraints") // and not: (missing required label)
	})
}

// startsToTerminate tells whether an update of a pod on a node says so, and changes no label.
func startsToTerminate(was, is *v1.Pod) bool {
	return was != nil && is != nil && was.UID == is.UID && was.Spec.NodeName != "" &&
		was.DeletionTimestamp == nil && is.DeletionTimestamp != nil && maps.Equal(was.Labels, is.Labels)
}

// spreadCounts tells whether a constraint of a pod that must be satisfied selects another one.
func spreadCounts(p, other *v1.Pod) bool {
	return p.Namespace == other.Namespace && slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == v1.DoNotSchedule && filter.SpreadSelector(&c, p.Labels).Matches(labels.Set(other.Labels))
	})
}
