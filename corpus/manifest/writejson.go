package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	yaml "go.yaml.in/yaml/v3"
)

// JSONWriter writes objects as one List of JSON, an item on each line.
type JSONWriter struct {
	out   io.Writer
	begun bool
	line  bytes.Buffer
}

// NewJSONWriter returns a JSONWriter to w.
func NewJSONWriter(w io.Writer) *JSONWriter { return &JSONWriter{out: w} }

// Write writes one object. It must have no apiVersion and kind of its own.
func (w *JSONWriter) Write(apiVersion, kind string, object any) error {
	n, err := toYAML(reflect.ValueOf(object))
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	n.Content = append([]*yaml.Node{text("apiVersion"), text(apiVersion), text("kind"), text(kind)}, n.Content...)
	w.line.Reset()
	w.begin()
	if err := jsonTo(&w.line, n); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	_, err = w.out.Write(w.line.Bytes())
	return err
}

// begin begins the list, or the next item.
func (w *JSONWriter) begin() {
	if w.begun {
		w.line.WriteString(",\n")
	} else {
		w.line.WriteString(`{"apiVersion": "v1", "kind": "List", "items": [` + "\n")
	}
	w.begun = true
}

// Close ends the list.
func (w *JSONWriter) Close() error {
	end := "\n]}\n"
	if !w.begun {
		end = `{"apiVersion": "v1", "kind": "List", "items": []}` + "\n"
	}
	_, err := io.WriteString(w.out, end)
	return err
}

// jsonTo writes what toYAML made.
func jsonTo(b *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		b.WriteByte('{')
		for i := 0; i < len(n.Content); i += 2 {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := jsonTo(b, n.Content[i]); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := jsonTo(b, n.Content[i+1]); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, e := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := jsonTo(b, e); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case yaml.ScalarNode:
		if n.Tag != "!!str" {
			b.WriteString(n.Value)
			return nil
		}
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if err := e.Encode(n.Value); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the newline that ends it
	default:
		return fmt.Errorf("a node of kind %d", n.Kind)
	}
	return nil
}
