// Package words puts numbers and lists in words.
package words

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// Plural is "1 node", "2 nodes".
func Plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Percent is the share of part in whole, 0 to 100.
func Percent(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}

// AnyOf lists nodes of which one is taken, but only a few of many: "a, b or c", or
// "one of 17 nodes".
func AnyOf(nodes []string) string {
	switch n := len(nodes); {
	case n == 1:
		return nodes[0]
	case n <= 3:
		return strings.Join(nodes[:n-1], ", ") + " or " + nodes[n-1]
	default:
		return fmt.Sprintf("one of %d nodes", n)
	}
}

// Some lists at most max names.
func Some(names []string, max int) string {
	if len(names) <= max {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (%d more)", strings.Join(names[:max], ", "), len(names)-max)
}

// Resources is "cpu 1, pods 10", by name.
func Resources(list v1.ResourceList) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		q := list[name]
		all = append(all, fmt.Sprintf("%s %s", name, q.String()))
	}
	return strings.Join(all, ", ")
}

// FirstLine leaves out the stack of a panic.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line)
}

var notInSlugs = regexp.MustCompile(`[^a-z0-9]+`)

// Slug is a text as a name for a file: of lower-case letters, digits and dashes. It
// is cut between words, to 100 of them at most where that can be.
func Slug(text string) string {
	words := strings.Split(strings.Trim(notInSlugs.ReplaceAllString(strings.ToLower(text), "-"), "-"), "-")
	for len(words) > 1 && len(strings.Join(words, "-")) > 100 {
		words = words[:len(words)-1]
	}
	return strings.Join(words, "-")
}

// Lines puts each on a line, but only the first of very many.
func Lines[T fmt.Stringer](all []T) []string {
	const most = 10
	var lines []string
	for i, s := range all {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(all)-most))
			break
		}
		lines = append(lines, s.String())
	}
	return lines
}

// WriteList writes what lines are, and below that a line for each. Nothing is written of no lines.
func WriteList(w io.Writer, indent, what string, lines []string) {
	if len(lines) > 0 {
		fmt.Fprintf(w, "%s%s:\n%s  %s\n", indent, what, indent, strings.Join(lines, "\n"+indent+"  "))
	}
}

// WriteWrapped breaks lines between words. A word that is too long stays whole.
func WriteWrapped(w io.Writer, indent, text string) {
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
