package manifest

import (
	"bytes"
	"strings"
)

// splitJSON hands on the objects of a document that begins with a brace: JSON
// objects one after the other, each of which counts as a document. What is not
// that may still be YAML in flow style, and is left to its parser in one piece.
func (c chunk) splitJSON(emit func(chunk) bool) (more bool, _ *InputError) {
	var objects []jsonObject
	for i := skipSpace(c.data, 0); i < len(c.data); {
		o, ok := scanObject(c.data, i)
		if !ok {
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
		if o.items == nil {
			if more, err := v.emit(emit); err != nil || !more {
				return false, err
			}
			continue
		}
		head := v
		head.data = bytes.Join([][]byte{c.data[o.start:o.itemsStart], c.data[o.itemsEnd:o.end]}, []byte("[]"))
		meta, err := listHead(head)
		if err != nil {
			return false, err
		}
		v.defaults = meta
		at := o.start
		for _, item := range o.items {
			v.item++
			v.line += bytes.Count(c.data[at:item[0]], newline)
			v.data, at = c.data[item[0]:item[1]], item[0]
			if more, err := v.emit(emit); err != nil || !more {
				return false, err
			}
		}
	}
	return true, nil
}

// jsonObject is where an object is in a text; if its field "items" is an array
// that is not empty, also where that and its elements are.
type jsonObject struct {
	start, end           int
	itemsStart, itemsEnd int
	items                [][2]int
}

// scanObject finds the end of the JSON object that begins at i. It only looks at
// quotes and brackets: the objects and items are checked when they are decoded.
func scanObject(data []byte, i int) (o jsonObject, ok bool) {
	if i >= len(data) || data[i] != '{' {
		return o, false
	}
	o.start = i
	for i = skipSpace(data, i+1); i < len(data) && data[i] == '"'; i = skipSpace(data, i+1) {
		end := scanValue(data, i)
		colon := skipSpace(data, end)
		if end < 0 || colon >= len(data) || data[colon] != ':' {
			return o, false
		}
		value := skipSpace(data, colon+1)
		if string(data[i:end]) == `"items"` && o.items == nil && value < len(data) && data[value] == '[' {
			if o.items, i = scanArray(data, value); i < 0 {
				return o, false
			}
			o.itemsStart, o.itemsEnd = value, i
		} else if i = scanValue(data, value); i < 0 {
			return o, false
		}
		if i = skipSpace(data, i); i >= len(data) || data[i] != ',' {
			break
		}
	}
	if i >= len(data) || data[i] != '}' {
		return o, false
	}
	o.end = i + 1
	return o, true
}

// scanArray finds the elements of the JSON array that begins at i, and its end,
// which is -1 if this is no array.
func scanArray(data []byte, i int) (elements [][2]int, end int) {
	if i = skipSpace(data, i+1); i < len(data) && data[i] == ']' {
		return nil, i + 1
	}
	for ; i < len(data); i = skipSpace(data, i+1) {
		end := scanValue(data, i)
		if end < 0 {
			return nil, -1
		}
		elements = append(elements, [2]int{i, end})
		if i = skipSpace(data, end); i >= len(data) {
			break
		}
		switch data[i] {
		case ']':
			return elements, i + 1
		case ',':
		default:
			return nil, -1
		}
	}
	return nil, -1
}

// scanValue finds the end of the JSON value that begins at i: -1 if there is none.
func scanValue(data []byte, i int) int {
	depth := 0
	for start := i; i < len(data); i++ {
		switch data[i] {
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
		case ',', ' ', '\t', '\r', '\n':
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

func skipSpace(data []byte, i int) int {
	for i < len(data) && strings.IndexByte(" \t\r\n", data[i]) >= 0 {
		i++
	}
	return i
}
