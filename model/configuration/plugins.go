package configuration

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// addedReason is what the scheduler says of nodes that the added affinity does not match.
const addedReason = "node(s) didn't match scheduler-enforced node affinity"

// Plugins are those of the filter plugins that the profile has, in its order, with its arguments.
func (p *Profile) Plugins(plugins []filter.Plugin) []filter.Plugin {
	var out []filter.Plugin
	for _, name := range p.enabled("filter", defaults(plugins)) {
		if i := slices.IndexFunc(plugins, func(f filter.Plugin) bool { return f.Name() == name }); i >= 0 {
			out = append(out, plugins[i])
		}
	}
	if terms := p.added(); terms != nil {
		out = variant.On(out, "NodeAffinity", addAffinity(terms))
	}
	if hard := p.hardDefaults(); len(hard) > 0 {
		out = variant.On(out, spreading, spreadByDefault(hard))
	}
	if ignored := p.Ignored(); ignored != nil {
		out = variant.On(out, "NodeResourcesFit", ignore(ignored))
	}
	return out
}

// PreFilter is a step before, with the plugins asked in the order that they have at preFilter, given the default filter
// plugins.
func (p *Profile) PreFilter(before func(cy *model.Cycle) model.PreFiltered, plugins []filter.Plugin) func(cy *model.Cycle) model.PreFiltered {
	first := p.enabled("preFilter", defaults(plugins))
	return func(cy *model.Cycle) model.PreFiltered {
		asked, algorithm := *cy, *cy.Algorithm
		algorithm.Plugins = slices.Clone(cy.Plugins)
		slices.SortStableFunc(algorithm.Plugins, func(a, b filter.Plugin) int {
			return cmp.Compare(slices.Index(first, a.Name()), slices.Index(first, b.Name()))
		})
		asked.Algorithm = &algorithm
		all := before(&asked)
		all.Sort(func(plugin string) int {
			return slices.IndexFunc(cy.Plugins, func(f filter.Plugin) bool { return f.Name() == plugin })
		})
		return all
	}
}

// Preempts tells whether the profile preempts, given the default filter plugins: whether DefaultPreemption is
// enabled at postFilter.
func (p *Profile) Preempts(plugins []filter.Plugin) bool {
	return slices.Contains(p.enabled("postFilter", defaults(plugins)), preemption)
}

// Asks tells whether the profile has any plugin at postFilter. Without, a pod that fits nowhere loses its
// nomination (schedule_one.go:290@v1.37.1, schedulingAlgorithm).
func (p *Profile) Asks(plugins []filter.Plugin) bool {
	return len(p.enabled("postFilter", defaults(plugins))) > 0
}

// Binds tells whether the profile can bind a pod, given the default filter plugins. VolumeBinding fails at reserve where
// it noted nothing at preFilter (volumebinding/volume_binding.go:528@v1.37.1, Reserve).
func (p *Profile) Binds(plugins []filter.Plugin) bool {
	known := defaults(plugins)
	return !slices.Contains(p.enabled("reserve", known), volumes) || slices.Contains(p.enabled("preFilter", known), volumes)
}

// addAffinity makes a NodeAffinity that wants nodes to match one of the terms, besides what the pod asks for
// (kube-scheduler/config/v1/types_pluginargs.go:184@v0.37.1, NodeAffinityArgs.AddedAffinity).
func addAffinity(terms []v1.NodeSelectorTerm) variant.OfPlugin {
	return variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		added := func(n *v1.Node) *filter.Verdict {
			if !filter.AnyTermMatches(terms, n) {
				return filter.Unresolvable(addedReason)
			}
			return nil
		}
		switch own := st.(type) {
		case nil:
			return filter.EachNode(added), a
		case filter.EachNode:
			return filter.EachNode(func(n *v1.Node) *filter.Verdict {
				if failed := added(n); failed != nil {
					return failed
				}
				return own(n)
			}), a
		}
		return variant.Judge{State: st, Verdict: func(n *filter.Node, v filter.View) *filter.Verdict {
			if failed := added(n.Node); failed != nil {
				return failed
			}
			return st.Fits(n, v)
		}}, a
	})
}

// ignore makes a NodeResourcesFit that passes over what the pod requests of some resources
// (kube-scheduler/config/v1/types_pluginargs.go:67@v0.37.1, NodeResourcesFitArgs.IgnoredResources and
// IgnoredResourceGroups).
func ignore(ignored func(v1.ResourceName) bool) variant.OfPlugin {
	return variant.Alter(func(st *filter.ResourcesState) {
		st.Wanted = slices.DeleteFunc(slices.Clone(st.Wanted), func(r filter.Amount) bool { return ignored(r.Name) })
		st.Backed = slices.DeleteFunc(slices.Clone(st.Backed), ignored)
	})
}
