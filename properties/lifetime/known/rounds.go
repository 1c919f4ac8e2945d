package known

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// replacementsBoundAgainst are the known findings by which all pods got to their nodes that were bound and evicted
// while pods were evicted, replaced and evicted again: each was scheduled into the room of a nominated pod that keeps
// it from there, or where the pod that evicts it, which was nominated then, shuns it, or does not fit beside it for its
// spread constraints. Had one of them been kept away as it should, the evictions would not go on like that.
func (l *Life) replacementsBoundAgainst(f *Broken) (ids []string) {
	scheduled, bound := map[string]int{}, map[string]int{} // by pod: the last entry that says so
	for i := range l.Trace.Entries[:f.Entry+1] {
		e := &l.Trace.Entries[i]
		switch {
		case e.Creates():
			delete(bound, e.Pod())
		case e.What == timeline.Fits:
			scheduled[e.Pod()] = i
		case e.What == timeline.Called && e.Call == timeline.Bind && e.TookEffect() && i > f.Since:
			bound[e.Pod()] = scheduled[e.Pod()]
		case e.What == timeline.Called && e.Call == timeline.Evict && e.By != "" && e.TookEffect():
			cycle, ok := bound[e.Pod()]
			if !ok {
				break // it was bound before
			}
			by := l.takesRoom(e.Pod(), cycle)
			if len(by) == 0 && l.refused(e.Pod(), cycle, e.By) {
				by = []string{string(release.NominatedRefusalsSkipped)}
			}
			if len(by) == 0 && l.breaksSpread(e.Pod(), cycle, e.By) {
				by = []string{SpreadIgnored}
			}
			if len(by) == 0 {
				return nil
			}
			ids = append(ids, by...)
		}
	}
	return ids
}

// takesRoom are the known findings by which a pod was scheduled at an entry to room that is kept for a nominated pod.
func (l *Life) takesRoom(pod string, at int) []string {
	for _, g := range l.Cycles {
		if g.Property == "nominated-room-is-kept" && g.Pod == pod && g.Entry == at {
			return g.Known
		}
	}
	return nil
}

// refused tells whether a pod was placed at an entry, in the cycle of its group, on a node to which another pod, or a pod of a group, was
// nominated that shuns it, and the cycle is known to have passed over that.
func (l *Life) refused(name string, at int, other string) bool {
	if !slices.ContainsFunc(l.Cycles, func(g Broken) bool {
		return g.Property == "group-goes-as-told" && together.TriedAs(l.Trace, g.Pod) == together.TriedAs(l.Trace, name) && l.Trace.Began(g.Entry) <= at && at <= g.Entry && slices.Contains(g.Known, string(release.NominatedRefusalsSkipped))
	}) {
		return false
	}
	placed := &l.Trace.Entries[at]
	nominated := map[string]*v1.Pod{} // those of the other one, as the scheduler was last told of them
	for i := range l.Trace.Entries[:l.Trace.Began(at)] {
		if e := &l.Trace.Entries[i]; e.What == timeline.Handled && (e.Pod() == other || together.TriedAs(l.Trace, e.Pod()) == other) {
			nominated[e.Pod()] = pod(e.Is)
		}
	}
	for _, p := range nominated {
		if p != nil && p.Status.NominatedNodeName == placed.Node && shuns(p, pod(placed.Is)) {
			return true
		}
	}
	return false
}

// shuns tells whether a term of a pod's anti-affinity selects another one.
func shuns(p, other *v1.Pod) bool {
	return slices.ContainsFunc(filter.RequiredAntiAffinity(p), func(term v1.PodAffinityTerm) bool {
		wants := &v1.Pod{ObjectMeta: p.ObjectMeta, Spec: v1.PodSpec{Affinity: &v1.Affinity{PodAffinity: &v1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term}}}}}
		return filter.GoesWith(wants, other)
	})
}

// breaksSpread tells whether another pod, or a pod of a group, was nominated to a node when a pod was scheduled at an entry, and fits there
// without that pod, but beside it only if it had no spread constraints. Pods that terminate are taken for gone.
func (l *Life) breaksSpread(pod string, at int, other string) bool {
	if l.cycles == nil {
		l.cycles = account.Cycles(l.Timeline, l.Trace)
	}
	i := slices.IndexFunc(l.cycles, func(c *account.Cycle) bool { return c.Ended == at && model.Key(c.Pod) == pod })
	if i < 0 {
		return false
	}
	broken := false
	l.cycles[i].States(account.Bugs{}, func(s *account.State) bool {
		there := *s.Preemptor
		there.Spec.NodeName = l.cycles[i].Result.Node
		broken = slices.ContainsFunc(s.Pods, func(p *v1.Pod) bool {
			return p.Spec.NodeName == "" && (model.Key(p) == other || s.RootOf(p) == other) && onlySpreadKeepsApart(s.Cluster, p, &there, l.Release.Rules())
		})
		return false // the likeliest state
	})
	return broken
}

// onlySpreadKeepsApart tells whether a nominated pod of a cluster fits on its node, does not beside another one, and would but for its
// spread constraints: as the node is, or without the other pods there that are less important, as each of several may be one too many.
func onlySpreadKeepsApart(c *model.Cluster, nominated, other *v1.Pod, rules *answers.Rules) bool {
	fits := func(c *model.Cluster) bool {
		d, err := answers.Decide(c, rules)
		return err == nil && slices.Contains(d.Fits, nominated.Status.NominatedNodeName)
	}
	alone := *c
	alone.Preemptor = nominated.DeepCopy()
	alone.Preemptor.Spec.SchedulingGroup = nil // or it is not tried by itself
	alone.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool { return p == nominated || p.DeletionTimestamp != nil })
	keptApart := func(alone model.Cluster) bool {
		beside := alone
		beside.Pods = append(slices.Clone(alone.Pods), other)
		free := beside
		free.Preemptor = alone.Preemptor.DeepCopy()
		free.Preemptor.Spec.TopologySpreadConstraints = []v1.TopologySpreadConstraint{{MaxSkew: 1, TopologyKey: v1.LabelHostname, WhenUnsatisfiable: v1.ScheduleAnyway}} // which only scores: without any, it would have the default ones
		return fits(&alone) && !fits(&beside) && fits(&free)
	}
	if keptApart(alone) {
		return true
	}
	alone.Pods = slices.DeleteFunc(alone.Pods, func(p *v1.Pod) bool {
		return p.Spec.NodeName == nominated.Status.NominatedNodeName && model.Priority(p) < model.Priority(nominated)
	})
	return keptApart(alone)
}
