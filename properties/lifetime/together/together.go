// Package together holds the promises to pod groups against a trace: which pods are evicted together, which are tried
// together, and which are bound together.
//
// They are of PodGroups. Of what is in a composite group nothing is claimed.
//
// It also tells what a trace shows of the cycles of groups, composite ones, too: who is tried in them, who is left behind,
// and who still goes with its group when it is gone.
package together

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Broken is a promise to a group, or to a pod of one, that was broken.
type Broken struct {
	// Pod is the pod, or the group as timeline.Entry.Preemptor names it.
	Pod, Kind, Detail string
	// Entry is the index of the entry of the trace where it shows.
	Entry int
}

// GroupOf names the group of a pod; "" if it is in none.
func GroupOf(p *v1.Pod) string {
	if p == nil || p.Spec.SchedulingGroup == nil || p.Spec.SchedulingGroup.PodGroupName == nil {
		return ""
	}
	return model.PodGroupKey(p.Namespace, *p.Spec.SchedulingGroup.PodGroupName)
}

// TriedAs is the group in whose cycles a pod is tried, as timeline.Entry.Preemptor names it; or the pod.
func TriedAs(trace *timeline.Trace, pod string) string {
	for i := range trace.Entries {
		if e := &trace.Entries[i]; e.Group != "" && e.Pod() == pod {
			return e.Group
		}
	}
	return pod
}

// pod is an object as a pod; nil if it is none.
func pod(obj any) *v1.Pod {
	p, _ := obj.(*v1.Pod)
	return p
}

// On tells whether the scheduler of a timeline knows groups.
func On(t *timeline.Timeline) bool { return t.Cluster.Settings.FeatureGates[model.GateWorkload] }

// book is what the scheduler that is alive has been told of groups and of pods.
type book struct {
	groups map[string]*schedulingv1beta1.PodGroup
	pods   map[string]*v1.Pod
	// assumed are pods that were found to fit, and of which it was not told that they are bound.
	assumed map[string]bool
	// fits is the cycle, by the entry that begins it, in which a pod was last found to fit. again are pods that were
	// found to fit in another cycle before the one that failed was told to be over: they are assumed for both.
	fits  map[string]int
	again map[string]bool
}

func emptyBook() *book {
	return &book{map[string]*schedulingv1beta1.PodGroup{}, map[string]*v1.Pod{}, map[string]bool{}, map[string]int{}, map[string]bool{}}
}

// follow calls visit before each entry of a trace, with what the scheduler has been told by then.
func follow(trace *timeline.Trace, visit func(i int, e *timeline.Entry, b *book)) {
	b, cycle := emptyBook(), 0
	startups := trace.Startups
	for i := range trace.Entries {
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			*b = *emptyBook()
			for _, obj := range startups[0].Objects {
				b.told(nil, obj)
			}
		}
		e := &trace.Entries[i]
		visit(i, e, b)
		switch e.What {
		case timeline.Handled:
			b.told(e.Was, e.Is)
		case timeline.Popped:
			if e.Group == "" { // not a pod of a group, which is tried in the cycle of its group
				cycle = i
			}
		case timeline.Fits:
			b.again[e.Pod()] = b.assumed[e.Pod()] && (b.again[e.Pod()] || b.fits[e.Pod()] != cycle)
			b.assumed[e.Pod()], b.fits[e.Pod()] = true, cycle
		case timeline.Requeued:
			b.assumed[e.Pod()], b.again[e.Pod()] = b.again[e.Pod()], false
		}
	}
}

// settle forgets that a pod is assumed, as it is bound or gone.
func (b *book) settle(pod string) { b.assumed[pod], b.again[pod] = false, false }

func (b *book) told(was, is runtime.Object) {
	switch o := is.(type) {
	case *v1.Pod:
		b.pods[model.Key(o)] = o
		if o.Spec.NodeName != "" {
			b.settle(model.Key(o))
		}
		return
	case *schedulingv1beta1.PodGroup:
		b.groups[model.PodGroupKey(o.Namespace, o.Name)] = o
		return
	}
	switch o := was.(type) {
	case *v1.Pod:
		delete(b.pods, model.Key(o))
		b.settle(model.Key(o))
	case *schedulingv1beta1.PodGroup:
		delete(b.groups, model.PodGroupKey(o.Namespace, o.Name))
	}
}

