package variation

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
)

// noLoss is that failed API calls cost no pod its place. In the variation no call fails.
//
// A failure takes time, and meanwhile others may take the room: a pod that is bound in the
// variation may be pending in the timeline, or gone. Then there has to be a reason, which is looked
// for in the trace and in the objects that the API has in the end:
//
//   - it is pending, and the model says of these objects that it fits on no node and that no
//     preemption helps it; or it has scheduling gates;
//   - it was deleted by a step of the timeline, or terminates;
//   - it was deleted for a pod of higher priority;
//   - it was never created: what it replaces was not deleted, or terminated still.
//
// Nor does a failure leave a nomination behind. The flush tries each pod again, and what is
// nominated after that and pending has to be so by the last decision about it, unless it is so
// without the failures, too.
func noLoss() Relation {
	return Relation{
		Name: "failures-cost-no-pod",
		Promise: "a pod that is bound in the end if no API call fails is bound if some do, unless its room is taken by then, or it was deleted for a more important pod; " +
			"and it stays nominated to no node because of them",
		Source: "comments in prepareCandidateAsync (executor.go:249@v1.37.1), \"When API call isn't successful … the preemptor's Pods may get stuck in the unschedulable pod pool in the worst case\", " +
			"where it is activated, and in handleBindingCycleError (schedule_one.go:521@v1.37.1)",
		Lies:    []string{"gives a pod up after a failure", "gives a pod up that could preempt", "deletes a pod for a lesser one after a failure", "keeps a nomination after a failure", "never ends without a failure"},
		Vary:    withoutFailures,
		Compare: losses,
	}
}

// withoutFailures is the timeline without its failures; nil if no call has failed.
func withoutFailures(l *lifetime.Life) *timeline.Timeline {
	fails := func(s timeline.Step) bool { return s.Fail != nil }
	if !slices.ContainsFunc(l.Timeline.Steps, fails) || !slices.ContainsFunc(l.Trace.Entries, func(e timeline.Entry) bool { return e.What == timeline.Called && e.Error != "" }) {
		return nil
	}
	t := l.Timeline.Clone()
	t.Steps = slices.DeleteFunc(t.Steps, fails)
	return t
}

// losses are the pods that were lost by failures, at most one.
func losses(l, other *lifetime.Life) []lifetime.Finding {
	with, without := existing(l), existing(other)
	for _, name := range slices.Sorted(maps.Keys(without)) {
		if p := without[name]; p.Node == "" || p.Terminating || with[name].Node != "" {
			continue
		}
		if kind, detail := lost(l, name, with[name]); kind != "" {
			return []lifetime.Finding{{Pod: name, Kind: kind, Entry: l.Trace.FlushedAt, Detail: fmt.Sprintf(
				"pod %s is bound to %s if no API call fails, and with the failures it %s", name, without[name].Node, detail)}}
		}
	}
	for _, p := range l.Trace.Flushed.Pods {
		if !p.Exists || p.Node != "" || p.Nominated == "" || p.Terminating || other.Trace.Flushed.Pod(p.Name).Nominated != "" || decided(l, p.Name) {
			continue
		}
		return []lifetime.Finding{{Pod: p.Name, Kind: "nominated", Entry: len(l.Trace.Entries), Detail: fmt.Sprintf(
			"pod %s stays nominated to %s, after the flush as well, and it does not if no API call fails", p.Name, p.Nominated)}}
	}
	return nil
}

// lost is how a pod that is not bound was lost; "" if there is a reason.
func lost(l *lifetime.Life, name string, p timeline.PodState) (kind, detail string) {
	if !p.Exists {
		if by := deletedFor(l, name); by != "" {
			if of := priorities(l); of["Pod "+by] <= of["Pod "+name] {
				return "deleted", fmt.Sprintf("is deleted for %s, which is not more important", by)
			}
		}
		return "", ""
	}
	if p.Terminating {
		return "", ""
	}
	c := cluster(l, name)
	if c.Preemptor == nil || len(c.Preemptor.Spec.SchedulingGates) > 0 {
		return "", ""
	}
	set, err := answers.Decide(c, l.Release().Rules())
	if err != nil {
		return "", "" // it is not modelled
	}
	if len(set.Fits) > 0 {
		return "pending, and fits", fmt.Sprintf("is pending, though it fits on %s", set.Fits[0])
	}
	if helps := set.Candidates(); len(helps) > 0 {
		return "pending, and may preempt", fmt.Sprintf("is pending, though it may preempt on %s", helps[0])
	}
	return "", ""
}

// deletedFor is the pod for which the scheduler deleted another one last; "" if it did not.
func deletedFor(l *lifetime.Life, pod string) (by string) {
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		switch e := &l.Trace.Entries[i]; {
		case e.Pod() != pod:
		case e.Creates():
			by = ""
		case e.What == timeline.Called && e.Call == timeline.Evict && e.TookEffect():
			by = e.By
		}
	}
	return by
}

// decided tells whether the last decision about a pod leaves it nominated.
func decided(l *lifetime.Life, pod string) (nominated bool) {
	for i := range l.Trace.Entries {
		if e := &l.Trace.Entries[i]; e.What == timeline.Decided && e.Pod() == pod {
			nominated = e.Node != ""
		}
	}
	return nominated
}

// cluster is what the API has at rest, as a cluster in which a pod is the preemptor: all that the
// last scheduler knew when it started, and what its informers stored since then.
func cluster(l *lifetime.Life, pod string) *model.Cluster {
	objects := map[string]runtime.Object{}
	startups := l.Trace.Startups
	for i := range l.Trace.Entries[:l.Trace.FlushedAt] {
		for len(startups) > 0 && startups[0].Entry <= i {
			clear(objects)
			for _, o := range startups[0].Objects {
				objects[id(o)] = o
			}
			startups = startups[1:]
		}
		switch e := &l.Trace.Entries[i]; {
		case e.What != timeline.Stored:
		case e.Is == nil:
			delete(objects, id(e.Was))
		default:
			objects[id(e.Is)] = e.Is
		}
	}
	c := &model.Cluster{Settings: l.Timeline.Cluster.Settings}
	// A decision does not depend on whether calls are made in line with it (KEP-5229).
	c.Settings.FeatureGates = maps.Clone(c.Settings.FeatureGates)
	delete(c.Settings.FeatureGates, "SchedulerAsyncAPICalls")
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		switch o := objects[name].(type) {
		case *v1.Node:
			c.Nodes = append(c.Nodes, o)
		case *policyv1.PodDisruptionBudget:
			c.PodDisruptionBudgets = append(c.PodDisruptionBudgets, o)
		case *v1.Pod:
			switch {
			case model.Key(o) == pod:
				c.Preemptor = o.DeepCopy()
				c.Preemptor.Spec.NodeName = ""
			case o.Spec.NodeName != "" || o.Status.NominatedNodeName != "":
				c.Pods = append(c.Pods, o)
			}
		default:
			c.Extra = append(c.Extra, o)
		}
	}
	return c
}

// id is the type and the name of an object.
func id(obj runtime.Object) string {
	o, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%T %s/%s", obj, o.GetNamespace(), o.GetName())
}
