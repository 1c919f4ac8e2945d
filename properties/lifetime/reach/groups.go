package reach

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/together"
)

// What may come about with pod groups.
const (
	GroupPreempts      = "a group preempts"
	PodPreemptsGroup   = "a pod preempts pods of a group"
	GroupPreemptsGroup = "a group preempts pods of a group"
	PreemptsWhole      = "several pods of a group in mode All are preempted"
	PreemptedTwice     = "pods of a group are preempted a second time"
	TriedNominated     = "a group is tried again while pods of it are nominated"
	WaitsForVictims    = "a group is tried while its victims terminate"
	LateMember         = "a pod comes to a group that has preempted"
	MemberGoes         = "a pod goes of a group that has preempted"
	LateGroup          = "a group comes after pods of it"
	GroupGoes          = "a group goes, and comes again"
	WaitsForMembers    = "a group has too few pods"
	EnoughBound        = "a group is bound that has more pods than it needs"
	FailsInPart        = "an eviction fails after another pod of the group was evicted"
	FailsForGroup      = "an eviction for a group fails"
	MemberBindFails    = "the binding of a pod of a group fails"
	DiesForGroup       = "the scheduler dies while a group preempts"
	MinCountChanges    = "the minCount of a group changes"
	CompositeGoes      = "pods of a composite group are preempted"
	Skipped            = "a group is skipped, as all its pods terminate, and another pod comes"
)

// AtOfGroup is that what was held at a place goes on while a group preempts.
func AtOfGroup(place timeline.PlaceName) string {
	return fmt.Sprintf("goes on at %s while %s", place, GroupPreempts)
}

const groupQuota = 1

// ofGroups are the situations that take pod groups, of which few timelines have any.
func ofGroups() (all []Probe) {
	for _, place := range timeline.Places() {
		all = append(all, Probe{Name: AtOfGroup(place), Quota: groupQuota, OfGroups: true})
	}
	for _, name := range []string{GroupPreempts, PodPreemptsGroup, GroupPreemptsGroup, PreemptsWhole, PreemptedTwice, TriedNominated, WaitsForVictims, LateMember, MemberGoes, LateGroup,
		GroupGoes, WaitsForMembers, EnoughBound, FailsInPart, FailsForGroup, MemberBindFails, DiesForGroup, MinCountChanges, CompositeGoes, Skipped} {
		all = append(all, Probe{Name: name, Quota: groupQuota, OfGroups: true})
	}
	return all
}

// groups follows what becomes of pod groups in a trace, as it is in the API.
type groups struct {
	is      map[string]bool
	objects map[string]*schedulingv1beta1.PodGroup
	gone    map[string]bool
	groupOf map[string]string // of pods that are there, or were
	there   map[string]bool   // which pods are
	// has are groups that have preempted, on those whose preemption goes on, and victims what they preempted.
	has, on   map[string]bool
	victims   map[string][]string
	evicted   map[string]string // by pod, for whom at last
	nominated map[string]bool
	hit       map[string]int  // how often pods of a group were preempted, by group
	skipped   map[string]bool // groups that were handed out at last with pods that all terminated
}

func newGroups(is map[string]bool) *groups {
	m := func() map[string]bool { return map[string]bool{} }
	return &groups{is, map[string]*schedulingv1beta1.PodGroup{}, m(), map[string]string{}, m(), m(), m(), map[string][]string{}, map[string]string{}, m(), map[string]int{}, m()}
}

// comes notes an object that is new.
func (g *groups) comes(e *timeline.Entry) {
	switch o := e.Is.(type) {
	case *v1.Pod:
		if group := together.GroupOf(o); group != "" {
			g.is[LateMember] = g.is[LateMember] || g.has[group]
			g.is[Skipped] = g.is[Skipped] || g.skipped[group]
			g.groupOf[e.Pod()] = group
		}
		g.there[e.Pod()] = true
		delete(g.evicted, e.Pod())
	case *schedulingv1beta1.PodGroup:
		key := e.Preemptor()
		g.objects[key] = o
		g.is[GroupGoes] = g.is[GroupGoes] || g.gone[key]
		g.is[LateGroup] = g.is[LateGroup] || g.size(key) > 0
	}
}

// start notes what a scheduler begins with.
func (g *groups) start(s *timeline.Startup) {
	for _, obj := range s.Objects {
		switch o := obj.(type) {
		case *v1.Pod:
			key := o.Namespace + "/" + o.Name
			if g.there[key] = true; together.GroupOf(o) != "" {
				g.groupOf[key] = together.GroupOf(o)
			}
		case *schedulingv1beta1.PodGroup:
			g.objects["podgroup/"+o.Namespace+"/"+o.Name] = o
		}
	}
}

