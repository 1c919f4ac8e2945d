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
	line := n.Line
	for path = strings.TrimPrefix(path, "."); n != nil; {
		if n.Kind == yaml.SequenceNode {
			index, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
			i, err := strconv.Atoi(index)
			if !ok || err != nil || i < 0 || i >= len(n.Content) {
				break
			}
			n, path = n.Content[i], strings.TrimPrefix(rest, ".")
			line = n.Line
			continue
		}
		// A key may have dots in it: the longest key that fits is meant.
		var value *yaml.Node
		longest := -1
		for i := 0; n.Kind == yaml.MappingNode && i < len(n.Content); i += 2 {
			key := n.Content[i].Value
			for _, form := range []string{key, "[" + key + "]"} {
				rest, ok := strings.CutPrefix(path, form)
				if ok && len(key) > longest && (rest == "" || rest[0] == '.' || rest[0] == '[') {
					longest, line, value = len(key), n.Content[i].Line, n.Content[i+1]
				}
			}
		}
		if value == nil {
			break
		}
		if strings.HasPrefix(path, "[") {
			longest += 2
		}
		n, path = value, strings.TrimPrefix(path[longest:], ".")
	}
	return c.line + line - 1
}

// culprit finds the deepest field whose value alone does not decode into its
// type, for errors of decoders that do not name it (quantities, times).
func culprit(data []byte, t reflect.Type) (path string, err error) {
	target := reflect.New(t)
	if err = json.Unmarshal(data, target.Interface()); err == nil {
		return "", nil
	}
	if _, own := target.Interface().(json.Unmarshaler); own {
		return "", err
	}
	try := func(key string, raw json.RawMessage, t reflect.Type) bool {
		sub, subErr := culprit(raw, t)
		if subErr == nil {
			return false
		}
		switch {
		case sub == "":
		case key == "" || sub[0] == '[':
			key += sub
		default:
			key += "." + sub
		}
		path, err = key, subErr
		return true
	}
	switch t.Kind() {
	case reflect.Pointer:
		return culprit(data, t.Elem())
	case reflect.Slice:
		var elements []json.RawMessage
		if json.Unmarshal(data, &elements) == nil {
			for i, e := range elements {
				if try(fmt.Sprintf("[%d]", i), e, t.Elem()) {
					break
				}
			}
		}
	case reflect.Map, reflect.Struct:
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			break
		}
		types := map[string]reflect.Type{}
		if t.Kind() == reflect.Struct {
			fieldTypes(t, types)
		}
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			field := types[key]
			name := key
			if t.Kind() == reflect.Map {
				field, name = t.Elem(), "["+key+"]"
			}
			if field != nil && try(name, fields[key], field) {
				break
			}
		}
	}
	return path, err
}

// fieldTypes collects the types of a struct's JSON fields, inlined ones too.
func fieldTypes(t reflect.Type, into map[string]reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Type.Kind() == reflect.Struct {
			fieldTypes(f.Type, into)
		} else if name != "" && name != "-" {
			into[name] = f.Type
		}
	}
}
