package record

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// WriteText prints the report, with the probes in short.
func (r *Report) WriteText(w io.Writer) {
	r.summary(w)
	r.writePlugins(w)
	if r.Config.PluginsAlone || r.Config.Outside && r.Config.Modelled == "" {
		return
	}
	r.writeExercised(w)
	if r.Config.Outside {
		return
	}
	r.writeReached(w)
}

// summary is all but the probes.
func (r *Report) summary(w io.Writer) {
	fmt.Fprintln(w, r.Headline())
	for _, why := range slices.Concat(r.Broken, r.Inconclusive) {
		words.WriteWrapped(w, "  ", why)
	}
	fmt.Fprintln(w)
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(w, "%d. %s\n", i+1, f.Identity)
		words.WriteWrapped(w, "   ", f.Explanation)
		if f.KeptBack {
			fmt.Fprintln(w)
			continue
		}
		if f.ToContact {
			words.WriteWrapped(w, "   ", fingerprint.ToContact)
		}
		words.WriteWrapped(w, "   ", f.History())
		fmt.Fprintf(w, "   reproduce: %s\n", f.Reproduce)
		if f.Minimise != "" {
			fmt.Fprintf(w, "   minimise:  %s\n", f.Minimise)
		}
		words.WriteList(w, "   ", "stack", f.Stack)
		fmt.Fprintln(w)
	}
	words.WriteWrapped(w, "", r.Tried())
	words.WriteWrapped(w, "", fmt.Sprintf("%s; reference %s; %s", r.from(), r.Config.Reference, r.Config.Version))
	fmt.Fprintln(w)

	t := table.New("", "OUTCOME", "CLUSTERS", "SHARE")
	for _, o := range r.Outcomes {
		t.Row(o.Name, fmt.Sprint(o.Clusters), fmt.Sprintf("%.1f %%", words.Percent(o.Clusters, r.Clusters)))
	}
	t.WriteText(w)
	fmt.Fprintln(w)
	table.WriteCounts(w, "COULD NOT BE JUDGED", "CLUSTERS", each(r.Rejected))
	table.WriteCounts(w, "NOT MODELLED, ASKED ALL ELSE", "CLUSTERS", each(r.Partly))
	table.WriteCounts(w, "KNOWN FINDING", "CLUSTERS", ledger.Named(each(r.Known)))
	table.WriteCounts(w, "KNOWN FINDING", "TIMELINES", ledger.Named(each(r.KnownInTimelines)))
}

// from says which clusters were checked.
func (r *Report) from() string {
	if len(r.Parts) == 0 {
		from := fmt.Sprintf("Seed %d", r.Config.Seed)
		if r.Config.Shard.Of > 1 {
			from += ", shard " + r.Config.Shard.String()
		}
		return from
	}
	var parts []string
	for _, p := range r.Parts {
		parts = append(parts, fmt.Sprintf("%s (seed %d, shard %s, %s)", p.Dir, p.Seed, p.Shard, words.Plural(p.Clusters, "cluster")))
	}
	return "Merged from " + words.Some(parts, 8)
}

// writeExercised folds the probes into two columns, and marks those exercised too
// rarely.
func (r *Report) writeExercised(w io.Writer) {
	t := table.New("", "EXERCISED", "CLUSTERS", "", "EXERCISED", "CLUSTERS", "")
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
		t.Row(row...)
	}
	t.WriteText(w)
}

// WriteProbes prints the report with the probes in full, and what the filters that
// were asked by themselves came to.
func (r *Report) WriteProbes(w io.Writer) {
	r.summary(w)
	r.writeFilters(w)
	r.writePlugins(w)
	t := table.New("", "PROBE", "CLUSTERS", "FLOOR", "MET", "WHAT IT MEANS")
	for i := range r.Exercised {
		e := &r.Exercised[i]
		met := "yes"
		if e.Short() {
			met = "no"
		}
		t.Row(e.Name, fmt.Sprint(e.Clusters), fmt.Sprint(e.Quota), met, e.What)
	}
	t.WriteText(w)
	r.writeReached(w)
	fmt.Fprintf(w, "\n%s, %d below the floor\n", words.Plural(len(r.Exercised)+len(r.Reached), "probe"), r.Short())
}

// writeFilters says what filters that were asked by themselves came to.
func (r *Report) writeFilters(w io.Writer) {
	if len(r.Filters) == 0 {
		return
	}
	share := func(of, pairs int) string { return fmt.Sprintf("%.1f %%", words.Percent(of, pairs)) }
	t := table.New("", "FILTER ALONE", "PAIRS", "FAIL", "RESOLVABLE", "UNRESOLVABLE", "CHANGES", "DIFFER FROM THE MODEL")
	for _, f := range r.Filters {
		t.Row(f.Plugin, fmt.Sprint(f.Pairs), share(f.Resolvable+f.Unresolvable, f.Pairs), share(f.Resolvable, f.Pairs), share(f.Unresolvable, f.Pairs),
			fmt.Sprint(f.Changes), fmt.Sprint(f.Differ))
	}
	t.WriteText(w)
	fmt.Fprintln(w)
}

func each(counts []Count) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, c := range counts {
			if !yield(c.Name, c.Clusters) {
				return
			}
		}
	}
}

// Summary says in a line how far the campaign is, while it runs.
func (s *State) Summary() string {
	session := &s.Sessions[len(s.Sessions)-1]
	line := fmt.Sprintf("%s: %d clusters, %.0f per second, %.0f %% preempt, %s", time.Duration(s.Seconds()*float64(time.Second)).Round(time.Second),
		s.Stats.Clusters, float64(session.Clusters)/session.Seconds, words.Percent(s.Stats.Preempted, s.Stats.Clusters), words.Plural(len(s.Findings), "new finding"))
	if s.Deaths > 0 {
		line += fmt.Sprintf(", %s died", words.Plural(s.Deaths, "worker"))
	}
	return line
}
