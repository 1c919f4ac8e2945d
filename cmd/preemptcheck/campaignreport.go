package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
)

// campaignReport is a campaign.Report in words.
type campaignReport campaign.Report

func (r *campaignReport) text(w io.Writer) {
	r.summary(w)
	r.writeExercised(w)
}

// summary is all but the probes.
func (r *campaignReport) summary(w io.Writer) {
	report := (*campaign.Report)(r)
	fmt.Fprintln(w, report.Headline())
	for _, why := range slices.Concat(r.Broken, r.Inconclusive) {
		writeWrapped(w, "  ", why)
	}
	fmt.Fprintln(w)
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(w, "%d. %s\n", i+1, f.Identity)
		writeWrapped(w, "   ", f.Explanation)
		writeWrapped(w, "   ", f.History())
		fmt.Fprintf(w, "   reproduce: %s\n   minimise:  %s\n\n", f.Reproduce, f.Minimise)
	}
	writeWrapped(w, "", report.Tried())
	writeWrapped(w, "", fmt.Sprintf("%s; reference %s; %s", r.from(), r.Config.Reference, r.Config.Version))
	fmt.Fprintln(w)

	t := newTable("", "OUTCOME", "CLUSTERS", "SHARE")
	for _, o := range r.Outcomes {
		t.row(o.Name, fmt.Sprint(o.Clusters), fmt.Sprintf("%.1f %%", percent(o.Clusters, r.Clusters)))
	}
	t.write(w)
	fmt.Fprintln(w)
	writeCounts(w, "COULD NOT BE JUDGED", r.Rejected)
	writeCounts(w, "KNOWN FINDING", r.Known)
}

// from says which clusters were checked.
func (r *campaignReport) from() string {
	if len(r.Parts) == 0 {
		from := fmt.Sprintf("Seed %d", r.Config.Seed)
		if r.Config.Shard.Of > 1 {
			from += ", shard " + r.Config.Shard.String()
		}
		return from
	}
	var parts []string
	for _, p := range r.Parts {
		parts = append(parts, fmt.Sprintf("%s (seed %d, shard %s, %s)", p.Dir, p.Seed, p.Shard, plural(p.Clusters, "cluster")))
	}
	return "Merged from " + some(parts, 8)
}

// writeExercised folds the probes into two columns, and marks those exercised too
// rarely.
func (r *campaignReport) writeExercised(w io.Writer) {
	t := newTable("", "EXERCISED", "CLUSTERS", "", "EXERCISED", "CLUSTERS", "")
	cells := func(i int) []string {
		e := &r.Exercised[i]
		mark := ""
		if e.Short() {
			mark = fmt.Sprintf("< %d", e.Quota)
		}
		return []string{e.Name, fmt.Sprint(e.Clusters), mark}
	}
	rows := (len(r.Exercised) + 1) / 2
	for i := range rows {
		row := cells(i)
		if i+rows < len(r.Exercised) {
			row = append(row, cells(i+rows)...)
		}
		t.row(row...)
	}
	t.write(w)
}

// writeCounts is a table, if there is anything to count.
func writeCounts(w io.Writer, what string, counts []campaign.Count) {
	if len(counts) == 0 {
		return
	}
	t := newTable("", what, "CLUSTERS")
	for _, c := range counts {
		t.row(c.Name, fmt.Sprint(c.Clusters))
	}
	t.write(w)
	fmt.Fprintln(w)
}

// writeWrapped breaks lines between words. A word that is too long stays whole.
func writeWrapped(w io.Writer, indent, text string) {
	const width = 100
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(indent)+len(line)+1+len(word) > width {
			fmt.Fprintln(w, indent+line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	fmt.Fprintln(w, indent+line)
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
