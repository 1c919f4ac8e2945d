package record

import (
	"fmt"
	"io"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/reach"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// Reached is a situation in timelines, and how often it came about.
type Reached struct {
	Name      string `json:"name"`
	Timelines int    `json:"timelines"`
	// Quota is in how many it has to be, at least, once there are reach.Enough timelines.
	Quota int `json:"quota"`
}

// Short tells whether it came about less often than its quota asks.
func (p *Reached) Short() bool { return p.Timelines < p.Quota }

// reached is how often the timelines of a campaign came to each situation; nil if there are none. Without pod groups in
// them, those that take groups are left out.
func reached(s *probe.Stats, groups bool) (all []Reached) {
	if s.Timelines == 0 {
		return nil
	}
	for _, p := range reach.Probes() {
		if p.OfGroups && !groups {
			continue
		}
		all = append(all, Reached{p.Name, s.Reached[p.Name], p.Quota})
	}
	return all
}

// neverReached are the situations that came about too rarely, if there were enough timelines to
// say so.
func (r *Report) neverReached() (short []string) {
	if r.Timelines < reach.Enough {
		return nil
	}
	for i := range r.Reached {
		if p := &r.Reached[i]; p.Short() {
			short = append(short, fmt.Sprintf("%s (%d of %d)", p.Name, p.Timelines, p.Quota))
		}
	}
	return short
}

// reachedRow is a place, or what else may happen, and in how many timelines it did in each state.
type reachedRow struct {
	name  string
	cells []string
}

// reachedRows are the situations as a table: a row for each place, and one for the scheduler's
// death; a column for each state.
func (r *Report) reachedRows() (rows []reachedRow) {
	counts := map[string]*Reached{}
	for i := range r.Reached {
		counts[r.Reached[i].Name] = &r.Reached[i]
	}
	row := func(name string, of func(state string) string) {
		row := reachedRow{name: name}
		for _, state := range reach.States() {
			p := counts[of(state)]
			cell := fmt.Sprint(p.Timelines)
			if p.Short() {
				cell += fmt.Sprintf(" < %d", p.Quota)
			}
			row.cells = append(row.cells, cell)
		}
		rows = append(rows, row)
	}
	for _, place := range timeline.Places() {
		row("goes on at "+string(place), func(state string) string { return reach.At(place, state) })
	}
	row("dies", reach.Dies)
	return rows
}

// otherReached are the situations that are in no cell of the table.
func (r *Report) otherReached() []Reached {
	states := len(reach.States()) * (len(timeline.Places()) + 1)
	return r.Reached[states:]
}

// writeReached tells how often timelines came to each situation.
func (r *Report) writeReached(w io.Writer) {
	if len(r.Reached) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := table.New("", append([]string{"TIMELINES IN WHICH THE SCHEDULER WHILE"}, upper(reach.States())...)...)
	for _, row := range r.reachedRows() {
		t.Row(append([]string{row.name}, row.cells...)...)
	}
	t.WriteText(w)
	fmt.Fprintln(w)
	t = table.New("", "BESIDES", "TIMELINES", "")
	for _, p := range r.otherReached() {
		mark := ""
		if p.Short() {
			mark = fmt.Sprintf("< %d", p.Quota)
		}
		t.Row(p.Name, fmt.Sprint(p.Timelines), mark)
	}
	t.WriteText(w)
	if r.Timelines < reach.Enough {
		fmt.Fprintf(w, "\n%s; the floors are for %d or more\n", words.Plural(r.Timelines, "timeline"), reach.Enough)
	}
}

func upper(all []string) (out []string) {
	for _, s := range all {
		out = append(out, strings.ToUpper(shortState[s]))
	}
	return out
}

// shortState are the states as heads of columns.
var shortState = map[string]string{
	reach.Decided: "preemption begins", reach.Preempting: "preempts", reach.Marked: "victim marked", reach.Terminating: "victim ends",
	reach.Nominated: "nominated", reach.Assumed: "assumed", reach.TakenOver: "taken over",
}

// markdownReached is the same for a summary.
func (r *Report) markdownReached(b *strings.Builder) {
	if len(r.Reached) == 0 {
		return
	}
	b.WriteString("<details><summary>Situations in timelines</summary>\n\n|  |")
	for _, state := range reach.States() {
		fmt.Fprintf(b, " %s |", shortState[state])
	}
	b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(reach.States())) + "\n")
	for _, row := range r.reachedRows() {
		fmt.Fprintf(b, "| %s |", row.name)
		for _, cell := range row.cells {
			fmt.Fprintf(b, " %s |", escapeMarkdown.Replace(cell))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n| situation | timelines | at least |\n| --- | ---: | ---: |\n")
	for _, p := range r.otherReached() {
		fmt.Fprintf(b, "| %s | %d | %d |\n", escapeMarkdown.Replace(p.Name), p.Timelines, p.Quota)
	}
	b.WriteString("\n</details>\n\n")
}
