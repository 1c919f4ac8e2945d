package known

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
)

// spreadEased tells whether PodTopologySpread rejected a pod when it was last tried, and the pod can be helped
// now only as others terminate, which they did not then, and which a constraint of it counted. It is
// helped if it fits or, if preempts, if it can preempt.
func (l *Life) spreadEased(pod string, preempts bool) bool {
	var waits *v1.Pod
	rejected, terminating := false, map[types.UID]bool{}
	for i := range l.Trace.Entries[:l.end()] {
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
			if is, _ := e.Is.(*v1.Pod); startsToTerminate(was, is) && spreadCounts(l.spread(waits), was) {
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

// spread is a pod that has its default constraints as its own. They select all pods here: which of them the default ones select is not asked.
func (l *Life) spread(p *v1.Pod) *v1.Pod {
	if !configuration.HasDefaults(l.Timeline.Cluster.Settings, p) {
		return p
	}
	out := p.DeepCopy()
	out.Spec.TopologySpreadConstraints = configuration.Spread(l.Timeline.Cluster.Settings, p)
	for i := range out.Spec.TopologySpreadConstraints {
		out.Spec.TopologySpreadConstraints[i].LabelSelector = &metav1.LabelSelector{}
	}
	return out
}

// spreadCounts tells whether a constraint of a pod that must be satisfied selects another one.
func spreadCounts(p, other *v1.Pod) bool {
	return p.Namespace == other.Namespace && slices.ContainsFunc(p.Spec.TopologySpreadConstraints, func(c v1.TopologySpreadConstraint) bool {
		return c.WhenUnsatisfiable == v1.DoNotSchedule && filter.SpreadSelector(&c, p.Labels).Matches(labels.Set(other.Labels))
	})
}

// helpless tells whether, by what the scheduler knows in the end, a pod would fit nowhere, nor preempt if
// that is asked, if something had not happened.
func (l *Life) helpless(pod string, preempts bool, undo func(c *model.Cluster)) (helpless bool) {
	rules := l.Release.Rules()
	account.Follow(l.Timeline, l.Trace, func(i int, k account.Known) {
		if i != l.end() {
			return
		}
		c := k.Cycle(pod, false)
		if c == nil {
			return
		}
		still := true // States tells only whether all were visited
		helpless = c.States(account.Bugs{}, func(s *account.State) bool {
			cluster := *s.Cluster
			undo(&cluster)
			d, err := answers.Decide(&cluster, rules)
			still = err == nil && len(d.Fits) == 0 && (!preempts || len(d.Choices()) == 0)
			return still
		}) && still
	})
	return helpless
}
