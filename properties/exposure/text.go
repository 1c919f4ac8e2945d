package exposure

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// View is how a Report is shown to people.
type View struct {
	// Top is how many workloads are shown; 0 is all.
	Top int
	// Wide shows more columns.
	Wide bool
	// Filtered are the workloads that are shown, in the order of the report; nil is all.
	Filtered func(*Workload) bool
}

// header names the columns: those of Wide come last.
func (v View) header() []string {
	columns := []string{"WORKLOAD", "PODS", "PREEMPTED BY", "AT ONCE", "BUDGET", "PENDING NOW", "NODE LOSSES"}
	if v.Wide {
		columns = append(columns, "PRIORITY", "ON NODE", "BUDGETS", "FINDINGS")
	}
	return columns
}

// row is that of a workload.
func (v View) row(r *Report, w *Workload) []string {
	cells := []string{w.Name, fmt.Sprint(w.Pods), by(w), r.share(w), budgetCell(w), nowCell(w), w.Loss.cell()}
	if v.Wide {
		node, names, ids := "-", []string{}, []string{}
		if t := r.worst(w); t != nil && t.Node != "" {
			node = t.Node
		}
		for _, b := range w.Budgets {
			names = append(names, b.Name)
			for _, f := range b.Findings {
				if !slices.Contains(ids, f.ID) {
					ids = append(ids, f.ID)
				}
			}
		}
		cells = append(cells, w.priority(), node, orDash(strings.Join(names, ",")), orDash(strings.Join(ids, ",")))
	}
	return cells
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func (w *Workload) priority() string {
	if w.Lowest == w.Highest {
		return fmt.Sprint(w.Lowest)
	}
	return fmt.Sprintf("%d to %d", w.Lowest, w.Highest)
}

// by is the lowest class that can preempt it, and how many others.
func by(w *Workload) string {
	if len(w.Threats) == 0 {
		return "nothing"
	}
	name := w.Threats[0].Class
	if more := len(w.Threats) - 1; more > 0 {
		name += fmt.Sprintf(" and %d more", more)
	}
	return name
}

// worst is the threat of which AtOnce of the report is told: nil if there is none.
func (r *Report) worst(w *Workload) *Threat {
	most := r.atOnce(w)
	for i := range w.Threats {
		if w.Threats[i].AtOnce == most {
			return &w.Threats[i]
		}
	}
	return nil
}

func (r *Report) share(w *Workload) string {
	t := r.worst(w)
	switch {
	case t == nil:
		return "-"
	case t.AtMost > 0:
		return fmt.Sprintf("%d to %d of %d", t.AtOnce, t.AtMost, w.Pods)
	}
	return fmt.Sprintf("%d of %d", t.AtOnce, w.Pods)
}

func budgetCell(w *Workload) string {
	if len(w.Budgets) == 0 {
		return "none"
	}
	worst := w.verdict()
	for _, b := range w.Budgets {
		switch {
		case b.Verdict != worst:
		case worst == Violated:
			return fmt.Sprintf("%d too many", b.Over)
		case worst == ByFinding:
			for _, f := range b.Findings {
				if f.Ignored {
					return f.ID
				}
			}
		}
	}
	return string(worst)
}

func nowCell(w *Workload) string {
	pods := 0
	for _, t := range w.Now {
		pods += 1 + t.Alike
	}
	if pods == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3g, by %s", w.expected(), words.Plural(pods, "pod"))
}

func (l Loss) cell() string {
	var parts []string
	if l.Preempted > 0 {
		parts = append(parts, fmt.Sprintf("%d preempted", l.Preempted))
	}
	if l.Pending > 0 {
		parts = append(parts, fmt.Sprintf("%d pending", l.Pending))
	}
	if len(parts) == 0 {
		return "-"
	}
	return fmt.Sprintf("in %d: %s", l.Nodes, strings.Join(parts, ", "))
}

// shown are the workloads that a view shows, and how many it leaves out.
func (v View) shown(r *Report) (some []*Workload, left int) {
	for _, w := range r.Workloads {
		if v.Filtered == nil || v.Filtered(w) {
			some = append(some, w)
		}
	}
	if v.Top > 0 && len(some) > v.Top {
		return some[:v.Top], len(some) - v.Top
	}
	return some, 0
}

// sentences are what there is to say of all workloads together.
func (r *Report) sentences() (lines []string) {
	safe, whole, violated, found, now, short := 0, 0, 0, 0, 0, 0
	count := func(n *int, yes bool) {
		if yes {
			*n++
		}
	}
	for _, w := range r.Workloads {
		most := r.atOnce(w)
		count(&safe, len(w.Threats) == 0)
		count(&whole, most > 0 && most == w.Pods)
		count(&violated, w.verdict() == Violated)
		count(&found, w.verdict() == ByFinding)
		count(&now, len(w.Now) > 0)
		count(&short, w.Loss.Nodes > 0)
	}
	asks := ""
	if r.Asks != "" {
		asks = " that asks for " + r.Asks
	}
	lines = append(lines,
		fmt.Sprintf("%s, %s on them, %s; %d of these can be preempted.", words.Plural(r.Nodes, "node"), words.Plural(r.Pods, "pod"), words.Plural(len(r.Workloads), "workload"), len(r.Workloads)-safe),
		fmt.Sprintf("One pod%s can take all pods at once of %s.", asks, words.Plural(whole, "workload")),
		fmt.Sprintf("One pod can violate a budget of %s, a known finding one of %d more.", words.Plural(violated, "workload"), found),
		r.Pending.sentence(now))
	if len(r.Losses.Tried) > 0 {
		placed, back, pending, preempted := 0, 0, 0, 0
		for _, l := range r.Losses.Tried {
			placed, back, pending, preempted = placed+l.Placed, back+l.Back, pending+l.Pending, preempted+l.Preempted
		}
		lines = append(lines, fmt.Sprintf("Node losses: %d tried, of %s. %s come back, %d are preempted for them, %d stay pending; this hits %s.",
			len(r.Losses.Tried), words.Plural(r.Losses.Kinds, "kind"), words.Plural(back, "pod"), preempted, pending, words.Plural(short, "workload")))
	}
	return lines
}

func (p Pending) sentence(hit int) string {
	if p.Decided == 0 && p.Pods > 0 {
		return fmt.Sprintf("Pending now: %s, not asked about.", words.Plural(p.Pods, "pod"))
	}
	return fmt.Sprintf("Pending now: %s, %d may preempt; this may hit %s.", words.Plural(p.Pods, "pod"), p.Preempt, words.Plural(hit, "workload"))
}

// WriteText prints the sentences, and a table of the workloads, the one that is hurt most first.
func (r *Report) WriteText(w io.Writer, v View) {
	for _, line := range r.sentences() {
		words.WriteWrapped(w, "", line)
	}
	fmt.Fprintln(w)
	some, left := v.shown(r)
	t := table.New("", v.header()...)
	for _, workload := range some {
		t.Row(v.row(r, workload)...)
	}
	t.WriteText(w)
	if left > 0 {
		fmt.Fprintf(w, "%s not shown (--top).\n", words.Plural(left, "workload"))
	}
	r.writeNotes(w, "", "\n")
}

func (r *Report) writeNotes(w io.Writer, bullet, before string) {
	for i, note := range r.Notes {
		if i == 0 {
			fmt.Fprint(w, before)
		}
		words.WriteWrapped(w, "", bullet+"Left out: "+note+".")
	}
}

// WriteNames prints the names of workloads, one on a line.
func (r *Report) WriteNames(w io.Writer, v View) {
	some, _ := v.shown(r)
	for _, workload := range some {
		fmt.Fprintln(w, workload.Name)
	}
}

// WriteMarkdown prints what WriteText does for tickets.
func (r *Report) WriteMarkdown(w io.Writer, v View) {
	fmt.Fprintf(w, "## What can be preempted\n\n")
	for _, line := range r.sentences() {
		fmt.Fprintln(w, "- "+line)
	}
	fmt.Fprintln(w)
	some, left := v.shown(r)
	header := v.header()
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.ToLower(strings.Join(header, " | ")), strings.Repeat("---|", len(header)))
	for _, workload := range some {
		cells := v.row(r, workload)
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		cells[0] = "`" + cells[0] + "`"
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	if left > 0 {
		fmt.Fprintf(w, "\n%s not shown.\n", words.Plural(left, "workload"))
	}
	r.writeNotes(w, "- ", "\n")
}
