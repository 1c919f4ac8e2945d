package diff

import (
	"fmt"
	"io"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/words"
)

// WriteMarkdown writes a document: for each two releases what is different, with the
// smallest cluster of each.
func (r *Report) WriteMarkdown(w io.Writer) {
	fmt.Fprintf(w, "# What preemption decides differently, from %s to %s\n\n", r.From, r.To)
	fmt.Fprintf(w, "<!-- Written by: %s -->\n\n", r.Command)
	fmt.Fprintln(w, "The schedulers of each two releases decided the same clusters. What one of them did and the algorithm of the other never does is listed by the change behind it,")
	fmt.Fprintln(w, "with the number of clusters, and the smallest cluster found. A cluster that uses what one of the two does not know is not compared.")
	fmt.Fprintln(w)
	fmt.Fprintln(w, "| from | to | clusters | compared | decided differently | because |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, c := range r.Comparisons {
		var titles []string
		for _, way := range c.Ways {
			titles = append(titles, fmt.Sprintf("%s (%d)", escape(way.title()), way.Clusters))
		}
		fmt.Fprintf(w, "| [%s](#%s) | %s | %d | %d | %d | %s |\n", c.From, c.anchor(), c.To, c.Clusters, c.done(), c.differ(), strings.Join(titles, "; "))
	}
	for _, c := range r.Comparisons {
		c.markdown(w, r)
	}
}

func (c *Pair) anchor() string { return strings.ToLower(c.From + "-to-" + c.To) }

func (c *Pair) markdown(w io.Writer, r *Report) {
	fmt.Fprintf(w, "\n<a id=%q></a>\n\n## From %s to %s\n\n", c.anchor(), c.From, c.To)
	if !c.onlyTimelines() {
		c.clustersMarkdown(w, r)
	}
	c.Timelines.markdown(w, c)
}

func (c *Pair) clustersMarkdown(w io.Writer, r *Report) {
	what := "given"
	if r.Generated {
		what = fmt.Sprintf("generated (seed %d)", r.Seed)
	}
	if len(c.Ways) == 0 {
		fmt.Fprintf(w, "None found in %d clusters %s", c.done(), what)
	} else {
		fmt.Fprintf(w, "%d of %d clusters %s are decided differently", c.differ(), c.done(), what)
	}
	if refused := c.Clusters - c.done(); refused > 0 {
		fmt.Fprintf(w, "; %d more were not compared, mostly as they use what one of the two does not know", refused)
	}
	fmt.Fprintln(w, ".")
	for _, way := range c.Ways {
		fmt.Fprintf(w, "\n### %s\n\n", upperFirst(escape(way.title())))
		if way.Change != nil {
			for _, part := range way.Change.Story() {
				fmt.Fprintf(w, "*%s:* %s\\\n", upperFirst(part[0]), escape(part[1]))
			}
			fmt.Fprintf(w, "*Source:* %s\n\n", escape(way.Change.Where()))
		}
		for _, k := range way.Kinds {
			fmt.Fprintf(w, "- %s, on %s\n", k.Kind, words.Plural(k.Clusters, "cluster"))
		}
		for _, k := range way.Kinds {
			k.markdown(w, c, len(way.Kinds) > 1)
		}
	}
}

func (k *Difference) markdown(w io.Writer, c *Pair, several bool) {
	heading := "The smallest cluster"
	if several {
		heading = upperFirst(k.Kind) + ", the smallest cluster"
	}
	if k.NotMinimal != "" {
		heading = strings.Replace(heading, "the smallest", "a", 1) + " (not made small: " + k.NotMinimal + ")"
	}
	fmt.Fprintf(w, "\n%s:\n\n```\n%s```\n\n", heading, k.Cluster)
	fmt.Fprintf(w, "- %s: %s\n- %s: %s\n", c.From, escape(k.FromDoes), c.To, escape(k.ToDoes))
	if len(k.Besides) > 0 {
		fmt.Fprintf(w, "- besides: %s\n", escape(strings.Join(k.Besides, "; ")))
	}
}

// escape keeps Markdown from taking names for its own.
func escape(s string) string {
	return strings.NewReplacer("<", "\\<", "|", "\\|", "_", "\\_", "*", "\\*").Replace(s)
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
