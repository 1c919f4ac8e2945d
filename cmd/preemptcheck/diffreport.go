package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/releasediff"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// changelog is the answer of diff.
type changelog struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Command is the command line, as far as it matters.
	Command string `json:"command"`
	// Generated says that the clusters were, from Seed.
	Generated bool   `json:"generated"`
	Seed      uint64 `json:"seed,omitempty"`
	// Comparisons are one, or with --each those of neighbouring releases.
	Comparisons []*comparison `json:"comparisons"`
	Interrupted bool          `json:"interrupted,omitempty"`
}

// comparison is what is different between two releases.
type comparison struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Clusters is how many there were, Verdicts what became of them, and Why counts
	// the reasons why some could not be compared.
	Clusters uint64                         `json:"clusters"`
	Verdicts map[releasediff.Verdict]uint64 `json:"verdicts"`
	Why      map[string]uint64              `json:"why,omitempty"`
	// Cases are what became of each, if they were not generated.
	Cases []*diffCase `json:"cases,omitempty"`
	Ways  []*way      `json:"ways"`
}

// diffCase is what the two releases do with one case.
type diffCase struct {
	Name     string   `json:"name"`
	File     string   `json:"file,omitempty"`
	Verdict  string   `json:"verdict"`
	Why      string   `json:"why,omitempty"`
	Object   string   `json:"object,omitempty"` // to blame for that
	FromDoes string   `json:"fromDoes,omitempty"`
	ToDoes   string   `json:"toDoes,omitempty"`
	Because  []string `json:"because,omitempty"`
}

// way is all that is different by one change; none if nothing explains it.
type way struct {
	Change   *releasediff.Change `json:"change,omitempty"`
	Clusters int                 `json:"clusters"`
	Kinds    []*difference       `json:"kinds"`
}

// difference is one kind of what a change makes different, with the smallest
// cluster found.
type difference struct {
	Kind      string `json:"kind"`
	Clusters  int    `json:"clusters"`
	Reproduce string `json:"reproduce"`
	FromDoes  string `json:"fromDoes"`
	ToDoes    string `json:"toDoes"`
	// Besides are further changes that it takes on the cluster.
	Besides []string      `json:"besides,omitempty"`
	Size    minimize.Size `json:"size"`
	// NotMinimal says why the cluster may not be the smallest.
	NotMinimal string `json:"notMinimal,omitempty"`
	// Cluster is a line for each object, Case all of it.
	Cluster string `json:"cluster"`
	Case    string `json:"case"`
	Saved   string `json:"saved,omitempty"`

	shown *releasediff.Comparison
}

// compare is negative if the cluster of d is the smaller one.
func (d *difference) compare(other *difference) int {
	return cmp.Or(
		cmp.Compare(min(1, len(d.NotMinimal)), min(1, len(other.NotMinimal))),
		cmp.Compare(len(d.Besides), len(other.Besides)),
		cmp.Compare(d.Size.Objects(), other.Size.Objects()),
		cmp.Compare(len(d.Cluster), len(other.Cluster)))
}

func (r *changelog) differs() bool {
	return slices.ContainsFunc(r.Comparisons, func(c *comparison) bool { return len(c.Ways) > 0 })
}

// couldNot tells whether something that should be compared was not: any case that
// was given, or all clusters that were generated.
func (r *changelog) couldNot() bool {
	return slices.ContainsFunc(r.Comparisons, func(c *comparison) bool {
		return !r.Generated && c.done() < c.Clusters || c.done() == 0 || c.Verdicts[releasediff.Failed] > 0
	})
}

// done is how many clusters were compared in the end.
func (c *comparison) done() uint64 {
	return c.Verdicts[releasediff.Same] + c.Verdicts[releasediff.Different] + c.Verdicts[releasediff.Unexplained]
}

func (c *comparison) differ() uint64 {
	return c.Verdicts[releasediff.Different] + c.Verdicts[releasediff.Unexplained]
}

func (w *way) title() string {
	if w.Change == nil {
		return "NOT EXPLAINED"
	}
	return w.Change.Title
}

func (r *changelog) text(w io.Writer) {
	for i, c := range r.Comparisons {
		if i > 0 {
			fmt.Fprintln(w)
		}
		c.text(w, r)
	}
}

func (c *comparison) text(w io.Writer, r *changelog) {
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
func (c *comparison) casesText(w io.Writer) {
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

func (k *difference) text(w io.Writer, c *comparison) {
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
	t.Row("found by", k.Reproduce)
	t.WriteText(w)
}

// whyText lists why clusters were not compared.
func (c *comparison) whyText(w io.Writer) {
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
		fmt.Fprintf(w, "… and %d more reasons\n", len(all)-most)
	}
}

func (c *comparison) whySorted() []string {
	return slices.SortedFunc(maps.Keys(c.Why), func(a, b string) int {
		return cmp.Or(cmp.Compare(c.Why[b], c.Why[a]), cmp.Compare(a, b))
	})
}