// members are the pods of a group, by name.
func (b *book) members(group string) (all []string) {
	for _, key := range slices.Sorted(maps.Keys(b.pods)) {
		if GroupOf(b.pods[key]) == group {
			all = append(all, key)
		}
	}
	return all
}

// needs is how many pods of a group have to be there; 0 if the group is unknown, or does not say.
func (b *book) needs(group string) int { return minCount(b.groups[group]) }

func minCount(g *schedulingv1beta1.PodGroup) int {
	if g == nil || g.Spec.SchedulingPolicy.Gang == nil {
		return 0
	}
	return int(g.Spec.SchedulingPolicy.Gang.MinCount)
}

// isPodGroup tells whether a name is that of a PodGroup.
func isPodGroup(name string) bool { return strings.HasPrefix(name, "podgroup/") }

// Incomplete is how a group is tried that has fewer pods than it needs.
const Incomplete = "incomplete"

// There is how many pods of a group the scheduler has been told of before an entry of a trace, and how many the group needs.
func There(trace *timeline.Trace, group string, before int) (there, needs int) {
	follow(trace, func(i int, _ *timeline.Entry, b *book) {
		if i == before {
			there, needs = len(b.members(group)), b.needs(group)
		}
	})
	return there, needs
}

// TriedComplete looks at groups that are tried before they are known, or before as many of their pods as they need: since
// the scheduler has started, or since their last cycle began, there were never so many. One that has lost a pod since
// it was put into the queue may be tried all the same.
func TriedComplete(t *timeline.Timeline, trace *timeline.Trace) (broken []Broken) {
	complete := map[string]bool{} // at some instant since
	follow(trace, func(i int, e *timeline.Entry, b *book) {
		if e.What == timeline.TakenOver {
			clear(complete)
			return
		}
		for group := range b.groups {
			complete[group] = complete[group] || len(b.members(group)) >= b.needs(group)
		}
		group := e.Preemptor()
		if e.What != timeline.Popped || !isPodGroup(group) {
			return
		}
		switch {
		case b.groups[group] == nil && !complete[group]:
			broken = append(broken, Broken{group, "unknown", fmt.Sprintf("%s is tried at %.3fs, and the scheduler has been told of no such group", e.Object, e.At.Seconds()), i})
		case !complete[group]:
			broken = append(broken, Broken{group, Incomplete, fmt.Sprintf("%s is tried at %.3fs with %d of the %d pods that it needs",
				e.Object, e.At.Seconds(), len(b.members(group)), b.needs(group)), i})
		}
		complete[group] = false
	})
	return broken
}

// TooFew is how a group is bound of which fewer pods are to be bound than it needs.
const TooFew = "too few"

// BoundTogether looks at cycles of groups in which fewer pods are to be bound than the group needs, with those that
// are on nodes already.
func BoundTogether(_ *timeline.Timeline, trace *timeline.Trace) (broken []Broken) {
	for _, b := range boundTooFew(trace) {
		broken = append(broken, b.Broken)
	}
	return broken
}

// lacking is a cycle in which too few pods are to be bound, and how many more the group needs.
type lacking struct {
	Broken
	lacks int
}

