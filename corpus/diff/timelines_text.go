package diff

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// summary says in a line or two how many go otherwise.
func (t *Timelines) summary() string {
	if len(t.CannotRun) > 0 {
		none := "Timelines were not compared"
		if t.Timelines > 0 {
			none = fmt.Sprintf("None of %s was compared", words.Plural(t.Timelines, "timeline"))
		}
		return none + ": " + strings.Join(t.CannotRun, "; ") + "."
	}
	text := fmt.Sprintf("Of %s, %d could be compared.", words.Plural(t.Timelines, "timeline"), t.Compared)
	switch {
	case t.Compared == 0:
		return text
	case t.Different == 0:
		return text + " All of them go alike, as users see it."
	}
	return text + fmt.Sprintf(" %d of them go otherwise, in %s.", t.Different, words.Plural(len(t.Kinds), "way"))
}

func (t *Timelines) text(w io.Writer, c *Pair) {
	if t == nil {
		return
	}
	if c.Clusters > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, t.summary())
	if len(t.Kinds) > 0 {
		fmt.Fprintln(w)
		counts := table.New("", "TIMELINES", "WHAT IS DIFFERENT")
		for _, k := range t.Kinds {
			counts.Row(fmt.Sprint(k.Timelines), k.Kind)
		}
		counts.WriteText(w)
	}
	for _, g := range t.Given {
		g.text(w, c)
	}
	for i, k := range t.Kinds {
		if k.Example != nil {
			fmt.Fprintf(w, "\n%d. %s\n", i+1, k.Kind)
			k.text(w, c)
		}
	}
	if len(t.Why) > 0 {
		fmt.Fprintln(w)
		why := table.New("", "TIMELINES", "NOT COMPARED, AS")
		for _, reason := range slices.Sorted(maps.Keys(t.Why)) {
			why.Row(fmt.Sprint(t.Why[reason]), reason)
		}
		why.WriteText(w)
	}
}

func (g *GivenTimeline) text(w io.Writer, c *Pair) {
	if g.Why != "" {
		return // it is counted
	}
	fmt.Fprintf(w, "\n%s, %s\n", g.Name, g.File)
	for _, d := range g.Differences {
		fmt.Fprintf(w, "   %s\n", d.Kind)
		d.text(w, c, "     ")
	}
}

func (d *TimelineDifference) text(w io.Writer, c *Pair, indent string) {
	labelled(w, indent, [][2]string{{c.From, d.FromDoes}, {c.To, d.ToDoes}})
}

// labelled prints a label and a text in each row, and breaks the lines of long texts.
func labelled(w io.Writer, indent string, rows [][2]string) {
	width := 0
	for _, row := range rows {
		width = max(width, len(row[0])+3)
	}
	for _, row := range rows {
		var wrapped strings.Builder
		words.WriteWrapped(&wrapped, indent+strings.Repeat(" ", width), row[1])
		fmt.Fprintf(w, "%s%-*s%s", indent, width, row[0], wrapped.String()[len(indent)+width:])
	}
}

func (k *TimelineKind) text(w io.Writer, c *Pair) {
	e := k.Example
	labelled(w, "   ", k.about())
	fmt.Fprintf(w, "\n   on %s, for example", words.Plural(k.Timelines, "timeline"))
	if e.NotMinimal != "" {
		fmt.Fprintf(w, " (not the smallest: %s)", e.NotMinimal)
	}
	fmt.Fprint(w, "\n\n")
	for _, line := range slices.Concat(e.Objects, e.Steps) {
		fmt.Fprintf(w, "     %s\n", line)
	}
	fmt.Fprintln(w)
	e.TimelineDifference.text(w, c, "     ")
	var rows [][2]string
	for _, kind := range e.Besides {
		rows = append(rows, [2]string{"besides", kind})
	}
	labelled(w, "     ", rows)
	if e.Saved != "" {
		fmt.Fprintf(w, "     saved     %s\n", e.Saved)
	}
	if e.Reproduce != "" {
		fmt.Fprintf(w, "     found by  %s\n", e.Reproduce)
	}
}

// about is what is known of a kind of differences: what, and a sentence.
func (k *TimelineKind) about() (all [][2]string) {
	if k.Promise != "" {
		all = append(all, [2]string{"promise", k.Promise})
	}
	if k.Source != "" {
		all = append(all, [2]string{"source", k.Source})
	}
	if k.Finding != "" {
		known := k.Finding
		if strings.HasPrefix(k.Upstream, "kubernetes#") {
			known += ", " + k.Upstream
		}
		all = append(all, [2]string{"finding", known})
	}
	return all
}

// markdown writes what is different in timelines; nothing if there were none.
func (t *Timelines) markdown(w io.Writer, c *Pair) {
	if t == nil || t.Timelines == 0 {
		return
	}
	fmt.Fprintf(w, "\n### Timelines, from %s to %s\n\n%s\n", c.From, c.To, escape(t.summary()))
	for _, k := range t.Kinds {
		if k.Example == nil {
			fmt.Fprintf(w, "\n- %s, in %s", escape(k.Kind), words.Plural(k.Timelines, "timeline"))
		}
	}
	for _, g := range t.Given {
		if g.Why != "" {
			continue
		}
		fmt.Fprintf(w, "\n#### %s\n\n", escape(g.Name))
		for _, d := range g.Differences {
			fmt.Fprintf(w, "- %s\n  - %s: %s\n  - %s: %s\n", escape(d.Kind), c.From, escape(d.FromDoes), c.To, escape(d.ToDoes))
		}
	}
	for _, k := range t.Kinds {
		if k.Example != nil {
			k.markdown(w, c)
		}
	}
}

func (k *TimelineKind) markdown(w io.Writer, c *Pair) {
	e := k.Example
	fmt.Fprintf(w, "\n#### %s\n\n", upperFirst(escape(k.Kind)))
	for _, about := range k.about() {
		fmt.Fprintf(w, "*%s:* %s\\\n", upperFirst(about[0]), escape(about[1]))
	}
	fmt.Fprintf(w, "*Timelines:* %d\n\nA small one", k.Timelines)
	if e.NotMinimal != "" {
		fmt.Fprintf(w, " (not the smallest: %s)", e.NotMinimal)
	}
	fmt.Fprintf(w, ":\n\n```\n%s\n```\n\n- %s: %s\n- %s: %s\n", strings.Join(slices.Concat(e.Objects, e.Steps), "\n"), c.From, escape(e.FromDoes), c.To, escape(e.ToDoes))
	if len(e.Besides) > 0 {
		fmt.Fprintf(w, "- besides: %s\n", escape(strings.Join(e.Besides, "; ")))
	}
}
