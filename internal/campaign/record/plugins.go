package record

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// clause is one of the contract of plugins in a report: its title, the property, and what is counted of how often it was asked.
type clause struct{ title, property, asked string }

var clauses = []clause{
	{"INCREMENTAL", "contract-incremental", contract.AskedIncremental},
	{"PURE", "contract-pure", contract.AskedPure},
	{"SKIP", "contract-skip", contract.AskedSkip},
	{"LEAVES OUT", "contract-leaves-out", contract.AskedLeftOut},
	{"UNRESOLVABLE", "contract-unresolvable", contract.AskedUnresolvable},
	{"HINTS", "contract-hints", contract.Turned},
	{"NO ERRORS", "contract-no-errors", contract.AskedNoErrors},
	{"REASONS", "contract-reasons", contract.AskedReasons},
	{"UNDONE", "contract-undone", contract.AskedUndone},
	{"KEPT", "contract-kept", contract.AskedKept},
}

// WritePlugins writes two tables of plugins that were asked one by one: how often each was asked about each clause, and in how many clusters it
// was broken; and what is measured.
func WritePlugins(counted map[string]map[string]int, row func(cells ...string), heading func(titles ...string)) {
	titles := []string{"PLUGIN"}
	for _, c := range clauses {
		titles = append(titles, c.title)
	}
	heading(append(titles, "MONOTONE", "WAKES IN VAIN", "UNSCHEDULABLE IN VAIN")...)
	for _, plugin := range slices.Sorted(maps.Keys(counted)) {
		n := counted[plugin]
		cells := []string{plugin}
		for _, c := range clauses {
			cells = append(cells, cell(n[c.asked], n[probe.BrokenKnown+c.property], n[probe.Broken+c.property]))
		}
		monotone := "-"
		switch {
		case n[contract.NotMonotone] > 0:
			monotone = "no"
		case n[contract.Removals] > 0:
			monotone = "yes"
		}
		row(append(cells, monotone, share(n[contract.InVain], n[contract.InVain]+n[contract.Slept]), share(n[contract.Helpless], n[contract.Rejected]))...)
	}
}

// cell is how often a plugin was asked about a clause; "-" if never.
func cell(asked, known, broken int) string {
	switch {
	case broken > 0 && known > 0:
		return fmt.Sprintf("%d: %d broken, %d as known", asked, broken, known)
	case broken > 0:
		return fmt.Sprintf("%d: %d broken", asked, broken)
	case known > 0:
		return fmt.Sprintf("%d: %d as known", asked, known)
	case asked == 0:
		return "-"
	}
	return fmt.Sprint(asked)
}

func share(of, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f %%", words.Percent(of, all))
}

// writePlugins says what plugins that were asked one by one came to.
func (r *Report) writePlugins(w io.Writer) {
	if len(r.Plugins) == 0 {
		return
	}
	var t *table.Table
	WritePlugins(r.Plugins, func(cells ...string) { t.Row(cells...) }, func(titles ...string) { t = table.New("", titles...) })
	t.WriteText(w)
	fmt.Fprintln(w, "Each number is how often a plugin was asked about the clause (HINTS: how many events helped), and in how many clusters it broke it. \"preemptcheck plugins --help\" tells the clauses.")
	for _, plugin := range slices.Sorted(maps.Keys(r.Counterexamples)) {
		fmt.Fprintf(w, "%s is not monotone: %s\n", plugin, r.Counterexamples[plugin])
	}
	fmt.Fprintln(w)
}

// headlineOfPlugins is Headline of a campaign that asks plugins.
func (r *Report) headlineOfPlugins() string {
	checked := fmt.Sprintf("%s in %s", words.Plural(len(r.Plugins), "plugin"), words.Plural(r.Clusters, "cluster"))
	if n := len(r.Findings); n > 0 {
		return fmt.Sprintf("FOUND %s of %s", words.Plural(n, "new finding"), checked)
	}
	return "PASSED: nothing new of " + checked
}
