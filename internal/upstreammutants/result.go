package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/table"
)

// result is what became of a mutant.
type result struct {
	*Mutant
	building                time.Duration
	*record.ReportedFinding // nil if nothing was found
	// after is the seconds that the campaign ran, from its start to its end, but
	// for the minimising: an upper bound for those to the finding.
	after float64
}

func (r *result) String() string {
	if r.ReportedFinding == nil {
		return r.Name + ": not found"
	}
	return fmt.Sprintf("%s: found after %.1f s, %d nodes and %d pods left: %s", r.Name, r.after, r.Minimised.To.Nodes, r.Minimised.To.Pods, r.Detail)
}

// median is the middle of the seconds until each mutant was found. One that was
// not counts as the slowest.
func median(results []*result) time.Duration {
	var all []float64
	for _, r := range results {
		if r.ReportedFinding != nil {
			all = append(all, r.after)
		} else {
			all = append(all, maxSearch.Seconds())
		}
	}
	slices.Sort(all)
	return time.Duration((all[(len(all)-1)/2] + all[len(all)/2]) / 2 * float64(time.Second))
}

// judge says what was not achieved.
func judge(results []*result) error {
	var errs []error
	complain := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, r := range results {
		if r.ReportedFinding == nil {
			complain("%s was not found within %s", r.Name, maxSearch)
			continue
		}
		if r.Mutant.Property != "" && r.ReportedFinding.Property != r.Mutant.Property {
			complain("%s was found by %s, not by %s", r.Name, r.ReportedFinding.Property, r.Mutant.Property)
		}
		if to := r.Minimised.To; to.Nodes > maxNodes || to.Pods > maxPods {
			complain("%s was minimised to %d nodes and %d pods: more than %d and %d", r.Name, to.Nodes, to.Pods, maxNodes, maxPods)
		}
		if r.Minimised.Seconds > maxMinimising.Seconds() {
			complain("minimising %s took %.0f s: more than %s", r.Name, r.Minimised.Seconds, maxMinimising)
		}
	}
	if m := median(results); m > maxMedian {
		complain("the median time to a finding is %.1f s: more than %s", m.Seconds(), maxMedian)
	}
	return errors.Join(errs...)
}

func writeTable(w io.Writer, results []*result) {
	t := table.New("", "MUTANT", "BUILD S", "FOUND AFTER S", "CLUSTERS", "NODES, PODS LEFT", "MINIMISING S", "FINDING")
	for _, r := range results {
		cells := []string{r.Name, fmt.Sprintf("%.1f", r.building.Seconds()), "not found", "-", "-", "-", "-"}
		if f := r.ReportedFinding; f != nil {
			to := f.Minimised.To
			cells = append(cells[:2], fmt.Sprintf("%.1f", r.after), fmt.Sprint(f.Clusters),
				fmt.Sprintf("%d, %d", to.Nodes, to.Pods), fmt.Sprintf("%.1f", f.Minimised.Seconds), f.Identity)
		}
		t.Row(cells...)
	}
	t.WriteText(w)
	fmt.Fprintf(w, "\nmedian time to a finding: %.1f s\n", median(results).Seconds())
}
