package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// summary is the answer of fuzz.
type summary struct {
	Seed       uint64           `json:"seed"`
	Seconds    float64          `json:"seconds"`
	CPUSeconds float64          `json:"cpuSeconds,omitempty"`
	Stats      properties.Stats `json:"stats"`
	// Errors counts the clusters that could not be checked.
	Errors int          `json:"errors,omitempty"`
	New    []newFinding `json:"new"`
}

// newFinding is a finding that was saved, with its like.
type newFinding struct {
	Property string      `json:"property"`
	Stage    model.Stage `json:"stage,omitempty"`
	// Shape names what is in play in the cluster that was saved.
	Shape string `json:"shape,omitempty"`
	// Count counts clusters that shrank to the same property, stage and shape.
	Count     int    `json:"count"`
	Detail    string `json:"detail"`
	File      string `json:"file"`
	Reproduce string `json:"reproduce"`
}

func (s *summary) text(w io.Writer) {
	stats := &s.Stats
	fmt.Fprintf(w, "%s checked in %.1f s: %.0f per second", plural(stats.Clusters, "cluster"), s.Seconds, float64(stats.Clusters)/s.Seconds)
	if s.CPUSeconds > 0 {
		fmt.Fprintf(w, ", %.0f per CPU second", float64(stats.Clusters)/s.CPUSeconds)
	}
	fmt.Fprintf(w, " (seed %d)\n\n", s.Seed)

	t := newTable("", "OUTCOME", "CLUSTERS", "SHARE")
	for _, line := range []struct {
		name  string
		count int
	}{
		{"fits without preemption", stats.Scheduled},
		{"not eligible", stats.Ineligible},
		{"no help", stats.NotHelpful},
		{"preempts", stats.Preempted},
		{"  with 2 or more candidates", stats.SeveralCandidates},
		{"not modelled", stats.Unmodelled},
		{"undecided", stats.Undecided},
	} {
		t.row(line.name, fmt.Sprint(line.count), fmt.Sprintf("%.1f %%", percent(line.count, stats.Clusters)))
	}
	t.write(w)

	fmt.Fprintln(w)
	t = newTable("", "DECIDED BY", "CLUSTERS", "SHARE OF THOSE WITH 2 OR MORE CANDIDATES")
	for _, name := range properties.Criteria() {
		count := stats.DecidedBy[name]
		t.row(name, fmt.Sprint(count), fmt.Sprintf("%.1f %%", percent(count, stats.SeveralCandidates)))
	}
	t.write(w)

	fmt.Fprintln(w)
	writeKnown(w, "CLUSTERS", stats.Known)
	for _, f := range s.New {
		fmt.Fprintf(w, "%s\n  in play: %s; clusters like it: %d\n  reproduce: %s\n\n", f.Detail, f.Shape, f.Count, f.Reproduce)
	}
	fmt.Fprintf(w, "clusters with unexplained findings: %d, not checked: %d, saved: %d\n", stats.Findings, s.Errors, len(s.New))
}

// writeKnown says how often each known finding occurred.
func writeKnown(w io.Writer, what string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	t := newTable("", "KNOWN FINDING", what)
	for _, id := range slices.Sorted(maps.Keys(counts)) {
		t.row(id, fmt.Sprint(counts[id]))
	}
	t.write(w)
	fmt.Fprintln(w)
}
