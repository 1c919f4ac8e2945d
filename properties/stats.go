package properties

import (
	"maps"

	"github.com/preemptcheck/preemptcheck/model"
)

// Stats counts what became of many clusters.
type Stats struct {
	Clusters   int `json:"clusters"`
	Scheduled  int `json:"scheduled"`  // the pod fitted without preemption
	Ineligible int `json:"ineligible"` // the pod may not preempt
	NotHelpful int `json:"notHelpful"` // no node would fit it
	Preempted  int `json:"preempted"`
	// SeveralCandidates counts those of Preempted that had a choice.
	SeveralCandidates int `json:"severalCandidates"`
	// DecidedBy counts them by the criterion that decided, or model.Tie.
	DecidedBy  map[string]int `json:"decidedBy"`
	Unmodelled int            `json:"unmodelled"`
	Undecided  int            `json:"undecided"` // see Result.Undecided
	// Known counts clusters by the ledger entry that explained them, Findings
	// those that none did.
	Known    map[string]int `json:"known"`
	Findings int            `json:"findings"`
}

// Add counts one result.
func (s *Stats) Add(r *Result) {
	if s.DecidedBy == nil {
		s.DecidedBy, s.Known = map[string]int{}, map[string]int{}
	}
	s.Clusters++
	known := map[string]bool{}
	for _, f := range r.Findings {
		for _, id := range f.Known {
			known[id] = true
		}
	}
	for id := range known {
		s.Known[id]++
	}
	if len(r.Unexplained()) > 0 {
		s.Findings++
	}
	if r.Undecided != "" {
		s.Undecided++
	}
	o := r.Observation
	switch {
	case o == nil:
		s.Unmodelled++
	case o.ScheduledTo != "":
		s.Scheduled++
	case o.Eligible == nil || !o.Eligible.OK:
		s.Ineligible++
	case o.Pick == nil:
		s.NotHelpful++
	default:
		s.Preempted++
		if len(o.Candidates) > 1 {
			s.SeveralCandidates++
			s.DecidedBy[r.Decision.DecidedBy(o)]++
		}
	}
}

// Merge adds the counts of other to s.
func (s *Stats) Merge(other Stats) {
	merge := func(to *map[string]int, from map[string]int) {
		if *to == nil {
			*to = maps.Clone(from)
			return
		}
		for k, v := range from {
			(*to)[k] += v
		}
	}
	s.Clusters += other.Clusters
	s.Scheduled += other.Scheduled
	s.Ineligible += other.Ineligible
	s.NotHelpful += other.NotHelpful
	s.Preempted += other.Preempted
	s.SeveralCandidates += other.SeveralCandidates
	s.Unmodelled += other.Unmodelled
	s.Undecided += other.Undecided
	s.Findings += other.Findings
	merge(&s.DecidedBy, other.DecidedBy)
	merge(&s.Known, other.Known)
}

// Criteria are the keys of Stats.DecidedBy in the order in which they apply.
func Criteria() []string {
	return append(model.CriterionNames(), model.Tie)
}
