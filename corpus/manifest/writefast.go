package manifest

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// FastWriter writes objects as a stream of YAML, as Writer does but for long texts, in a tenth
// of the time and without keeping anything of them: for whole clusters.
type FastWriter struct {
	out   io.Writer
	begun bool
	doc   bytes.Buffer
}

// NewFastWriter returns a FastWriter to w.
func NewFastWriter(w io.Writer) *FastWriter { return &FastWriter{out: w} }

// Write writes one object. It must have no apiVersion and kind of its own.
func (w *FastWriter) Write(apiVersion, kind string, object any) error {
	n, err := toYAML(reflect.ValueOf(object))
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	n.Content = append([]*yaml.Node{text("apiVersion"), text(apiVersion), text("kind"), text(kind)}, n.Content...)
	w.doc.Reset()
	if w.begun {
		w.doc.WriteString("---\n")
	}
	w.begun = true
	if err := blockTo(&w.doc, n, 0); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	_, err = w.out.Write(w.doc.Bytes())
	return err
}

// Close ends the stream.
func (w *FastWriter) Close() error { return nil }

const blanks = "                                                                "

// blockTo writes the entries of a mapping, each on lines of its own; the first where
// the line is already.
func blockTo(b *bytes.Buffer, n *yaml.Node, indent int) error {
	for i := 0; i < len(n.Content); i += 2 {
		if i > 0 {
			indentTo(b, indent)
		}
		scalarTo(b, n.Content[i])
		b.WriteByte(':')
		value := n.Content[i+1]
		var err error
		switch {
		case value.Kind == yaml.MappingNode && len(value.Content) > 0:
			b.WriteByte('\n')
			indentTo(b, indent+2)
			err = blockTo(b, value, indent+2)
		case value.Kind == yaml.SequenceNode && len(value.Content) > 0:
			b.WriteByte('\n')
			err = itemsTo(b, value, indent)
		case value.Kind == yaml.ScalarNode:
			b.WriteByte(' ')
			scalarTo(b, value)
			b.WriteByte('\n')
		default: // an empty one
			b.WriteByte(' ')
			err = jsonTo(b, value)
			b.WriteByte('\n')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// itemsTo writes the elements of a list, each on lines of its own.
func itemsTo(b *bytes.Buffer, n *yaml.Node, indent int) error {
	for _, e := range n.Content {
		indentTo(b, indent)
		b.WriteString("- ")
		var err error
		switch {
		case e.Kind == yaml.MappingNode && len(e.Content) > 0:
			err = blockTo(b, e, indent+2)
		case e.Kind == yaml.ScalarNode:
			scalarTo(b, e)
			b.WriteByte('\n')
		default:
			err = jsonTo(b, e)
			b.WriteByte('\n')
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func indentTo(b *bytes.Buffer, indent int) {
	for ; indent > len(blanks); indent -= len(blanks) {
		b.WriteString(blanks)
	}
	b.WriteString(blanks[:indent])
}

// scalarTo writes a text or another scalar. The escapes of Go are those of YAML.
func scalarTo(b *bytes.Buffer, n *yaml.Node) {
	if n.Tag != "!!str" || n.Style == 0 && !strings.Contains(n.Value, "\n") {
		b.WriteString(n.Value)
		return
	}
	b.WriteString(strconv.QuoteToASCII(n.Value))
}
