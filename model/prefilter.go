package model

import (
	"maps"
	"slices"
	"strings"
)

// preFilterAnswer is what a plugin says of the preemptor before any node is
// looked at; a nil answer, or an empty one, lets it pass.
type preFilterAnswer struct {
	// nodes are the only ones that are left; nil for all.
	nodes map[string]bool
	// rejection is why no node will do.
	rejection *Verdict
	// err ends the cycle.
	err string
}

// preFiltered is what all plugins together say.
type preFiltered struct {
	preFilterAnswer
	// blamed are the plugins that the other nodes are said to fail: those that
	// named nodes, and by a quirk that of the nominated node. Sorted, once there are
	// verdicts.
	blamed []string
	// stopped says that the plugins after the one that rejected were not asked.
	stopped bool
}

// preFilter asks the plugins in the profile's order. A rejection that removing
// pods cannot help, or an error, is final; after any other the rest are asked
// too, and the last one to reject gives the verdict on every node
// (runtime/framework.go:952@v1.37.1, RunPreFilterPlugins).
func (q *question) preFilter() *preFiltered {
	all := &preFiltered{}
	for _, f := range q.rules.filters {
		if f.preFilter == nil {
			continue
		}
		a := f.preFilter(q)
		if a == nil {
			continue
		}
		if a.err != "" {
			return &preFiltered{preFilterAnswer: preFilterAnswer{err: "running PreFilter plugin \"" + f.Plugin + "\": " + a.err}, stopped: true}
		}
		if a.rejection != nil {
			a.rejection.Plugin = f.Plugin
			if all.rejection = a.rejection; a.rejection.Unresolvable {
				all.stopped = true
				return all
			}
			continue
		}
		if a.nodes != nil { // of the default profile, just NodeAffinity names any
			all.blamed = append(all.blamed, f.Plugin)
			if all.nodes != nil { // but for a quirk
				maps.DeleteFunc(a.nodes, func(name string, _ bool) bool { return !all.nodes[name] })
			}
			if all.nodes = a.nodes; len(a.nodes) == 0 {
				all.rejection, all.stopped = noNodeLeft(all.blamed), true
				all.rejection.Unresolvable = !q.rules.noNodeLeftIsTried
				return all
			}
		}
	}
	return all
}

// noNodeLeft: the plugins name no node in common. A status names several plugins,
// but not one alone.
func noNodeLeft(plugins []string) *Verdict {
	v := unresolvable("no node satisfies " + strings.Join(plugins, ", "))
	if len(plugins) > 1 {
		v.Plugin = strings.Join(slices.Sorted(slices.Values(plugins)), ",")
	}
	return v
}

// excludes tells whether a node is not among those left.
func (p *preFiltered) excludes(n *node) bool { return p.nodes != nil && !p.nodes[n.Name] }

// missingNode is one of the nodes left that the cluster does not have, or "".
func (q *question) missingNode() string {
	for name := range q.pre.nodes {
		if q.byName[name] == nil {
			return name
		}
	}
	return ""
}

// verdicts judges the preemptor on every node as it stands.
func (q *question) verdicts() map[string]*Verdict {
	out := make(map[string]*Verdict, len(q.nodes))
	if q.pre.rejection != nil {
		for _, n := range q.nodes {
			same := *q.pre.rejection
			if !q.rules.preFilterNamed {
				same.Plugin = ""
			}
			out[n.Name] = &same
		}
		return out
	}
	// The preemptor's nominated node is tried before all others, also if it is
	// not among those left (schedule_one.go:669@v1.37.1).
	var first *node
	if q.rules.nominatedFirst {
		first = q.byName[q.preemptor.Status.NominatedNodeName]
	}
	for _, n := range q.nodes {
		if q.pre.excludes(n) && n != first {
			continue
		}
		if failed := q.verdict(n, view{pods: n.pods}); failed != nil {
			out[n.Name] = failed
			if n == first && q.rules.nominatedNodeBlamesOthers && q.pre.nodes != nil && !slices.Contains(q.pre.blamed, failed.Plugin) {
				q.pre.blamed = append(q.pre.blamed, failed.Plugin)
			}
		}
	}
	slices.Sort(q.pre.blamed)
	for _, n := range q.nodes {
		if q.pre.excludes(n) && n != first {
			out[n.Name] = &Verdict{Plugin: strings.Join(q.pre.blamed, ","), Unresolvable: !q.rules.excludedAreTried, Reasons: []string{nodeAffinityReason}}
			if !q.rules.excludedHaveStatus {
				q.silent[n.Name] = true
			}
		}
	}
	return out
}
