// Package unmodelled says what the model does not cover: what in a cluster could
// change a decision and is not modelled. Each filter plugin reports its own part.
package unmodelled

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// In finds everything in c that could matter and is not covered. What
// only scores nodes does not matter. snapshot is that of c.
func In(c *model.Cluster, snapshot *filter.Snapshot) model.Unmodelled {
	u := model.Unmodelled(slices.Clone(c.NotGiven))
	for gate := range c.Settings.FeatureGates {
		if _, modelled := modelledGates[gate]; !modelled {
			u.Add("scheduler", "featureGates."+gate, "feature gate")
		}
	}
	unmodelledPreemptor(c, u.Add)
	unmodelledGroups(c, u.Add)
	unmodelledResizes(c, u.Add)
	for _, p := range c.Pods {
		if p.Spec.NodeName == "" && c.KnowsNomination(p) && len(p.Spec.SchedulingGates) > 0 {
			u.Add("Pod "+model.Key(p), "spec.schedulingGates", "a nominated pod that is gated")
		}
	}
	for _, p := range plugins {
		if p, partial := p.(filter.Partial); partial {
			p.Unmodelled(snapshot, func(object, field, why string) {
				u = append(u, model.UnmodelledField{Object: object, Field: field, Why: why, By: p.Name()})
			})
		}
	}
	device.UnmodelledResources(snapshot, u.Add)
	return u
}

var plugins = model.DefaultPlugins()

// unmodelledResizes reports pods for whose resize others may be preempted.
func unmodelledResizes(c *model.Cluster, report filter.Report) {
	for _, p := range deferred(c) {
		report("Pod "+model.Key(p), "status.conditions", "a deferred resize, with the feature gate "+filter.GateResizePreemption)
	}
}

// MakesRoomForResizes tells whether the scheduler may preempt pods for the resize of another one. What it does then with a pod is another
// thing than to find a node for it.
func MakesRoomForResizes(c *model.Cluster) bool { return len(deferred(c)) > 0 }

// deferred are the pods whose resize is deferred, with the feature gate for them.
func deferred(c *model.Cluster) (pods []*v1.Pod) {
	if !c.Settings.FeatureGates[filter.GateResizePreemption] {
		return nil
	}
	for _, p := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
		if p != nil && filter.ResizeDeferred(p) {
			pods = append(pods, p)
		}
	}
	return pods
}

func unmodelledPreemptor(c *model.Cluster, report filter.Report) {
	p := c.Preemptor
	object := "Pod " + model.Key(p)
	if !c.Settings.Schedules(p.Spec.SchedulerName) {
		report(object, "spec.schedulerName", "another scheduler's pod")
	}
	if len(p.Spec.SchedulingGates) > 0 {
		report(object, "spec.schedulingGates", "the pod is not scheduled yet")
	}
	if p.DeletionTimestamp != nil {
		report(object, "metadata.deletionTimestamp", "a terminating pod is not scheduled")
	}
	if p.Spec.SchedulingGroup != nil && c.PreemptorGroup == "" {
		report(object, "spec.schedulingGroup", "pod groups")
	}
}

// unmodelledGroups reports the groups whose pods have no priority that all documents
// agree on, and extenders that break up what goes together.
func unmodelledGroups(c *model.Cluster, report filter.Report) {
	groups := c.Groups()
	for _, p := range c.Pods {
		g := groups.Of(p)
		if g == nil {
			continue
		}
		line := g.Line()
		top := line[len(line)-1]
		object := top.String()
		switch {
		case top.Parent != nil:
			report(object, "spec.parentCompositePodGroupName", "a group that is part of itself")
		case len(line) > schedulingv1beta1.WorkloadMaxTreeDepth:
			report(object, "spec.parentCompositePodGroupName", "a tree of groups that is deeper than a Workload may be")
		case slices.ContainsFunc(line, func(g *unit.Group) bool { return g.Own != top.Own }):
			// The smallest group that the pod is in counts, says KEP-5710 ("Priority"); the
			// top, and all of a tree have to have the same, says KEP-6012.
			report(object, "spec.priority", "groups of one tree that differ in priority")
		case groups.Whole(p) != nil && slices.ContainsFunc(c.Settings.Extenders, keepsSome):
			report("Pod "+model.Key(p), "spec.schedulingGroup", "an extender that keeps some of the victims, where they go together")
		}
	}
}

func keepsSome(e model.Extender) bool {
	return e.Preempt != nil && slices.ContainsFunc(e.Preempt.Changes, func(c model.VictimChange) bool { return c.Keeps != nil })
}

// Undecided is what the scheduler draws lots for, or what is not known, where it would
// decide whether the preemptor fits. Both count as left to chance.
func Undecided(cy *model.Cycle) (u model.Unmodelled) {
	cy.States(func(s filter.State) {
		if undecided, ok := filter.As[filter.Undecided](s); ok {
			undecided.Undecided(func(object, field, why string) {
				u = append(u, model.UnmodelledField{Object: object, Field: field, Why: why, Chance: true})
			})
		}
	})
	return u
}

// Unseen is for a search for nodes that may have ended early, of which nobody has seen yet
// which nodes it came to.
func Unseen(d *model.Decision) model.Unmodelled {
	if d.Search == nil {
		return nil
	}
	return asksAbout(fmt.Sprintf("%d of the %d nodes that pass all filters", d.Search.Enough, len(d.Search.Passing)))
}

// Chance is what may be left to chance in a cluster for which the model has no answer: asked again, the scheduler may answer otherwise.
func Chance(c *model.Cluster) model.Unmodelled {
	u := endsEarly(c)
	if volume.DrawsLots(c.Preemptors(), c.Extra) {
		u = append(u, model.UnmodelledField{Object: "scheduler", Field: "VolumeBinding", Chance: true, Why: "which of several equally good volumes a claim takes"})
	}
	return u
}

// endsEarly is that the search for nodes ends before it comes to all if enough of them pass all filters, which the model does not know.
func endsEarly(c *model.Cluster) model.Unmodelled {
	for _, p := range c.Preemptors() {
		enough := model.NodesToFind(c.Settings.NodesToScore(p.Spec.SchedulerName), len(c.Nodes))
		asked := slices.ContainsFunc(c.Settings.Extenders, func(e model.Extender) bool { return e.Filter != nil && e.Manages(p) })
		if asked && enough < len(c.Nodes) {
			return asksAbout(fmt.Sprintf("%d of %d nodes, if so many pass all filters", enough, len(c.Nodes)))
		}
	}
	return nil
}

// asksAbout is that extenders are asked about some of the nodes.
func asksAbout(nodes string) model.Unmodelled {
	return model.Unmodelled{{Object: "scheduler", Field: "extenders", Chance: true, Seen: true, Why: "they are asked about " + nodes}}
}
