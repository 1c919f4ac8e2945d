// Package table prints tables as kubectl does.
package table

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Table has aligned columns, with three blanks between them.
type Table struct {
	indent string
	rows   [][]string
}

// New makes a table of a header. The indent starts each line.
func New(indent string, header ...string) *Table {
	return &Table{indent, [][]string{header}}
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Empty tells whether there is nothing but the header.
func (t *Table) Empty() bool { return len(t.rows) == 1 }

// WriteText prints the table. No line ends in blanks.
func (t *Table) WriteText(w io.Writer) {
	var aligned bytes.Buffer
	tw := tabwriter.NewWriter(&aligned, 0, 0, 3, ' ', 0)
	for _, cells := range t.rows {
		fmt.Fprintln(tw, t.indent+strings.Join(cells, "\t"))
	}
	tw.Flush()
	for line := range strings.Lines(aligned.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

// WriteCounts prints how often each name was counted, and a blank line; nothing if
// none was.
func WriteCounts(w io.Writer, name, what string, counts iter.Seq2[string, int]) {
	t := New("", name, what)
	for name, count := range counts {
		t.Row(name, fmt.Sprint(count))
	}
	if !t.Empty() {
		t.WriteText(w)
		fmt.Fprintln(w)
	}
}

// Sorted goes through a map in the order of its keys.
func Sorted(counts map[string]int) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			if !yield(name, counts[name]) {
				return
			}
		}
	}
}
