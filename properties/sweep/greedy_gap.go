package sweep

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// MaxBruteForce is up to how many pods that may be preempted on a node GreedyGap
// tries all sets of them.
const MaxBruteForce = 12

// GreedyGap is how far what was preempted is from the best that could have been,
// over many clusters. Preemption is documented as greedy, so a gap breaks no
// promise.
//
// The best is taken over all sets of pods, of any one node, without which the
// preemptor fits there, by the documented criteria for choosing a node. A set's
// budget violations are the fewest that its eviction can come to.
type GreedyGap struct {
	// Measured counts the clusters with a preemption that were compared.
	Measured int `json:"measured"`
	// TooLarge counts those with more than MaxBruteForce pods to choose from on
	// a node.
	TooLarge int `json:"tooLarge"`
	// Misfits counts those where the preemptor does not fit without the victims,
	// which is for other properties to report.
	Misfits int `json:"misfits"`
	// WorseBy counts those of Measured that were not the best, by the first
	// criterion that tells.
	WorseBy map[string]int `json:"worseBy"`
	// Violations, Highest and Victims count those of Measured by how much more
	// the pick has than the best: budget violations; priorities of the cluster's
	// pods between the highest-priority victims; victims. A number is negative
	// where an earlier criterion was worse and the later one better.
	Violations map[int]int `json:"violations"`
	Highest    map[int]int `json:"highest"`
	Victims    map[int]int `json:"victims"`
}

// Add compares what was preempted with the best. It does nothing if nothing was
// preempted, if extenders have a say, or if there are pod groups.
func (g *GreedyGap) Add(r *properties.Result) error {
	if r.Unmodelled != nil || r.Observation.Pick == nil || len(r.Cluster.Settings.Extenders) > 0 || r.Cluster.Settings.FeatureGates[model.GateWorkload] {
		return nil
	}
	if g.WorseBy == nil {
		g.WorseBy, g.Violations, g.Highest, g.Victims = map[string]int{}, map[int]int{}, map[int]int{}, map[int]int{}
	}
	s := &properties.Subject{Cluster: r.Cluster, Observation: r.Observation, Decision: r.Decision, Release: release.Linked}
	for _, node := range r.Decision.PotentialNodes {
		if len(s.Preemptable(node)) > MaxBruteForce {
			g.TooLarge++
			return nil
		}
	}
	pick := r.Observation.Pick
	gone := map[string]bool{}
	for _, key := range pick.Victims {
		gone[key] = true
	}
	fits, err := s.FitsByModel(pick.Node, gone)
	if err != nil {
		return err
	}
	if !fits {
		g.Misfits++
		return nil
	}
	greedy := cost(s, pick.Node, pick.Victims)
	best := greedy
	for _, node := range r.Decision.PotentialNodes {
		if err := eachSmallestSet(s, node, func(victims []string) {
			if c := cost(s, node, victims); slices.Compare(c, best) < 0 {
				best = c
			}
		}); err != nil {
			return err
		}
	}

	g.Measured++
	for i, name := range explain.CriterionNames() {
		if greedy[i] != best[i] {
			g.WorseBy[name]++
			break
		}
	}
	g.Violations[int(greedy[0]-best[0])]++
	g.Highest[prioritiesBetween(s, best[1], greedy[1])]++
	g.Victims[int(greedy[3]-best[3])]++
	return nil
}

// eachSmallestSet visits the sets of pods of a node without which the preemptor
// fits there, but no set that contains another one: more victims are never
// better by any criterion before the number of victims, and worse by that.
func eachSmallestSet(s *properties.Subject, node string, visit func(victims []string)) error {
	pods := s.Preemptable(node)
	var fitting []uint
	for set := uint(1); set < 1<<len(pods); set++ { // subsets come before
		if slices.ContainsFunc(fitting, func(f uint) bool { return f&^set == 0 }) {
			continue
		}
		var victims []string
		gone := map[string]bool{}
		for i, p := range pods {
			if set>>i&1 != 0 {
				victims, gone[model.Key(p)] = append(victims, model.Key(p)), true
			}
		}
		fits, err := s.FitsByModel(node, gone)
		if err != nil {
			return err
		}
		if fits {
			fitting = append(fitting, set)
			visit(victims)
		}
	}
	return nil
}

// cost is what victims on a node cost if they go in the best order.
func cost(s *properties.Subject, node string, victims []string) []int64 {
	gone := map[string]bool{}
	for _, key := range victims {
		gone[key] = true
	}
	violations, _ := invariant.Violations(s, node, gone)
	return invariant.Cost(s, victims, violations)
}

// prioritiesBetween counts the priorities of the cluster's pods above from and
// up to to; negative if to is the lower one.
func prioritiesBetween(s *properties.Subject, from, to int64) int {
	low, high, sign := from, to, 1
	if to < from {
		low, high, sign = to, from, -1
	}
	between := map[int32]bool{}
	for _, p := range s.Cluster.Pods {
		if priority := int64(model.Priority(p)); low < priority && priority <= high {
			between[model.Priority(p)] = true
		}
	}
	return sign * len(between)
}

// Optimal is how many of Measured were the best.
func (g *GreedyGap) Optimal() int {
	optimal := g.Measured
	for _, n := range g.WorseBy {
		optimal -= n
	}
	return optimal
}

// Merge adds the counts of other to g.
func (g *GreedyGap) Merge(other GreedyGap) {
	g.Measured += other.Measured
	g.TooLarge += other.TooLarge
	g.Misfits += other.Misfits
	probe.AddCounts(&g.WorseBy, other.WorseBy)
	probe.AddCounts(&g.Violations, other.Violations)
	probe.AddCounts(&g.Highest, other.Highest)
	probe.AddCounts(&g.Victims, other.Victims)
}

// WriteTable writes the distribution for people.
func (g *GreedyGap) WriteTable(w io.Writer) {
	share := func(n int) string { return fmt.Sprintf("%d (%.2f %%)", n, 100*float64(n)/float64(max(1, g.Measured))) }
	fmt.Fprintf(w, "greedy gap: of %d preemptions %s were the best possible by all criteria\n", g.Measured, share(g.Optimal()))
	for _, name := range explain.CriterionNames() {
		if n := g.WorseBy[name]; n > 0 {
			fmt.Fprintf(w, "  worse first by %s: %s\n", name, share(n))
		}
	}
	if g.TooLarge+g.Misfits > 0 {
		fmt.Fprintf(w, "  not measured: %d with more than %d pods to choose from on a node, %d where the preemptor does not fit\n",
			g.TooLarge, MaxBruteForce, g.Misfits)
	}
	gaps := map[int]bool{}
	for _, counts := range []map[int]int{g.Violations, g.Highest, g.Victims} {
		for gap := range counts {
			gaps[gap] = true
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "MORE THAN THE BEST\tVIOLATIONS\tHIGHEST PRIORITY\tVICTIMS\t")
	for _, gap := range slices.Sorted(maps.Keys(gaps)) {
		fmt.Fprintf(tw, "%+d\t%d\t%d\t%d\t\n", gap, g.Violations[gap], g.Highest[gap], g.Victims[gap])
	}
	tw.Flush()
}
