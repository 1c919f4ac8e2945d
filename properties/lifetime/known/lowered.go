package known

import (
	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// groupLowers tells whether a pod, as the flush has it tried, preempts one that it might not preempt at its last attempt, as the PodGroup
// of that one came since: until then the priority of the victim itself counted, which is not lower than the pod's, and now that of
// the group, which is. Groups within others are left out.
func (l *Life) groupLowers(pod string, decided int) bool {
	pods, came := map[string]*v1.Pod{}, map[string]*schedulingv1beta1.PodGroup{}
	for _, p := range l.Timeline.Cluster.Pods {
		pods[model.Key(p)] = p
	}
	for i := range l.Trace.Entries[:min(decided, l.Trace.FlushedAt)] {
		e := &l.Trace.Entries[i]
		switch is := e.Is.(type) {
		case *v1.Pod:
			if e.What == timeline.Handled {
				pods[e.Pod()] = is
			}
		case *schedulingv1beta1.PodGroup:
			if e.What == timeline.Handled && e.Text == "added" {
				came[is.Namespace+"/"+is.Name] = is
			}
		}
		if e.What == timeline.TakenOver || e.What == timeline.Popped && e.Pod() == pod {
			clear(came)
		}
	}
	preemptor := pods[pod]
	for _, name := range l.Trace.Entries[decided].Victims {
		victim := pods[name]
		if preemptor == nil || victim == nil || victim.Spec.SchedulingGroup == nil || preemptor.Spec.SchedulingGroup != nil {
			continue
		}
		group := came[victim.Namespace+"/"+ptr.Deref(victim.Spec.SchedulingGroup.PodGroupName, "")]
		if group != nil && group.Spec.ParentCompositePodGroupName == nil &&
			model.Priority(victim) >= model.Priority(preemptor) && ptr.Deref(group.Spec.Priority, 0) < model.Priority(preemptor) {
			return true
		}
	}
	return false
}
