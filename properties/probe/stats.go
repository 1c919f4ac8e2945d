package probe

import (
	"fmt"
	"maps"
	"regexp"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// Stats counts what became of many clusters.
type Stats struct {
	Clusters   int `json:"clusters"`
	Scheduled  int `json:"scheduled"`  // the pod fitted without preemption
	Ineligible int `json:"ineligible"` // the pod may not preempt
	NotHelpful int `json:"notHelpful"` // no node would fit it
	Preempted  int `json:"preempted"`
	Broken     int `json:"broken,omitempty"`  // the scheduler panicked, hung or ended
	InError    int `json:"inError,omitempty"` // the cycle ended in an error
	// SeveralCandidates counts those of Preempted that had a choice.
	SeveralCandidates int `json:"severalCandidates"`
	// DecidedBy counts them by the criterion that decided, or model.Tie.
	DecidedBy map[string]int `json:"decidedBy"`
	// Unmodelled counts those that were not asked anything.
	Unmodelled int `json:"unmodelled"`
	// Partly counts, by what is not modelled, those that were asked what needs no model
	// of that.
	Partly    map[string]int `json:"partly"`
	Undecided int            `json:"undecided"` // see Result.Undecided
	// Rejected counts, by reason, the clusters that could not be judged: those not
	// modelled, those undecided and, besides Clusters, those given to Reject.
	Rejected map[string]int `json:"rejected"`
	// Exercised counts clusters by the probes that they exercised.
	Exercised map[string]int `json:"exercised"`
	// Filters counts, by plugin, what filters said that were asked one by one.
	Filters map[string]properties.FilterCount `json:"filters"`
	// Plugins counts, by plugin, what came about when plugins were asked one by one, and by property in how many clusters it was
	// broken: see Broken. Counterexamples are, by plugin, the smallest clusters in which it is not monotone.
	Plugins         map[string]map[string]int `json:"plugins,omitempty"`
	Counterexamples map[string]Example        `json:"counterexamples,omitempty"`
	// Shapes is how many different ones there were.
	Shapes Shapes `json:"shapes"`
	// Known counts clusters by the ledger entry that explained them, Findings
	// those that none did.
	Known    map[string]int `json:"known"`
	Findings int            `json:"findings"`
	// Timelines counts those that were run besides, KnownInTimelines them by the ledger
	// entry that explained what was found.
	Timelines        int            `json:"timelines,omitempty"`
	KnownInTimelines map[string]int `json:"knownInTimelines,omitempty"`
	// Reached counts them by the situations that they came to (see package reach).
	Reached map[string]int `json:"reached,omitempty"`
}

// Add counts one result.
func (s *Stats) Add(r *properties.Result) {
	s.makeMaps()
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
	mergeFilters(s.Filters, r.Filters)
	s.addPlugins(r)
	if r.Undecided != "" {
		s.Undecided++
		s.Rejected["undecided: too many equally important pods"]++
	}
	o := r.Observation
	if o == nil {
		s.Unmodelled++
		s.Rejected["not modelled: "+unmodelledReason(r.Unmodelled)]++
		return
	}
	if r.Unmodelled != nil {
		s.Partly[unmodelledReason(r.Unmodelled)]++
	}
	switch {
	case o.Crash != nil: // what it would have done is not known
		s.Broken++
		return
	case o.Group != nil:
		s.addGroup(r)
		return
	case o.CycleError != "":
		s.InError++
	case o.ScheduledTo != "":
		s.Scheduled++
	case o.Eligible == nil || !o.Eligible.OK:
		s.Ineligible++
	case o.Pick == nil:
		s.NotHelpful++
	default:
		s.Preempted++
	}
	if r.Decision == nil {
		s.Shapes.add((&cycle{Result: r}).shape(nil))
		return
	}
	c := newCycle(r)
	if len(o.Candidates) > 1 && o.Pick != nil {
		s.SeveralCandidates++
		s.DecidedBy[c.decidedBy]++
	}
	exercised := c.exercised()
	for _, i := range exercised {
		s.Exercised[probes[i].Name]++
	}
	for _, name := range c.exercisedOfPlugin() {
		s.Exercised[name]++
	}
	s.Shapes.add(c.shape(exercised))
}

// Reject counts a cluster that could not be checked, by the kind of its error.
func (s *Stats) Reject(err error) {
	s.makeMaps()
	s.Rejected["error: "+errorClass(err)]++
}

func (s *Stats) makeMaps() {
	if s.DecidedBy == nil {
		s.DecidedBy, s.Known, s.Rejected, s.Exercised = map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
		s.Partly = map[string]int{}
		s.Filters = map[string]properties.FilterCount{}
	}
}

var (
	index      = regexp.MustCompile(`\[[0-9]+\]`)
	particular = regexp.MustCompile(`"[^"]*"|[0-9]+`)
)

// unmodelledReason is the first field that is not modelled, without what is
// particular to the cluster.
func unmodelledReason(u model.Unmodelled) string {
	if len(u) == 0 {
		return "?"
	}
	return fmt.Sprintf("%s (%s)", index.ReplaceAllString(u[0].Field, "[]"), u[0].Why)
}

// errorClass is the first line of an error without what is particular to one.
func errorClass(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return particular.ReplaceAllString(line, "…")
}

// Merge adds the counts of other to s.
func (s *Stats) Merge(other Stats) {
	s.Clusters += other.Clusters
	s.Scheduled += other.Scheduled
	s.Ineligible += other.Ineligible
	s.NotHelpful += other.NotHelpful
	s.Preempted += other.Preempted
	s.Broken += other.Broken
	s.InError += other.InError
	s.SeveralCandidates += other.SeveralCandidates
	s.Unmodelled += other.Unmodelled
	s.Undecided += other.Undecided
	s.Findings += other.Findings
	s.Timelines += other.Timelines
	if len(other.KnownInTimelines) > 0 {
		AddCounts(&s.KnownInTimelines, other.KnownInTimelines)
	}
	if len(other.Reached) > 0 {
		AddCounts(&s.Reached, other.Reached)
	}
	AddCounts(&s.DecidedBy, other.DecidedBy)
	AddCounts(&s.Rejected, other.Rejected)
	AddCounts(&s.Partly, other.Partly)
	AddCounts(&s.Exercised, other.Exercised)
	AddCounts(&s.Known, other.Known)
	if s.Filters == nil {
		s.Filters = map[string]properties.FilterCount{}
	}
	mergeFilters(s.Filters, other.Filters)
	s.mergePlugins(other)
	s.Shapes.merge(other.Shapes)
}

// AddCounts adds the counts of from to those of to.
func AddCounts[K comparable](to *map[K]int, from map[K]int) {
	if *to == nil {
		*to = maps.Clone(from)
		return
	}
	for k, n := range from {
		(*to)[k] += n
	}
}

// mergeFilters adds the counts of one to another.
func mergeFilters(to, from map[string]properties.FilterCount) {
	for plugin, more := range from {
		count := to[plugin]
		count.Add(more)
		to[plugin] = count
	}
}

// Unmet names the probes that were exercised less often than their quota asks.
func (s *Stats) Unmet() []string {
	var names []string
	for _, p := range probes {
		if s.Exercised[p.Name] < p.Quota {
			names = append(names, p.Name)
		}
	}
	return names
}

// Criteria are the keys of Stats.DecidedBy in the order in which they apply.
func Criteria() []string {
	return append(explain.CriterionNames(), model.Tie)
}
