package manifest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	yaml "go.yaml.in/yaml/v3"
)

// Writer writes objects as a stream of YAML.
type Writer struct{ out *yaml.Encoder }

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer {
	out := yaml.NewEncoder(w)
	out.SetIndent(2)
	out.CompactSeqIndent()
	return &Writer{out}
}

// Write writes one object. It must have no apiVersion and kind of its own.
func (w *Writer) Write(apiVersion, kind string, object any) error {
	n, err := toYAML(reflect.ValueOf(object))
	if err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	n.Content = append([]*yaml.Node{text("apiVersion"), text(apiVersion), text("kind"), text(kind)}, n.Content...)
	return w.out.Encode(n)
}

// Close ends the stream.
func (w *Writer) Close() error { return w.out.Close() }

// toYAML renders a value of the Kubernetes API with its fields in the order of
// their declaration. It leaves out exactly what decoding cannot tell from
// absence: nil, and the zero value of a field that is no pointer. An empty
// selector, map or list stays, as {} or []: unlike JSON's omitempty, nothing is
// lost. It answers nil for nil.
func toYAML(v reflect.Value) (*yaml.Node, error) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		return toYAML(v.Elem())
	case reflect.Map, reflect.Slice:
		if v.IsNil() {
			return nil, nil
		}
	}
	switch x := v.Interface().(type) {
	case metav1.Time: // its own marshaling makes null of the zero time and drops fractions
		return text(x.UTC().Format(time.RFC3339Nano)), nil
	case json.Number:
		return plain(x.String()), nil
	case json.Marshaler:
		return fromJSON(x)
	case []byte:
		return text(base64.StdEncoding.EncodeToString(x)), nil
	}
	switch v.Kind() {
	case reflect.Struct:
		n := &yaml.Node{Kind: yaml.MappingNode}
		return n, addFields(n, v)
	case reflect.Map:
		return mapToYAML(v)
	case reflect.Slice:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if v.Len() == 0 {
			n.Style = yaml.FlowStyle
		}
		for i := range v.Len() {
			e, err := elementToYAML(v.Index(i))
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, e)
		}
		return n, nil
	case reflect.String:
		return text(v.String()), nil
	case reflect.Bool:
		return plain(strconv.FormatBool(v.Bool())), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return plain(strconv.FormatInt(v.Int(), 10)), nil
	}
	return fromJSON(v.Interface())
}

// elementToYAML is toYAML where something has to be: null for nil.
func elementToYAML(v reflect.Value) (*yaml.Node, error) {
	n, err := toYAML(v)
	if n == nil && err == nil {
		n = plain("null")
	}
	return n, err
}

func addFields(n *yaml.Node, v reflect.Value) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inline := name == "" && (f.Anonymous || options == "inline")
		switch {
		case name == "-" || !f.IsExported() && !inline || v.Field(i).IsZero():
			continue
		case inline && v.Field(i).Kind() == reflect.Struct:
			if err := addFields(n, v.Field(i)); err != nil {
				return err
			}
			continue
		case name == "":
			name = f.Name
		}
		value, err := toYAML(v.Field(i))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n.Content = append(n.Content, text(name), value)
	}
	return nil
}

func mapToYAML(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		value, err := elementToYAML(v.MapIndex(key))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		n.Content = append(n.Content, text(key.String()), value)
	}
	return n, nil
}

// fromJSON renders what has its own JSON: quantities, ports, raw extensions.
func fromJSON(v any) (*yaml.Node, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var parsed any
	if err := d.Decode(&parsed); err != nil {
		return nil, err
	}
	return elementToYAML(reflect.ValueOf(&parsed).Elem())
}

// plain is a scalar that is no string.
func plain(value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: value}
}

// text is a string: as it is where every YAML parser reads that as the string,
// as a literal block if it has several lines, and quoted otherwise.
func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: s}
	switch {
	case isPlain(s) && n.ShortTag() == "!!str" && !isOldBool(n):
	case isLiteral(s):
		n.Style = yaml.LiteralStyle
	default:
		n.Style = yaml.DoubleQuotedStyle
	}
	n.Tag = "!!str"
	return n
}

func isPlain(s string) bool {
	if s == "" || strings.TrimSpace(s) != s || strings.ContainsRune("-", rune(s[0])) {
		return false
	}
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)):
		case i == 0 && r != '/', !strings.ContainsRune(" -_./+(),;=%", r) && !(r == ':' && isInWord(s, i)):
			return false
		}
	}
	return true
}

// isInWord tells whether no blank and no end follows the byte at i.
func isInWord(s string, i int) bool {
	return i+1 < len(s) && s[i+1] != ' '
}

func isLiteral(s string) bool {
	body := strings.TrimSuffix(s, "\n")
	if !strings.Contains(body, "\n") || strings.HasSuffix(body, "\n") || strings.HasPrefix(body, "\n") || strings.HasPrefix(body, " ") {
		return false
	}
	for _, r := range body {
		if r != '\n' && (!unicode.IsPrint(r) || r == '\ufeff') {
			return false
		}
	}
	return true
}
