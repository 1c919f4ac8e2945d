package answers

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
)

// FiltersAlone answers for each filter as if it were the only one.
type FiltersAlone struct {
	rules *Rules
	c     *model.Cluster
	// bare are the cycles with no plugin, by the pod that is deleted; cycles are those
	// of each plugin alone, by the pod and by the plugin.
	bare   map[string]*model.Cycle
	cycles map[[2]string]*model.Cycle
}

// NewFiltersAlone makes c ready to be asked about. c must not be changed until
// the answers are no longer used. The error is a model.Unmodelled, as that of
// Decide.
func NewFiltersAlone(c *model.Cluster, rules *Rules) (*FiltersAlone, error) {
	rules = rules.In(c)
	f := &FiltersAlone{rules, c, map[string]*model.Cycle{}, map[[2]string]*model.Cycle{}}
	if missing := rules.unmodelled(c, f.without("").Snapshot); len(missing) > 0 {
		return nil, missing
	}
	for _, p := range rules.Plugins {
		if undecided := unmodelled.Undecided(f.cycle("", p.Name())); len(undecided) > 0 {
			return nil, undecided
		}
	}
	return f, nil
}

// FilterPlugins are the plugins that FiltersAlone answers for.
func FilterPlugins() []string {
	var names []string
	for _, p := range model.DefaultPlugins() {
		names = append(names, p.Name())
	}
	return names
}

// Answer is run with the model's Failed and Error, in place of those it has.
func (f *FiltersAlone) Answer(run model.FilterRun) model.FilterRun {
	gone := ""
	if run.Change == model.Deleted {
		gone = run.Pod
	}
	cy := f.cycle(gone, run.Plugin)
	n, pre := cy.Node(run.Node), &cy.PreFiltered
	run.Failed, run.Error = nil, pre.Error
	switch {
	case pre.Error != "":
	case pre.Rejection != nil:
		run.Failed = pre.Rejection
	case pre.Excludes(n):
		run.Failed = &model.Verdict{Plugin: run.Plugin, Unresolvable: true}
	default:
		run.Failed = cy.Fits(cy, n, f.view(cy, n, run))
	}
	if run.Failed != nil && run.Failed.Error != "" {
		run.Failed, run.Error = nil, run.Failed.Error
	}
	return run
}

// view is what the node holds after the change of run.
func (f *FiltersAlone) view(cy *model.Cycle, n *filter.Node, run model.FilterRun) filter.View {
	v, changed := filter.View{Pods: n.Pods}, []string{run.Pod}
	switch run.Change {
	case model.Removed:
		return v.Away(cy.PodsNamed(n.Name, changed)...)
	case model.Deleted:
		// What upstream keeps of the node knew the pod.
		for _, p := range f.cycle("", run.Plugin).PodsNamed(n.Name, changed) {
			v.Moves = append(v.Moves, filter.Move{Pod: p})
		}
	}
	return v
}

// cycle is that of the cluster without the pod gone, if any, with just one filter.
func (f *FiltersAlone) cycle(gone, plugin string) *model.Cycle {
	key := [2]string{gone, plugin}
	if f.cycles[key] == nil {
		f.cycles[key] = f.without(gone).Under(f.only(func(p filter.Plugin) bool { return p.Name() == plugin }))
	}
	return f.cycles[key]
}

// without is the cycle of the cluster without that pod, if any, and with no filter.
func (f *FiltersAlone) without(gone string) *model.Cycle {
	if f.bare[gone] == nil {
		c := *f.c
		if gone != "" {
			c.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool { return model.Key(p) == gone })
		}
		f.bare[gone] = f.only(func(filter.Plugin) bool { return false }).NewCycle(&c)
	}
	return f.bare[gone]
}

// only are the rules of the plugins to keep.
func (f *FiltersAlone) only(keep func(filter.Plugin) bool) *model.Algorithm {
	some := *f.rules.Algorithm
	some.Plugins = slices.DeleteFunc(slices.Clone(some.Plugins), func(p filter.Plugin) bool { return !keep(p) })
	return &some
}
