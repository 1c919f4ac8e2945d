package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/properties/explanation/arrivals"
)

// maxArrivals is how many rows a list of a page of arrivals has at most; the rest is counted.
const maxArrivals = 500

// arrivalsView is what the template "arrivals" shows.
type arrivalsView struct {
	*arrivals.Story
	Coming         []comingRow
	Going          []goingRow
	Arrivals, Next []arrivals.Cycle
	// More is how many rows of each list are not shown.
	MoreGoing, MoreArrivals, MoreNext int
}

// comingRow is a workload that comes, with the share of its pods that run.
type comingRow struct {
	arrivals.Coming
	part
}

// goingRow is a workload that loses pods, with their share of all its pods.
type goingRow struct {
	arrivals.Going
	part
	Budgets []string
}

// Arrivals writes the page of what comes of pods that are not in a cluster yet.
func Arrivals(w io.Writer, s *arrivals.Story) error {
	v := &arrivalsView{Story: s}
	for _, c := range s.Coming {
		v.Coming = append(v.Coming, comingRow{c, shareOf(c.Runs, c.Pods)})
	}
	for _, g := range s.Going[:min(len(s.Going), maxArrivals)] {
		row := goingRow{Going: g, part: shareOf(g.Pods, g.Of)}
		for _, b := range slices.Sorted(maps.Keys(g.Violates)) {
			row.Budgets = append(row.Budgets, fmt.Sprintf("%s (%d)", b, g.Violates[b]))
		}
		v.Going = append(v.Going, row)
	}
	v.Arrivals, v.Next = s.Arrivals[:min(len(s.Arrivals), maxArrivals)], s.Next[:min(len(s.Next), maxArrivals)]
	v.MoreGoing, v.MoreArrivals, v.MoreNext = len(s.Going)-len(v.Going), len(s.Arrivals)-len(v.Arrivals), len(s.Next)-len(v.Next)
	d, err := render(&page.Document{
		Title: "Who goes for what comes", Kind: "Arrivals", Verdict: arrived(s), Data: s,
		Facts: []page.Fact{{Name: "Cluster", Value: fromFile(s.Cluster)}, {Name: "Scheduler", Value: "kube-scheduler " + s.Reference.System}},
	}, "arrivals", v)
	if err != nil {
		return err
	}
	return d.Write(w)
}

// shareOf is a part of all; of none, the text is the part alone.
func shareOf(n, all int) part {
	if all == 0 { // they come themselves
		return part{Pods: n, Text: fmt.Sprint(n)}
	}
	return part{n, 100 * float64(n) / float64(all), fmt.Sprintf("%d of %d", n, all)}
}

// arrived is the verdict: bad if the scheduler does what is not known, unclear if it does something else
// than documented at all, if something comes that does not run, or a budget is violated.
func arrived(s *arrivals.Story) *page.Verdict {
	sum, said := s.Sum(), s.Said()
	v := &page.Verdict{Mood: page.Good, Text: sum[0], Lines: slices.Concat(sum[1:], []string{said.Agrees}, said.Disagrees, said.Unknown)}
	if said.Open != "" {
		v.Lines = append(v.Lines, said.Open)
	}
	waits := slices.ContainsFunc(s.Coming, func(c arrivals.Coming) bool { return c.Runs < c.Pods })
	switch {
	case s.Reference.New:
		v.Mood = page.Bad
	case waits || len(s.Budgets) > 0 || s.NotTried > 0 || s.Reference.Agrees < s.Reference.Cycles:
		v.Mood = page.Unclear
	}
	return v
}

// cyclesView is what the template "cycles" shows.
type cyclesView struct {
	Name string
	Next bool // they replace others
	Rows []arrivals.Cycle
	More int
}

// Each are the pods that come.
func (v *arrivalsView) Each() cyclesView {
	return cyclesView{"Table of pods that come", false, v.Arrivals, v.MoreArrivals}
}

// Then are the pods that replace those that are preempted.
func (v *arrivalsView) Then() cyclesView {
	return cyclesView{"Table of what the preempted do next", true, v.Next, v.MoreNext}
}