// follow follows an entry.
func (g *groups) follow(e *timeline.Entry) {
	pod := e.Pod()
	switch e.What {
	case timeline.Created:
		if e.Creates() {
			g.comes(e)
		}
	case timeline.Updated:
		g.is[MinCountChanges] = g.is[MinCountChanges] || pod == "" && g.objects[e.Preemptor()] != nil
	case timeline.Removed:
		g.is[MemberGoes] = g.is[MemberGoes] || g.has[g.groupOf[pod]]
		g.gone[e.Preemptor()] = g.objects[e.Preemptor()] != nil
		delete(g.objects, e.Preemptor())
		delete(g.nominated, pod)
		delete(g.there, pod)
	case timeline.Called:
		g.called(e)
	case timeline.Popped:
		g.popped(e)
	case timeline.Fits:
		g.fits(e)
	case timeline.Unfit:
		set(g.nominated, pod, e.Group != "" && e.Node != "")
	case timeline.Decided:
		g.decided(e)
	case timeline.Ends:
		delete(g.on, e.Preemptor())
	case timeline.Releasing:
		for _, place := range e.Let {
			g.is[AtOfGroup(place.Name)] = g.is[AtOfGroup(place.Name)] || g.preempting()
		}
	case timeline.TakenOver:
		g.is[DiesForGroup] = g.is[DiesForGroup] || g.preempting()
		clear(g.on)
	}
}

// preempting tells whether a group has victims that are there still, or a preemption that goes on.
func (g *groups) preempting() bool {
	for pod, by := range g.evicted {
		if g.has[by] && g.there[pod] {
			return true
		}
	}
	return len(g.on) > 0
}

// popped looks at a group that is tried, and at those that are there and are not.
func (g *groups) popped(e *timeline.Entry) {
	key := e.Preemptor()
	for pod, by := range g.evicted {
		g.is[WaitsForVictims] = g.is[WaitsForVictims] || e.Group == "" && g.there[pod] && by == key && g.has[key]
	}
	if p, is := e.Is.(*v1.Pod); !is {
		g.skipped[key] = true
	} else if p.DeletionTimestamp == nil {
		delete(g.skipped, e.Group)
	}
	g.is[TriedNominated] = g.is[TriedNominated] || e.Group != "" && g.nominated[e.Pod()]
	for key, group := range g.objects {
		g.is[WaitsForMembers] = g.is[WaitsForMembers] || group.Spec.SchedulingPolicy.Gang != nil && g.size(key) > 0 && g.size(key) < int(group.Spec.SchedulingPolicy.Gang.MinCount)
	}
}

// size is how many pods of a group there are.
func (g *groups) size(group string) (n int) {
	for pod, of := range g.groupOf {
		if of == group && g.there[pod] {
			n++
		}
	}
	return n
}

func (g *groups) fits(e *timeline.Entry) {
	if o := g.objects[e.Group]; o != nil && o.Spec.SchedulingPolicy.Gang != nil {
		g.is[EnoughBound] = g.is[EnoughBound] || g.size(e.Group) > int(o.Spec.SchedulingPolicy.Gang.MinCount)
	}
	delete(g.nominated, e.Pod())
}

func (g *groups) decided(e *timeline.Entry) {
	if len(e.Victims) == 0 {
		return
	}
	by := e.Preemptor()
	if e.OfGroup() {
		g.is[GroupPreempts] = true
		g.has[by], g.on[by] = true, true
	}
	hit := map[string]int{}
	for _, v := range e.Victims {
		if group := g.groupOf[v]; group != "" {
			hit[group]++
		}
	}
	for group, n := range hit {
		g.is[GroupPreemptsGroup] = g.is[GroupPreemptsGroup] || e.OfGroup()
		g.is[PodPreemptsGroup] = g.is[PodPreemptsGroup] || !e.OfGroup()
		o := g.objects[group]
		g.is[PreemptsWhole] = g.is[PreemptsWhole] || n > 1 && o != nil && o.Spec.DisruptionMode != nil && o.Spec.DisruptionMode.All != nil
		g.is[CompositeGoes] = g.is[CompositeGoes] || o != nil && o.Spec.ParentCompositePodGroupName != nil
		gone := !slices.ContainsFunc(g.victims[group], func(v string) bool { return slices.Contains(e.Victims, v) })
		g.is[PreemptedTwice] = g.is[PreemptedTwice] || g.hit[group] > 0 && gone // others of it
		g.hit[group]++
		g.victims[group] = e.Victims
	}
}

// called looks at the calls of preemptions and of bindings.
func (g *groups) called(e *timeline.Entry) {
	pod, failed := e.Pod(), e.Error != "" && injected(e.Error)
	switch e.Call {
	case timeline.Evict:
		g.is[FailsForGroup] = g.is[FailsForGroup] || failed && g.has[e.By]
		for other, by := range g.evicted {
			g.is[FailsInPart] = g.is[FailsInPart] || failed && other != pod && by == e.By && g.groupOf[pod] != "" && g.groupOf[other] == g.groupOf[pod]
		}
		if e.TookEffect() && e.By != "" {
			g.evicted[pod] = e.By
		}
	case timeline.Bind:
		g.is[MemberBindFails] = g.is[MemberBindFails] || e.Error != "" && g.groupOf[pod] != ""
	}
}
