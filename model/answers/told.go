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

// BesideUnknown are the rules with one more plugin, which says of each node what o shows that plugins said which the rules do not
// know: the node passes once pods are taken from it. So it can be told what else happens on nodes that only such plugins reject.
func BesideUnknown(rules *Rules, o *model.Observation) *Rules {
	rejected := stranger{}
	for node, verdict := range o.Filters {
		if !slices.ContainsFunc(rules.Plugins, func(p filter.Plugin) bool { return p.Name() == verdict.Plugin }) {
			rejected[node] = verdict
		}
	}
	beside := rules.Clone()
	beside.Plugins = append(slices.Clip(beside.Plugins), rejected)
	return beside
}

// stranger is a plugin with its verdict on each node, as long as all pods are there.
type stranger map[string]model.Verdict

func (stranger) Name() string { return "a plugin that the rules do not know" }

func (s stranger) PreFilter(*filter.Snapshot) (filter.State, filter.Answer) {
	return s, filter.Answer{}
}

// Fits implements filter.State.
func (s stranger) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	if verdict, rejects := s[n.Name]; rejects && len(v.Pods) >= len(n.Pods) {
		return &filter.Verdict{Unresolvable: verdict.Unresolvable, Reasons: verdict.Reasons}
	}
	return nil
}

// Alike implements filter.State.
func (stranger) Alike(_, _ *filter.Pod) bool { return true }