// boundTooFew are the cycles that BoundTogether tells of.
func boundTooFew(trace *timeline.Trace) (broken []lacking) {
	type cycle struct {
		group  string
		needs  int
		placed map[string]bool // and those on nodes
		fits   int             // the entry of the last that fits; 0 if none does
	}
	var c *cycle
	end := func() {
		if c != nil && c.fits > 0 && len(c.placed) < c.needs {
			broken = append(broken, lacking{Broken{c.group, TooFew, fmt.Sprintf(
				"in the cycle of %s that ends at %.3fs, pods are to be bound, and with those on nodes these are %d of the %d that it needs",
				model.GroupTitle(c.group), trace.Entries[c.fits].At.Seconds(), len(c.placed), c.needs), c.fits}, c.needs - len(c.placed)})
		}
		c = nil
	}
	follow(trace, func(i int, e *timeline.Entry, b *book) {
		switch {
		case e.What == timeline.TakenOver:
			c = nil // and what it was about to do
		case e.What == timeline.Popped && e.Group == "":
			end()
			if group := e.Preemptor(); isPodGroup(group) {
				c = &cycle{group: group, needs: b.needs(group), placed: map[string]bool{}}
			}
		case e.What == timeline.Fits && c != nil && e.Group == c.group:
			c.placed[e.Pod()], c.fits = true, i
		}
		// The scheduler may be told meanwhile that another bound one of them before.
		if c != nil && (c.fits == 0 || c.fits == i) {
			for _, m := range b.members(c.group) {
				if b.pods[m].Spec.NodeName != "" || b.assumed[m] {
					c.placed[m] = true
				}
			}
		}
	})
	end()
	return broken
}

// KeptOut looks at groups that are kept out of the queue at rest, though all of it is there and no preemption for it
// goes on.
func KeptOut(t *timeline.Timeline, trace *timeline.Trace) (broken []Broken) {
	if trace.Quiet == nil || trace.Flushed == nil {
		return nil
	}
	groups, pods := inAPI(t, trace)
	there, gates, gated := map[string]int{}, map[string]bool{}, map[string]string{}
	for _, p := range trace.Quiet.Pods {
		group := GroupOf(pods[p.Name])
		if !p.Exists || group == "" {
			continue
		}
		there[group]++
		gates[group] = gates[group] || len(pods[p.Name].Spec.SchedulingGates) > 0
		if p.Gated && !p.Preempting && p.Node == "" && !p.Terminating {
			gated[group] = p.Name
		}
	}
	for _, group := range slices.Sorted(maps.Keys(gated)) {
		g := groups[group]
		if g == nil || g.Spec.ParentCompositePodGroupName != nil || gates[group] || there[group] < minCount(g) {
			continue
		}
		broken = append(broken, Broken{group, "gated", fmt.Sprintf("when all is at rest, %s is kept out of the queue, with %d pods of the %d that it needs, and no preemption for it goes on",
			model.GroupTitle(group), there[group], minCount(g)), trace.FlushedAt})
	}
	return broken
}

// GroupThere tells whether the group of a pod is in the API at rest.
func GroupThere(t *timeline.Timeline, trace *timeline.Trace, pod string) bool {
	groups, pods := inAPI(t, trace)
	return groups[GroupOf(pods[pod])] != nil
}

// inAPI are the groups, and the pods as they were created, that are there at rest. A change of a group of which no watch tells any more, as
// another scheduler has taken over, is in what that one lists; where the list is old, what it lacks is told of later.
func inAPI(t *timeline.Timeline, trace *timeline.Trace) (groups map[string]*schedulingv1beta1.PodGroup, pods map[string]*v1.Pod) {
	b := emptyBook()
	for _, obj := range t.Cluster.Objects() {
		b.told(nil, obj)
	}
	removed := map[string]bool{}
	startups := trace.Startups
	for i := range trace.Entries[:min(trace.FlushedAt, len(trace.Entries))] {
		for ; len(startups) > 0 && startups[0].Entry <= i; startups = startups[1:] {
			for _, obj := range startups[0].Objects {
				if g, is := obj.(*schedulingv1beta1.PodGroup); is && !removed["PodGroup "+g.Namespace+"/"+g.Name] {
					b.told(nil, g)
				}
			}
		}
		switch e := &trace.Entries[i]; {
		case e.Creates():
			b.told(nil, e.Is)
			delete(removed, e.Object)
		case e.What == timeline.Stored && e.Is != nil && !removed[e.Object]:
			b.told(nil, e.Is)
		case e.What == timeline.Removed && e.Error == "":
			delete(b.pods, e.Pod())
			delete(b.groups, e.Preemptor())
			removed[e.Object] = true
		}
	}
	return b.groups, b.pods
}
