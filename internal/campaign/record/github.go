package record

import (
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// WriteAnnotations writes the commands by which a GitHub workflow shows the
// findings, and what else keeps the campaign from having passed, next to the run
// (docs.github.com: actions/reference/workflows-and-actions/workflow-commands).
func (r *Report) WriteAnnotations(w io.Writer) {
	annotate := func(level, file, title, message string) {
		var properties []string
		if file != "" {
			properties = append(properties, "file="+escapeProperty.Replace(file))
		}
		properties = append(properties, "title="+escapeProperty.Replace(title))
		fmt.Fprintf(w, "::%s %s::%s\n", level, strings.Join(properties, ","), escapeData.Replace(message))
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		annotate("error", f.File, "preemptcheck: "+f.Identity, strings.Join(append([]string{f.Explanation}, f.lines()...), "\n"))
	}
	if len(r.Broken) > 0 {
		annotate("error", "", "preemptcheck: "+string(Broken), strings.Join(r.Broken, "\n"))
	}
	if len(r.Inconclusive) > 0 {
		annotate("warning", "", "preemptcheck: "+string(Inconclusive), strings.Join(r.Inconclusive, "\n"))
	}
}

// What the runner decodes again.
var (
	escapeData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	escapeProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// maxSummary is the size of a step's summary above which GitHub shows none of it.
const maxSummary = 1 << 20

// AppendSummary adds the report to the summary of a step of a GitHub workflow,
// which is kept in a file, as far as there is room for it.
func (r *Report) AppendSummary(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteString(shortened(r.markdown(), maxSummary-int(info.Size())))
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// shortened cuts text, in bytes, after a paragraph, and says so.
func shortened(text string, limit int) string {
	const cut = "\n\n_The rest is left out, as GitHub limits the size of a summary._\n"
	switch {
	case len(text) <= limit:
		return text
	case limit < len(cut):
		return ""
	}
	end := strings.LastIndex(text[:limit-len(cut)], "\n\n")
	return text[:max(end, 0)] + cut
}

func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## preemptcheck: %s\n\n", escapeMarkdown.Replace(r.Headline()))
	for _, why := range append(r.Broken, r.Inconclusive...) {
		fmt.Fprintf(&b, "- %s\n", escapeMarkdown.Replace(why))
	}
	if len(r.Broken)+len(r.Inconclusive) > 0 {
		b.WriteString("\n")
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(&b, "### %d. %s\n\n%s\n\n", i+1, escapeMarkdown.Replace(f.Identity), escapeMarkdown.Replace(f.Explanation))
		if f.KeptBack {
			continue
		}
		fmt.Fprintf(&b, "%s\n\n", escapeMarkdown.Replace(f.History()))
		fenced := strings.Join(slices.Concat(slices.DeleteFunc([]string{f.Reproduce, f.Minimise}, func(s string) bool { return s == "" }), f.Stack), "\n")
		fence := fenceFor(fenced)
		fmt.Fprintf(&b, "%s\n%s\n%s\n\n", fence, fenced, fence)
	}
	fmt.Fprintf(&b, "%s\n\n", escapeMarkdown.Replace(r.Tried()))
	table := func(what, of string, counts iter.Seq2[string, int]) {
		header := fmt.Sprintf("| %s | %s |\n| --- | ---: |\n", what, of)
		for name, count := range counts {
			fmt.Fprintf(&b, "%s| %s | %d |\n", header, escapeMarkdown.Replace(name), count)
			header = ""
		}
		if header == "" {
			b.WriteString("\n")
		}
	}
	table("outcome", "clusters", each(r.Outcomes))
	table("could not be judged", "clusters", each(r.Rejected))
	table("not modelled, asked all else", "clusters", each(r.Partly))
	table("known finding", "clusters", ledger.Named(each(r.Known)))
	table("known finding", "timelines", ledger.Named(each(r.KnownInTimelines)))
	b.WriteString("<details><summary>Decisions exercised</summary>\n\n| decision | clusters | at least |\n| --- | ---: | ---: |\n")
	for i := range r.Exercised {
		e := &r.Exercised[i]
		count := fmt.Sprint(e.Clusters)
		if e.Short() {
			count = "**" + count + "**"
		}
		fmt.Fprintf(&b, "| %s | %s | %d |\n", escapeMarkdown.Replace(e.Name), count, e.Quota)
	}
	b.WriteString("\n</details>\n\n")
	r.markdownReached(&b)
	return b.String()
}

// escapeMarkdown makes text of one line, in which nothing is markup.
var escapeMarkdown = func() *strings.Replacer {
	var pairs []string
	for _, c := range "\\`*_[]<>#|~&@$" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	pairs = append(pairs, "\r", " ", "\n", " ")
	return strings.NewReplacer(pairs...)
}()

// fenceFor is a fence around text that text cannot close.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
