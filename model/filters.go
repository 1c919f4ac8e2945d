package model

import "cmp"

// Filter is a rule that a node has to satisfy for a pod to run on it.
type Filter struct {
	// Plugin is the name of the scheduler plugin that enforces the rule.
	Plugin string
	// preFilter judges the preemptor before any node is looked at; nil if the
	// plugin passes all.
	preFilter func(q *question) *preFilterAnswer
	// fails judges the preemptor on a node that holds just the pods of view;
	// nil means that the rule is satisfied.
	fails func(q *question, n *node, view view) *Verdict
}

// view is the pods that a node is supposed to hold.
type view struct {
	pods []*pod
	// ports, when not nil, are the host ports in use, in place of those of
	// pods: only the quirk HostPortsForgotten needs to tell them apart.
	ports []hostPort
	// givenBack: the pods of lower priority among pods were taken away, and given
	// back since. Only the quirk ReprievedPodsShunned asks.
	givenBack bool
}

// with is the view with more pods on the node.
func (v view) with(more []*pod) view {
	out := view{pods: append(append(make([]*pod, 0, len(v.pods)+len(more)), v.pods...), more...), givenBack: v.givenBack}
	if v.ports != nil {
		out.ports = append([]hostPort{}, v.ports...)
		for _, p := range more {
			out.ports = append(out.ports, p.ports...)
		}
	}
	return out
}

// defaultFilters are the filters of the default profile that Decide covers, in
// the profile's order (apis/config/v1/default_plugins.go:38@v1.37.1). The first
// one that fails gives the verdict.
func defaultFilters() []Filter {
	return []Filter{
		{Plugin: "NodeName", fails: nodeNameFails},
		{Plugin: "NodeUnschedulable", fails: nodeUnschedulableFails},
		{Plugin: "TaintToleration", fails: taintTolerationFails},
		{Plugin: "NodeAffinity", preFilter: nodeAffinityPreFilter, fails: nodeAffinityFails},
		{Plugin: "NodePorts", fails: nodePortsFails},
		{Plugin: "NodeResourcesFit", fails: nodeResourcesFails},
		{Plugin: "VolumeRestrictions", preFilter: volumeRestrictionsPreFilter, fails: volumeRestrictionsFails},
		{Plugin: "NodeVolumeLimits", fails: nodeVolumeLimitsFails},
		{Plugin: "VolumeBinding", preFilter: volumeBindingPreFilter, fails: volumeBindingFails},
		{Plugin: "VolumeZone", preFilter: volumeZonePreFilter, fails: volumeZoneFails},
		{Plugin: "PodTopologySpread", fails: topologySpreadFails},
		{Plugin: "InterPodAffinity", fails: interPodAffinityFails},
		{Plugin: dynamicResources, preFilter: dynamicResourcesPreFilter, fails: dynamicResourcesFail},
		{Plugin: "NodeDeclaredFeatures", fails: declaredFeaturesFail},
	}
}

// verdict says why the preemptor does not fit on a node that holds just the pods
// of v, or nil if it does. Room that was made for nominated pods of equal or
// higher priority is theirs, but they are not there yet: the preemptor has to
// fit both with and without them (runtime/framework.go:1275@v1.37.1,
// RunFilterPluginsWithNominatedPods).
func (q *question) verdict(n *node, v view) *Verdict {
	if yielded := q.yieldsTo(n); len(yielded) > 0 {
		if failed := q.runFilters(n, v.with(yielded)); failed != nil {
			return failed
		}
		if !q.rules.secondPass {
			return nil
		}
	}
	return q.runFilters(n, v)
}

func (q *question) runFilters(n *node, v view) *Verdict {
	for _, f := range q.rules.filters {
		if failed := f.fails(q, n, v); failed != nil {
			failed.Plugin = cmp.Or(failed.Plugin, f.Plugin)
			return failed
		}
	}
	return nil
}

// yieldsTo are the pods nominated to n whose claim the preemptor respects.
func (q *question) yieldsTo(n *node) []*pod {
	var pods []*pod
	for _, p := range n.nominated {
		if q.rules.yields(q.preemptor.priority, p.priority) {
			pods = append(pods, p)
		}
	}
	return pods
}

func unresolvable(reason string) *Verdict {
	return &Verdict{Unresolvable: true, Reasons: []string{reason}}
}

func resolvable(reasons ...string) *Verdict { return &Verdict{Reasons: reasons} }
