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
	paint  func(w io.Writer, cell string) string
}

// New makes a table of a header. The indent starts each line.
func New(indent string, header ...string) *Table {
	return &Table{indent: indent, rows: [][]string{header}}
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// Paint has the last column painted: paint is the cell as it looks like on w.
func (t *Table) Paint(paint func(w io.Writer, cell string) string) { t.paint = paint }

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
	row := 0
	for line := range strings.Lines(aligned.String()) {
		line = strings.TrimRight(line, " \n")
		if t.paint != nil && row > 0 && row < len(t.rows) && len(t.rows[row]) > 0 {
			cells := t.rows[row]
			if last := strings.TrimRight(cells[len(cells)-1], " "); strings.HasSuffix(line, last) {
				line = strings.TrimSuffix(line, last) + t.paint(w, last)
			}
		}
		row++
		fmt.Fprintln(w, line)
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
