package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// format is the value of -o.
type format string

const text format = "text"

func (f *format) String() string { return string(*f) }
func (*format) Type() string     { return "format" }

func (f *format) Set(s string) error {
	switch s {
	case "text", "json", "yaml":
		*f = format(s)
		return nil
	}
	return fmt.Errorf("must be text, json or yaml")
}

func outputFlag(cmd *cobra.Command, f *format) {
	*f = text
	cmd.Flags().VarP(f, "output", "o", "text, json or yaml")
}

// print writes data as JSON or YAML, or calls asText for people.
func (f format) print(w io.Writer, data any, asText func(io.Writer)) error {
	switch f {
	case "json":
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(data)
	case "yaml":
		out, err := yaml.Marshal(data)
		if err == nil {
			_, err = w.Write(out)
		}
		return err
	}
	asText(w)
	return nil
}

// table aligns rows as kubectl does: three blanks between columns.
type table struct {
	indent string
	rows   [][]string
}

func newTable(indent string, header ...string) *table {
	return &table{indent, [][]string{header}}
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) write(w io.Writer) {
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

// plural is "1 node", "2 nodes".
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// anyOf lists names for people, but only a few of many: "a, b or c", or "one of
// 17 nodes".
func anyOf(names []string) string {
	switch n := len(names); {
	case n == 1:
		return names[0]
	case n <= 3:
		return strings.Join(names[:n-1], ", ") + " or " + names[n-1]
	default:
		return fmt.Sprintf("one of %d nodes", n)
	}
}

// some lists at most max names.
func some(names []string, max int) string {
	if len(names) <= max {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (%d more)", strings.Join(names[:max], ", "), len(names)-max)
}
