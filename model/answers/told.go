package answers

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// CanBeTold are the plugins for which the pods on a node play no part: what one of them
// said of a node once holds of it whichever pods are there.
func CanBeTold() []string { return []string{device.DynamicResources{}.Name()} }

// Told are the rules with the verdicts of the plugins that CanBeTold taken from what a
// scheduler did with a cluster. So all else can be held against the model where these
// plugins are not modelled. A node of which the observation does not show such a verdict
// counts as one that passes. ok is false if the observation does not show which nodes
// the plugins fail.
func Told(rules *Rules, o *model.Observation) (told *Rules, ok bool) {
	if o.Crash != nil || o.CycleError != "" || o.Filters == nil || o.Eligible == nil && o.ScheduledTo == "" {
		return nil, false
	}
	for _, run := range o.DryRuns {
		if run.Error != "" {
			return nil, false
		}
	}
	told = rules.Clone()
	told.told = CanBeTold()
	for _, name := range told.told {
		told.Plugins = variant.On(told.Plugins, name, func(p filter.Plugin) filter.Plugin { return teller{p, o} })
	}
	return told, true
}

// teller is a plugin whose verdicts are told.
type teller struct {
	filter.Plugin
	o *model.Observation
}

func (t teller) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	st, rejected := &device.State{Verdicts: make(filter.Verdicts, len(s.Nodes)), Idle: make([][]string, len(s.Nodes))}, 0
	for i, n := range s.Nodes {
		verdict, failed := t.o.Filters[n.Name]
		if failed && verdict.Plugin == t.Name() {
			rejected++
			if t.o.Actuation != nil {
				st.Idle[i] = slices.Clone(t.o.Actuation.Deallocated)
			}
		} else if run := t.o.DryRuns[n.Name]; run.Failed != nil && run.Failed.Plugin == t.Name() {
			verdict, failed = *run.Failed, true
		} else {
			failed = false
		}
		if failed {
			st.Verdicts[i] = filter.Unresolvable("as it said")
		}
	}
	if rejected > 0 && rejected == len(s.Nodes) && !slices.ContainsFunc(st.Idle, func(claims []string) bool { return len(claims) > 0 }) {
		return st, filter.Rejected("as it said") // also where PreFilter said so, before other plugins saw the nodes
	}
	return st, filter.Answer{}
}
