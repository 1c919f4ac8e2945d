package model

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// What the search for nodes keeps to: at least so many nodes that fit are looked for, and
// at least that percentage of all (schedule_one.go:53@v1.37.1, minFeasibleNodesToFind and
// minFeasibleNodesPercentageToFind).
const (
	minNodesToFind      = 100
	minPercentageToFind = 5
)

// NodesToFind is after how many nodes that fit the scheduler looks no further: a share of
// all that it may look at, and at least 100. The default share falls from 50% of 100 nodes
// to 10% of 5,000, and no lower than 5% (config/v1/types.go:61@v0.37.1,
// PercentageOfNodesToScore; docs: concepts/scheduling-eviction/scheduler-perf-tuning,
// "Default threshold").
func NodesToFind(percentage *int32, nodes int) int {
	if nodes < minNodesToFind {
		return nodes
	}
	share := max(50-nodes/125, minPercentageToFind)
	if percentage != nil && *percentage != 0 {
		share = int(*percentage)
	}
	return max(nodes*share/100, minNodesToFind)
}

// Search is a search for nodes that may end before all were looked at, where that makes a
// difference: extenders are asked about the nodes that it has found, and about no others. The
// scheduler goes round the nodes, and begins where it stopped the last time.
type Search struct {
	// Enough is after how many nodes that pass the filter plugins it ends. Passing are
	// those that do, sorted: more than Enough.
	Enough  int
	Passing []string
	// Omitted are those of them that an extender leaves out of its answer, so that they
	// get no status of their own.
	Omitted map[string]bool
}

// newSearch is the search of the cycle, given the verdicts of the filter plugins on all
// nodes; nil if nothing depends on which nodes it finds. The preemptor's nominated node is
// asked about before.
func (cy *Cycle) newSearch(verdicts map[string]*Verdict) *Search {
	if !slices.ContainsFunc(cy.Extenders, func(e *Extender) bool { return e.Filter != nil }) {
		return nil
	}
	s, nodes := &Search{Omitted: map[string]bool{}}, 0
	for _, n := range cy.Nodes {
		switch {
		case cy.PreFiltered.Excludes(n):
			continue
		case verdicts[n.Name] == nil:
			s.Passing = append(s.Passing, n.Name)
		}
		nodes++
	}
	if s.Enough = cy.NodesToFind(cy.Settings.NodesToScore(cy.Preemptor.Spec.SchedulerName), nodes); len(s.Passing) <= s.Enough {
		return nil
	}
	slices.Sort(s.Passing)
	return s
}

// leaveOut takes the verdicts of the nodes that the search did not come to. They have no
// status of their own, and nobody is preempted there (kube-scheduler/framework/interface.go:585@v0.37.1,
// PostFilterPlugin; framework/types.go:1424@v1.37.1).
func (cy *Cycle) leaveOut(verdicts map[string]*Verdict, seen map[string]bool) {
	for _, n := range cy.Nodes {
		if !seen[n.Name] && !cy.PreFiltered.Excludes(n) {
			v := cy.LeftOut(cy)
			v.Reasons = []string{"enough nodes were found before it was looked at"}
			if v.Plugin == "" {
				v.Plugin = ExtenderName
			}
			verdicts[n.Name], cy.Absent[n.Name] = v, true
		}
	}
}

// Round is the nodes in the order in which the scheduler goes round them: a node of each
// zone in turn (docs: concepts/scheduling-eviction/scheduler-perf-tuning, "How the scheduler
// iterates over Nodes"). Which zone is first, and which node of a zone, no document says:
// here as the cluster lists them.
func Round(nodes []*filter.Node) []*filter.Node {
	var zones []string
	byZone := map[string][]*filter.Node{}
	for _, n := range nodes {
		zone := zoneOf(n.Node)
		if byZone[zone] == nil {
			zones = append(zones, zone)
		}
		byZone[zone] = append(byZone[zone], n)
	}
	round := make([]*filter.Node, 0, len(nodes))
	for i := 0; len(round) < len(nodes); i++ {
		for _, zone := range zones {
			if i < len(byZone[zone]) {
				round = append(round, byZone[zone][i])
			}
		}
	}
	return round
}

// zoneOf is the region and the zone of a node, by the labels that the reference of labels
// gives them; the older ones come first.
func zoneOf(n *v1.Node) string {
	of := func(keys ...string) string {
		for _, key := range keys {
			if value, ok := n.Labels[key]; ok {
				return value
			}
		}
		return ""
	}
	return of(v1.LabelFailureDomainBetaRegion, v1.LabelTopologyRegion) + "\x00" + of(v1.LabelFailureDomainBetaZone, v1.LabelTopologyZone)
}
