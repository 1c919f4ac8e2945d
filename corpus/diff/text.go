package diff

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// WriteText prints what is different, by the change behind it.
func (r *Report) WriteText(w io.Writer) {
	for i, c := range r.Comparisons {
		if i > 0 {
			fmt.Fprintln(w)
		}
		c.text(w, r)
	}
}

func (c *Pair) text(w io.Writer, r *Report) {
	if c.onlyTimelines() {
		fmt.Fprintf(w, "From %s to %s:\n", c.From, c.To)
	} else {
		c.clustersText(w, r)
	}
	c.Timelines.text(w, c)
}

func (c *Pair) clustersText(w io.Writer, r *Report) {
	what := words.Plural(int(c.Clusters), "case")
	if r.Generated {
		what = fmt.Sprintf("%s (generated, seed %d)", words.Plural(int(c.Clusters), "cluster"), r.Seed)
	}
	fmt.Fprintf(w, "From %s to %s: of %s, %d could be compared.\n", c.From, c.To, what, c.done())
	switch {
	case c.done() == 0:
	case len(c.Ways) == 0:
		fmt.Fprintln(w, "Both releases decide all of them alike.")
	default:
		fmt.Fprintf(w, "Decided differently: %d, for %s.\n", c.differ(), words.Plural(len(c.Ways), "reason"))
	}
	c.casesText(w)
	if len(c.Ways) > 0 {
		fmt.Fprintln(w)
		t := table.New("", "CLUSTERS", "BECAUSE", "WHAT IS DIFFERENT")
		for _, way := range c.Ways {
			clusters, title := fmt.Sprint(way.Clusters), way.title()
			for _, k := range way.Kinds {
				t.Row(clusters, title, fmt.Sprintf("%s (%d)", k.Kind, k.Clusters))
				clusters, title = "", ""
			}
		}
		t.WriteText(w)
	}
	for i, way := range c.Ways {
		fmt.Fprintf(w, "\n%d. %s\n", i+1, way.title())
		if way.Change != nil {
			for _, part := range way.Change.Story() {
				fmt.Fprintf(w, "   %-7s %s\n", part[0]+":", part[1])
			}
			fmt.Fprintf(w, "   source: %s\n", way.Change.Where())
		}
		for _, k := range way.Kinds {
			k.text(w, c)
		}
	}
	c.whyText(w)
}

// casesText has a row for each case that is decided differently.
func (c *Pair) casesText(w io.Writer) {
	t := table.New("", "POD", c.From, c.To, "BECAUSE")
	for _, d := range c.Cases {
		for i, because := range d.Because {
			if i == 0 {
				t.Row(d.Name, d.FromDoes, d.ToDoes, because)
			} else {
				t.Row("", "", "", because)
			}
		}
	}
	if !t.Empty() {
		fmt.Fprintln(w)
		t.WriteText(w)
	}
}

func (k *Difference) text(w io.Writer, c *Pair) {
	fmt.Fprintf(w, "\n   %s, on %s, for example", k.Kind, words.Plural(k.Clusters, "cluster"))
	if k.NotMinimal != "" {
		fmt.Fprintf(w, " (not the smallest: %s)", k.NotMinimal)
	}
	fmt.Fprintf(w, "\n\n")
	for line := range strings.Lines(k.Cluster) {
		fmt.Fprintf(w, "     %s", line)
	}
	fmt.Fprintln(w)
	t := table.New("     ", c.From, k.FromDoes)
	t.Row(c.To, k.ToDoes)
	for _, besides := range k.Besides {
		t.Row("besides", besides)
	}
	if k.Saved != "" {
		t.Row("saved", k.Saved)
	}
	if k.Reproduce != "" {
		t.Row("found by", k.Reproduce)
	}
	t.WriteText(w)
}

// whyText lists why clusters were not compared.
func (c *Pair) whyText(w io.Writer) {
	if len(c.Why) == 0 {
		return
	}
	fmt.Fprintln(w)
	if c.Cases != nil {
		t := table.New("", "NAME", "NOT COMPARED", "OBJECT")
		for _, d := range c.Cases {
			if d.Why != "" {
				t.Row(d.Name, d.Why, cmp.Or(d.Object, "-"))
			}
		}
		t.WriteText(w)
		return
	}
	t := table.New("", "CLUSTERS", "NOT COMPARED, AS NOT KNOWN")
	const most = 10
	all := c.whySorted()
	for _, why := range all[:min(most, len(all))] {
		t.Row(fmt.Sprint(c.Why[why]), why)
	}
	t.WriteText(w)
	if len(all) > most {
		fmt.Fprintf(w, "… and %s\n", words.Plural(len(all)-most, "more reason"))
	}
}

func (c *Pair) whySorted() []string {
	return slices.SortedFunc(maps.Keys(c.Why), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Why[b], c.Why[a]), cmp.Compare(a, b))
	})
}
