package answers

import (
	"fmt"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
)

// Searched are the rules where it is known which nodes the search for nodes came to: as the
// observation shows it, where the pod fits on none that it found. All that follows has to
// follow from that, and that has to be what such a search may come to: see admitsSearch. No
// document says where it begins. Where the pod is scheduled, or the cycle ends in an error,
// there has to be a search that leads to it.
func Searched(rules *Rules, o *model.Observation) *Rules {
	searched := rules.Clone()
	searched.searched, searched.Found = true, nil
	if o.ScheduledTo != "" || o.CycleError != "" || o.Crash != nil || o.Absent == nil {
		return searched
	}
	searched.Found = map[string]bool{}
	for name := range o.Filters {
		searched.Found[name] = !slices.Contains(o.Absent, name)
	}
	return searched
}

// admitsSearch tells whether the scheduler may have come to the nodes that it did: it goes
// round all nodes until enough pass the filter plugins.
func (s *Set) admitsSearch(o *model.Observation) *Disagreement {
	if s.Search == nil || s.Cycle.Found == nil {
		return nil
	}
	found, least, most := 0, s.Search.Enough, s.Search.Enough
	first := s.Cycle.NominatedFirst(s.Cycle)
	for _, name := range s.Search.Passing {
		switch {
		case s.Search.Omitted[name]: // it was not come to, or has no status of its own
			least--
		case first != nil && name == first.Name && s.Cycle.Found[name]: // it was, also if the search did not come to it
			least--
		case s.Cycle.Found[name]:
			found++
		}
	}
	want := fmt.Sprintf("%d to %d nodes that pass all filters", max(least, 0), most)
	switch {
	case found < least:
		return disagree(model.StageFilter, "", kindFewFound, want, found)
	case found > most:
		return disagree(model.StageFilter, "", kindManyFound, want, found)
	case o.PinnedDryRuns && s.Cycle.PreFiltered.Nodes == nil && s.leaps() > 1:
		return disagree(model.StageFilter, "", kindLeaps, "nodes looked at one after another", slices.Sorted(slices.Values(o.Absent)))
	}
	return nil
}

// leaps counts how often, on one round over the nodes, the scheduler stops looking at them.
func (s *Set) leaps() (leaps int) {
	var saw []bool // of nodes of which it shows
	first := s.Cycle.NominatedFirst(s.Cycle)
	for _, n := range model.Round(s.Cycle.Nodes) {
		if !s.Search.Omitted[n.Name] && n != first {
			saw = append(saw, s.Cycle.Found[n.Name])
		}
	}
	for i := range saw {
		if saw[i] && !saw[(i+1)%len(saw)] {
			leaps++
		}
	}
	return leaps
}
