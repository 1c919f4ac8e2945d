package manifest

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// splitJSON hands on the objects of a document that begins with a brace: JSON
// objects one after the other, each of which counts as a document. What is not
// that may still be YAML in flow style, and is left to its parser in one piece.
func (c chunk) splitJSON(emit func(chunk) bool) (more bool, _ *InputError) {
	var objects []element
	for i := skipSpace(c.data, 0); i < len(c.data); {
		o := element{start: i}
		if o.within, o.end = elements(c.data, i); o.end < 0 || c.data[i] != '{' {
			return c.emit(emit)
		}
		objects = append(objects, o)
		i = skipSpace(c.data, o.end)
	}
	for n, o := range objects {
		v := c
		v.json = true
		v.document += n
		v.line += bytes.Count(c.data[:o.start], newline)
		v.data = c.data[o.start:o.end]
		list := slices.IndexFunc(o.within, func(field element) bool { return len(field.within) > 0 })
		if list < 0 {
			if more, err := v.emit(emit); err != nil || !more {
				return false, err
			}
			continue
		}
		items := o.within[list]
		head := v
		head.data = bytes.Join([][]byte{c.data[o.start:items.start], c.data[items.end:o.end]}, []byte("[]"))
		meta, err := listHead(head)
		if err != nil {
			return false, err
		}
		v.defaults = meta
		at := o.start
		for _, item := range items.within {
			v.item++
			v.line += bytes.Count(c.data[at:item.start], newline)
			v.data, at = c.data[item.start:item.end], item.start
			if more, err := v.emit(emit); err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

// element is where a JSON value is in a text, and where the elements are that it
// was cut into: those of the array "items".
type element struct {
	start, end int
	within     []element
}

// elements finds the values in the JSON object or array that begins at i, and its
// end: -1 if this is none. It only looks at quotes and brackets: the objects and
// items are checked when they are decoded.
func elements(data []byte, i int) (list []element, end int) {
	isObject, last := data[i] == '{', data[i]+2 // the bracket that closes it
	for i = skipSpace(data, i+1); i < len(data); i = skipSpace(data, i+1) {
		if data[i] == last && (isObject || list == nil) {
			return list, i + 1
		}
		isItems := false
		if isObject {
			if data[i] != '"' {
				return nil, -1
			}
			end := scanValue(data, i)
			colon := skipSpace(data, end)
			if end < 0 || colon >= len(data) || data[colon] != ':' {
				return nil, -1
			}
			isItems = string(data[i:end]) == `"items"`
			i = skipSpace(data, colon+1)
		}
		e := element{start: i}
		if isItems && i < len(data) && data[i] == '[' {
			e.within, e.end = elements(data, i)
		} else {
			e.end = scanValue(data, i)
		}
		if e.end < 0 {
			return nil, -1
		}
		list = append(list, e)
		switch i = skipSpace(data, e.end); {
		case i < len(data) && data[i] == last:
			return list, i + 1
		case i >= len(data) || data[i] != ',':
			return nil, -1
		}
	}
	return nil, -1
}

// headOf is the apiVersion and kind of an object that begins with these two, as kubectl
// prints it; else it is empty. What comes after is not looked at.
func headOf(data []byte) (head typeMeta) {
	at := 0
	for _, before := range []byte("{,") {
		if at == len(data) || data[at] != before {
			return typeMeta{}
		}
		key, end := word(data, skipSpace(data, at+1))
		if end == len(data) || data[end] != ':' {
			return typeMeta{}
		}
		value, end := word(data, skipSpace(data, end+1))
		switch {
		case len(value) == 0:
			return typeMeta{}
		case string(key) == "apiVersion" && head.APIVersion == "":
			head.APIVersion = string(value)
		case string(key) == "kind" && head.Kind == "":
			head.Kind = string(value)
		default:
			return typeMeta{}
		}
		at = end
	}
	return head
}

// word is the text of a string at i that has nothing but letters, digits and ".", "/", "-" and
// "_" in it, and where what comes behind it and its space begins; else there is none.
func word(data []byte, i int) (text []byte, end int) {
	if i == len(data) || data[i] != '"' {
		return nil, i
	}
	start := i + 1
	for i = start; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			return data[start:i], skipSpace(data, i+1)
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '/', c == '-', c == '_':
		default:
			return nil, i
		}
	}
	return nil, i
}

// scanValue finds the end of the JSON value that begins at i: -1 if there is none.
func scanValue(data []byte, i int) int {
	depth := 0
	for start := i; i < len(data); i++ {
		switch data[i] {
		case ' ':
			if depth == 0 && i > start {
				return i
			}
			i = skipBlanks(data, i) - 1
			continue
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
			if i >= len(data) {
				return -1
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
			if depth < 0 && i > start {
				return i // the end of a number, true, false or null
			}
		case ',', '\t', '\r', '\n':
			if depth == 0 && i > start {
				return i
			}
			continue
		default:
			continue
		}
		if depth <= 0 {
			return i + 1
		}
	}
	return -1
}

// skipBlanks skips the blanks of an indented line, eight at a time.
func skipBlanks(data []byte, i int) int {
	for i+8 <= len(data) && binary.LittleEndian.Uint64(data[i:]) == eightBlanks {
		i += 8
	}
	for i < len(data) && data[i] == ' ' {
		i++
	}
	return i
}

const eightBlanks = 0x2020202020202020

func skipSpace(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(" \t\r\n", data[i]) >= 0 {
		i++
	}
	return i
}
