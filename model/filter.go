package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// DefaultPlugins are the filter plugins of the default profile, in the profile's
// order (apis/config/v1/default_plugins.go:31@v1.37.1, getDefaultPlugins, with those
// that feature gates add).
func DefaultPlugins() []filter.Plugin {
	return []filter.Plugin{
		filter.NodeName{},
		filter.NodeUnschedulable{},
		filter.TaintToleration{},
		filter.NodeAffinity{},
		filter.NodePorts{},
		filter.NodeResourcesFit{},
		volume.VolumeRestrictions{},
		volume.NodeVolumeLimits{},
		volume.VolumeBinding{},
		volume.VolumeZone{},
		filter.PodTopologySpread{},
		filter.InterPodAffinity{},
		device.DynamicResources{},
		filter.NodeDeclaredFeatures{},
	}
}

// PreFiltered is what all plugins together say of the preemptor before any node
// is looked at.
type PreFiltered struct {
	filter.Answer
	// Blamed are the plugins that left out nodes.
	Blamed []string
	// Stopped says that the plugins after the one that rejected were not asked.
	Stopped bool

	states []pluginState
}

// pluginState is what judges the preemptor on a node for one plugin.
type pluginState struct {
	plugin string
	filter.State
}

// Excludes tells whether a node is not among those left.
func (p *PreFiltered) Excludes(n *filter.Node) bool { return p.Nodes != nil && !p.Nodes[n.Name] }

// Sort puts what judges a node in another order than that in which the plugins were asked before: by the place
// of each plugin.
func (p *PreFiltered) Sort(place func(plugin string) int) {
	slices.SortStableFunc(p.states, func(a, b pluginState) int { return cmp.Compare(place(a.plugin), place(b.plugin)) })
}

// PreFilter asks the plugins in turn. A rejection that removing pods cannot help,
// or an error, is final; after any other the rest are asked too, and the last one
// to reject gives the verdict on every node (runtime/framework.go:952@v1.37.1,
// RunPreFilterPlugins).
func PreFilter(cy *Cycle) PreFiltered {
	all := PreFiltered{}
	for _, p := range cy.Plugins {
		state, a := p.PreFilter(cy.Snapshot)
		if state != nil {
			all.states = append(all.states, pluginState{p.Name(), state})
		}
		switch {
		case a.Error != "":
			all.Error, all.Stopped = a.Error, true
			return all
		case a.Rejection != nil:
			all.Rejection = a.Rejection
			all.Rejection.Plugin = p.Name()
			if a.Rejection.Unresolvable {
				all.Stopped = true
				return all
			}
		case a.Nodes != nil:
			all.Blamed = append(all.Blamed, p.Name())
			if all.Nodes != nil { // nodes that both plugins leave
				maps.DeleteFunc(a.Nodes, func(name string, _ bool) bool { return !all.Nodes[name] })
			}
			if all.Nodes = a.Nodes; len(a.Nodes) == 0 {
				all.Rejection, all.Stopped = noNodeLeft(all.Blamed), true
				return all
			}
		}
	}
	return all
}

// noNodeLeft is the rejection of plugins that leave no node in common. The status
// names the plugins only if there are several (runtime/framework.go:952@v1.37.1,
// RunPreFilterPlugins).
func noNodeLeft(plugins []string) *Verdict {
	v := filter.Unresolvable("no node satisfies " + strings.Join(plugins, ", "))
	if len(plugins) > 1 {
		v.Plugin = strings.Join(slices.Sorted(slices.Values(plugins)), ",")
	}
	return v
}

// Filter judges the preemptor on every node as it stands. The failure is what ends
// the cycle in an error, or "".
func Filter(cy *Cycle) (verdicts map[string]*Verdict, failure string) {
	verdicts = make(map[string]*Verdict, len(cy.Nodes))
	switch pre := &cy.PreFiltered; {
	case len(cy.Nodes) == 0:
		return verdicts, ""
	case pre.Error != "":
		return nil, pre.Error
	case pre.Rejection != nil:
		for _, n := range cy.Nodes {
			same := *pre.Rejection
			verdicts[n.Name] = &same
		}
		return verdicts, ""
	}
	first := cy.NominatedFirst(cy)
	for _, n := range cy.Nodes {
		if cy.PreFiltered.Excludes(n) && n != first {
			verdicts[n.Name], cy.Absent[n.Name] = cy.LeftOut(cy), true
		} else if v := cy.Fits(cy, n, n.View()); v != nil {
			verdicts[n.Name] = v
		}
	}
	return verdicts, ""
}

// NominatedFirst is the preemptor's nominated node, or nil. It is tried before all
// others, also if PreFilter left it out (schedule_one.go:669@v1.37.1,
// findNodesThatFitPod).
func NominatedFirst(cy *Cycle) *filter.Node {
	return cy.Node(cy.Preemptor.Status.NominatedNodeName)
}

// LeftOut is the verdict on a node without a status of its own: removing pods
// cannot help there (kube-scheduler/framework/interface.go:585@v0.37.1,
// PostFilterPlugin; framework/types.go:1424@v1.37.1), and the plugins that left out nodes before are blamed.
func LeftOut(cy *Cycle) *Verdict {
	v := filter.Unresolvable(filter.NodeAffinityReason)
	v.Plugin = strings.Join(slices.Sorted(slices.Values(cy.PreFiltered.Blamed)), ",")
	return v
}

// Fits says why the preemptor does not fit on a node that holds just the pods of
// v, or nil if it does. Room that was made for nominated pods of equal or higher
// priority is theirs, but they are not there yet: the preemptor has to fit both
// with and without them (runtime/framework.go:1275@v1.37.1,
// RunFilterPluginsWithNominatedPods).
func Fits(cy *Cycle, n *filter.Node, v filter.View) *Verdict {
	if respected := cy.Respected(n); len(respected) > 0 {
		if failed := cy.RunFilters(n, v.With(respected)); failed != nil {
			return failed
		}
	}
	return cy.RunFilters(n, v)
}

// RunFilters asks the plugins in turn; the first one that fails gives the verdict.
func (cy *Cycle) RunFilters(n *filter.Node, v filter.View) *Verdict {
	for i := range cy.PreFiltered.states {
		if failed := cy.PreFiltered.states[i].Fits(n, v); failed != nil {
			// A plugin may name others that it stands for.
			failed.Plugin = cmp.Or(failed.Plugin, cy.PreFiltered.states[i].plugin)
			return failed
		}
	}
	return nil
}

// Respected are the pods nominated to n whose claim on its room the preemptor
// respects.
func (cy *Cycle) Respected(n *filter.Node) []*filter.Pod {
	var pods []*filter.Pod
	for _, p := range n.Nominated {
		if cy.RespectNomination(cy.Preemptor, p) {
			pods = append(pods, p)
		}
	}
	return pods
}

// RespectNomination tells whether the preemptor respects a nomination: those of
// pods of equal or higher priority (docs: concepts/scheduling-eviction/
// pod-priority-preemption, "User exposed information";
// runtime/framework.go:1275@v1.37.1).
func RespectNomination(preemptor, nominated *filter.Pod) bool {
	return nominated.Priority >= preemptor.Priority
}
