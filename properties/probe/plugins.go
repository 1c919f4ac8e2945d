package probe

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/contract"
)

// Example is a cluster of a campaign.
type Example struct {
	Number uint64 `json:"number"`
	// Size is how many objects it has.
	Size int `json:"size"`
}

// Broken and BrokenKnown begin what is counted in Stats.Plugins of the clusters in which a property was broken: in a way that is new, and in
// one that the ledger knows.
const (
	Broken      = "broken: "
	BrokenKnown = "broken as known: "
)

// addPlugins counts what came about when plugins were asked.
func (s *Stats) addPlugins(r *properties.Result) {
	for plugin, counts := range r.Plugins {
		s.addPlugin(plugin, counts)
	}
	seen := []string{}
	for _, f := range r.Findings {
		plugin, _, ok := strings.Cut(f.Kind, ": ")
		if !ok || !contract.Is(f.Property) {
			continue
		}
		what := Broken + f.Property
		if len(f.Known) > 0 {
			what = BrokenKnown + f.Property
		}
		if !slices.Contains(seen, plugin+what) {
			seen = append(seen, plugin+what)
			s.addPlugin(plugin, map[string]int{what: 1})
		}
	}
}

func (s *Stats) addPlugin(plugin string, counts map[string]int) {
	if s.Plugins == nil {
		s.Plugins = map[string]map[string]int{}
	}
	all := s.Plugins[plugin]
	AddCounts(&all, counts)
	s.Plugins[plugin] = all
}

// Example notes that a result was about a cluster of that number.
func (s *Stats) Example(r *properties.Result, number uint64) {
	for plugin, counts := range r.Plugins {
		if counts[contract.NotMonotone] > 0 {
			s.smaller(plugin, Example{number, len(r.Cluster.Objects())})
		}
	}
}

// smaller keeps the smaller of two examples, of equally large ones the first.
func (s *Stats) smaller(plugin string, e Example) {
	if s.Counterexamples == nil {
		s.Counterexamples = map[string]Example{}
	}
	if old, ok := s.Counterexamples[plugin]; !ok || e.Size < old.Size || e.Size == old.Size && e.Number < old.Number {
		s.Counterexamples[plugin] = e
	}
}

func (s *Stats) mergePlugins(other Stats) {
	for plugin, counts := range other.Plugins {
		s.addPlugin(plugin, counts)
	}
	for plugin, e := range other.Counterexamples {
		s.smaller(plugin, e)
	}
}
