package release

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// onPlugin changes one filter plugin, also where it is one of those that are judged
// together.
func onPlugin(name string, change variant.OfPlugin) func(*answers.Rules) {
	return func(r *answers.Rules) {
		r.Plugins = variant.On(r.Plugins, name, change)
		r.Plugins = variant.On(r.Plugins, predicates{}.Name(), func(p filter.Plugin) filter.Plugin {
			return predicates(variant.On(p.(predicates), name, change))
		})
	}
}

// onVolumes changes a filter plugin for preemptors with volumes: for all others the
// change means nothing.
func onVolumes(plugin string, change variant.OfPlugin) func(*answers.Rules) {
	return onPlugin(plugin, variant.Where(func(s *filter.Snapshot) bool { return volume.Mounts(s.Preemptor.Pod) }, change))
}

// afterDryRun has the dry run on a node changed once it is made.
func afterDryRun(change func(cy *model.Cycle, run *model.DryRunOnNode, budgetOrder []int)) func(*answers.Rules) {
	return func(r *answers.Rules) {
		dryRun := r.DryRun
		r.DryRun = func(cy *model.Cycle, n *filter.Node, budgetOrder []int) *model.DryRunOnNode {
			run := dryRun(cy, n, budgetOrder)
			change(cy, run, budgetOrder)
			return run
		}
	}
}

// afterActuate has what is done for a candidate changed.
func afterActuate(change func(cy *model.Cycle, a *model.Actuation)) func(*answers.Rules) {
	return func(r *answers.Rules) {
		actuate := r.Actuate
		r.Actuate = func(cy *model.Cycle, n *filter.Node, victims []*filter.Pod) *model.Actuation {
			a := actuate(cy, n, victims)
			change(cy, a)
			return a
		}
	}
}

// afterDecide has a Decision changed once it is made.
func afterDecide(change func(*model.Decision)) func(*answers.Rules) {
	return func(r *answers.Rules) { r.Then = append(slices.Clip(r.Then), change) }
}
