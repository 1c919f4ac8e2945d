package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"

	yaml "go.yaml.in/yaml/v3"
)

// parseYAML parses one document, which must have a mapping at its top.
func (c chunk) parseYAML() (*yaml.Node, *InputError) {
	dec := yaml.NewDecoder(bytes.NewReader(c.data))
	var doc, next yaml.Node
	if err := dec.Decode(&doc); err != nil {
		e := c.err("%w", err)
		msg := strings.TrimPrefix(err.Error(), "yaml: ")
		if m := yamlLine.FindStringSubmatch(msg); m != nil {
			n, _ := strconv.Atoi(m[1])
			e.Line = c.line + n - 1
			if msg = m[2]; parserError.MatchString(msg) {
				e.Line++ // the library counts these from 0, but the scanner's from 1
			}
		}
		e.Err = errors.New(msg)
		return nil, e
	}
	if err := dec.Decode(&next); !errors.Is(err, io.EOF) {
		return nil, c.err("there is text after the end of the document")
	}
	n := doc.Content[0]
	if c.item > 0 && n.Kind == yaml.SequenceNode && len(n.Content) == 1 {
		n = n.Content[0] // the text of an item has its dash
	}
	if n.Kind != yaml.MappingNode {
		return nil, c.err("this is no Kubernetes object, but %s", describe(n))
	}
	return n, nil
}

var (
	yamlLine    = regexp.MustCompile(`(?s)^line (\d+): (.*)$`)
	parserError = regexp.MustCompile(`^did not find expected (<|node|key|'-'|',')`)
)

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a sequence"
	case yaml.ScalarNode:
		return fmt.Sprintf("the scalar %.20q", n.Value)
	case yaml.MappingNode:
		return "a mapping"
	}
	return "an alias"
}

// toJSON appends the JSON of a YAML node. It reads YAML as kubectl does, except
// that it refuses what has more than one reading or makes a small text large:
// anchors and aliases, tags, merge keys, duplicate keys, and keys that are not
// strings.
func (c chunk) toJSON(out []byte, n *yaml.Node, path *fieldPath) ([]byte, *InputError) {
	fail := func(format string, args ...any) ([]byte, *InputError) {
		e := c.err(format, args...)
		e.Line, e.Field = c.line+n.Line-1, path.String()
		return nil, e
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		return fail("anchors and aliases are not supported")
	case n.Style&yaml.TaggedStyle != 0:
		return fail("the tag %.20q is not supported", n.Tag)
	}
	var err *InputError
	switch n.Kind {
	case yaml.SequenceNode:
		out = append(out, '[')
		for i, e := range n.Content {
			if i > 0 {
				out = append(out, ',')
			}
			if out, err = c.toJSON(out, e, &fieldPath{path, "", i}); err != nil {
				return nil, err
			}
		}
		return append(out, ']'), nil
	case yaml.MappingNode:
		seen := make(map[string]bool, len(n.Content)/2)
		out = append(out, '{')
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if msg := badKey(key); msg != "" {
				n = key
				return fail("%s", msg)
			}
			if seen[key.Value] {
				n = key
				return fail("duplicate key %.60q", key.Value)
			}
			seen[key.Value] = true
			if i > 0 {
				out = append(out, ',')
			}
			out = appendString(out, key.Value)
			out = append(out, ':')
			if out, err = c.toJSON(out, n.Content[i+1], &fieldPath{path, key.Value, -1}); err != nil {
				return nil, err
			}
		}
		return append(out, '}'), nil
	}
	out, scalarErr := appendScalar(out, n)
	if scalarErr != nil {
		return fail("%w", scalarErr)
	}
	return out, nil
}

// fieldPath is the path of a field or an element. It is spelled out for errors only.
type fieldPath struct {
	parent *fieldPath // nil if this is a field of the object itself
	key    string
	index  int // of an element; -1 if this is a field
}

func (p *fieldPath) String() string {
	switch {
	case p == nil:
		return ""
	case p.index >= 0:
		return fmt.Sprintf("%s[%d]", p.parent, p.index)
	case strings.ContainsAny(p.key, "./[]"):
		return fmt.Sprintf("%s[%s]", p.parent, p.key)
	case p.parent == nil:
		return p.key
	}
	return fmt.Sprintf("%s.%s", p.parent, p.key)
}

func badKey(key *yaml.Node) string {
	switch {
	case key.Kind != yaml.ScalarNode:
		return "a key must be a string, not " + describe(key)
	case key.Anchor != "":
		return "anchors and aliases are not supported"
	case key.Tag == "!!merge":
		return "merge keys are not supported"
	case key.Tag != "!!str" && !(key.Tag == "!!int" && isJSONInt(key.Value)) || isOldBool(key):
		return fmt.Sprintf("the key %.20q is not a string: quote it", key.Value)
	}
	return ""
}

// isJSONInt tells whether a number is an integer that is the same in JSON.
func isJSONInt(s string) bool {
	i, err := strconv.ParseInt(s, 10, 64)
	return err == nil && strconv.FormatInt(i, 10) == s
}

// isOldBool tells whether a scalar is one of the booleans of YAML 1.1 that
// kubectl's parser knows and this one does not.
func isOldBool(n *yaml.Node) bool {
	return n.Style == 0 && slices.Contains(oldBools, n.Value)
}

var oldBools = strings.Fields("y Y yes Yes YES on On ON n N no No NO off Off OFF")

func appendScalar(out []byte, n *yaml.Node) ([]byte, error) {
	switch n.Tag {
	case "!!null":
		return append(out, "null"...), nil
	case "!!bool":
		return strconv.AppendBool(out, strings.EqualFold(n.Value, "true")), nil
	case "!!int", "!!float":
		if isJSONInt(n.Value) {
			return append(out, n.Value...), nil
		}
		var v any
		if err := n.Decode(&v); err != nil {
			return nil, err
		}
		if f, ok := v.(float64); ok && (math.IsInf(f, 0) || math.IsNaN(f)) {
			return nil, fmt.Errorf("%s is not a number that Kubernetes knows", n.Value)
		}
		number, err := json.Marshal(v)
		return append(out, number...), err
	}
	if isOldBool(n) {
		return strconv.AppendBool(out, strings.ContainsAny(n.Value[:1], "yY") || strings.EqualFold(n.Value, "on")), nil
	}
	return appendString(out, n.Value), nil
}

func appendString(out []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < ' ' || b == '"' || b == '\\' || b >= 0x7f {
			quoted, _ := json.Marshal(s) // a string always marshals
			return append(out, quoted...)
		}
	}
	return append(append(append(out, '"'), s...), '"')
}

// lineOf finds the line of a field: of the deepest part of the path that exists.
func (c chunk) lineOf(path string) int {
	n, err := c.parseYAML()
	if err != nil {
		return c.line
	}
	return c.line + lineIn(n, strings.TrimPrefix(path, "."), n.Line) - 1
}

// lineIn follows a path from a node, which is in some line.
func lineIn(n *yaml.Node, path string, line int) int {
	var next *yaml.Node
	var rest string
	// A key may have dots in it: the longest key that fits is meant.
	try := func(key string, at int, value *yaml.Node) {
		after, ok := strings.CutPrefix(path, key)
		if ok && (after == "" || after[0] == '.' || after[0] == '[') && (next == nil || len(after) < len(rest)) {
			next, rest, line = value, after, at
		}
	}
	switch n.Kind {
	case yaml.SequenceNode:
		for i, e := range n.Content {
			try(fmt.Sprintf("[%d]", i), e.Line, e)
		}
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			try(n.Content[i].Value, n.Content[i].Line, n.Content[i+1])
			try("["+n.Content[i].Value+"]", n.Content[i].Line, n.Content[i+1])
		}
	}
	if next == nil {
		return line
	}
	return lineIn(next, strings.TrimPrefix(rest, "."), line)
}

// culprit finds the deepest field whose value alone does not decode into an object
// of a type, for errors of decoders that do not name it (quantities, times). alone
// makes the object that holds nothing but v.
func culprit(v any, alone func(v any) any, object reflect.Type) (path string, err error) {
	decode := func(v any) (unknown []error, err error) {
		data, err := json.Marshal(alone(v))
		if err != nil {
			return nil, err
		}
		return kjson.UnmarshalStrict(data, reflect.New(object).Interface())
	}
	if _, err = decode(v); err == nil {
		return "", nil
	}
	switch v := v.(type) {
	case map[string]any:
		unknown, notEvenThis := decode(map[string]any{"": nil})
		for _, key := range slices.Sorted(maps.Keys(v)) {
			sub, subErr := culprit(v[key], func(v any) any { return alone(map[string]any{key: v}) }, object)
			switch {
			case subErr == nil || notEvenThis != nil:
				continue
			case len(unknown) == 0: // the key of a map, and no field
				key = "[" + key + "]"
			}
			return within(key, sub), subErr
		}
	case []any:
		for i, e := range v {
			if sub, subErr := culprit(e, func(v any) any { return alone([]any{v}) }, object); subErr != nil {
				return within(fmt.Sprintf("[%d]", i), sub), subErr
			}
		}
	}
	return "", err
}

// within is the path of what is at inner in what is at outer.
func within(outer, inner string) string {
	if inner == "" || inner[0] == '[' {
		return outer + inner
	}
	return outer + "." + inner
}
