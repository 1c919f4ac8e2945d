package corpus

import (
	"bytes"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// blockToJSON is the short way from the YAML that kubectl prints to JSON, five
// times as fast as the parser. It knows block mappings and sequences, plain and
// quoted scalars, and literal blocks. At anything else it gives
// up, and so at everything that is wrong or has a second reading: the parser
// decides then. Where it does not give up, its result is that of the parser.
func blockToJSON(text []byte) (out []byte, meta typeMeta, ok bool) {
	if !bytes.HasSuffix(text, newline) {
		return nil, meta, false // what a block at the end means depends on it
	}
	p := blockParser{rest: text, out: make([]byte, 0, len(text))}
	p.next()
	if p.line == nil {
		return nil, meta, false
	}
	if p.line[0] == '-' { // an item of a List
		at := p.indent
		p.dash()
		p.top = p.indent
		p.mapping(at)
	} else {
		p.top = p.indent
		p.mapping(-1)
	}
	return p.out, p.meta, !p.failed && p.line == nil && p.meta.APIVersion != "" && p.meta.Kind != ""
}

type blockParser struct {
	rest   []byte // after the line
	line   []byte // without its indentation and its line break; nil at the end
	indent int
	out    []byte
	failed bool
	// top is the indentation of the object's own fields, of which meta is kept.
	top  int
	meta typeMeta
}

// next goes to the next line that is not empty, and counts those that are.
func (p *blockParser) next() (empty int) {
	for p.line = nil; len(p.rest) > 0; empty++ {
		if p.take(); len(p.line) > 0 {
			return empty
		}
	}
	p.line = nil
	return empty
}

// take goes to the next line.
func (p *blockParser) take() {
	end := nextLine(p.rest, 0)
	line := bytes.TrimSuffix(p.rest[:end], newline)
	p.rest = p.rest[end:]
	for _, b := range line {
		if b < ' ' || b >= 0x7f {
			p.failed = true
		}
	}
	p.indent = indent(line)
	p.line = line[p.indent:]
}

// dash goes past the dash of an item.
func (p *blockParser) dash() {
	if p.line = p.line[1:]; indent(p.line) != 1 || len(p.line) == 1 {
		p.fail() // the item is on the next line, or indented in another way
		return
	}
	p.line = p.line[1:]
	p.indent += 2
}

func (p *blockParser) fail() {
	p.failed, p.line, p.rest = true, nil, nil
}

// key splits the line "key: value"; value is nil if there is none.
func (p *blockParser) key() (key, value []byte, ok bool) {
	colon := bytes.IndexByte(p.line, ':')
	if colon <= 0 || colon > 512 || colon+1 < len(p.line) && p.line[colon+1] != ' ' {
		return nil, nil, false
	}
	key = p.line[:colon]
	for i, b := range key {
		if !isLetter(b) && (i == 0 || !isDigit(b) && strings.IndexByte("-_./", b) < 0) {
			return nil, nil, false
		}
	}
	return key, bytes.TrimLeft(p.line[colon+1:], " "), true
}

// mapping renders the mapping that begins at the line, which must be indented
// more than its parent.
func (p *blockParser) mapping(parent int) {
	at := p.indent
	seen := stringSet{}
	p.out = append(p.out, '{')
	for n := 0; p.line != nil && p.indent == at; n++ {
		key, value, ok := p.key()
		if !ok || at <= parent || mayResolve(key) && tagOf(key) != "!!str" || !seen.add(string(key)) {
			p.fail()
			return
		}
		if n > 0 {
			p.out = append(p.out, ',')
		}
		p.out = append(append(append(p.out, '"'), key...), '"', ':')
		if len(value) > 0 {
			start := len(p.out)
			p.value(value, at)
			if at == p.top {
				p.meta.set(string(key), p.out[start:])
			}
			continue
		}
		switch p.next(); {
		case p.line == nil || p.indent < at:
			p.fail() // no value at all
		case isDash(p.line):
			p.sequence(at)
		case p.indent > at:
			p.mapping(at)
		default:
			p.fail()
		}
	}
	if p.line != nil && p.indent > parent {
		p.fail() // indented less than the mapping, but more than its parent
	}
	p.out = append(p.out, '}')
}

// set keeps the JSON value of a field if it is a string without escapes.
func (m *typeMeta) set(key string, value []byte) {
	if len(value) < 2 || value[0] != '"' || bytes.IndexByte(value, '\\') >= 0 {
		return
	}
	switch s := string(value[1 : len(value)-1]); key {
	case "apiVersion":
		m.APIVersion = s
	case "kind":
		m.Kind = s
	}
}

func isDash(line []byte) bool {
	return line[0] == '-' && (len(line) == 1 || line[1] == ' ')
}

func (p *blockParser) sequence(parent int) {
	at := p.indent
	p.out = append(p.out, '[')
	for n := 0; p.line != nil && p.indent == at && isDash(p.line); n++ {
		if n > 0 {
			p.out = append(p.out, ',')
		}
		if p.dash(); p.failed {
			return
		}
		if _, _, ok := p.key(); ok {
			p.mapping(at)
		} else {
			p.value(p.line, at)
		}
	}
	if p.line != nil && p.indent > parent {
		p.fail()
	}
	p.out = append(p.out, ']')
}

// value renders a value that begins on the line of its key or dash, which is
// indented by at, and goes to the line after it.
func (p *blockParser) value(v []byte, at int) {
	if v[0] == '|' {
		p.literal(string(v), at)
		return
	}
	v = p.fold(v, at)
	last := v[len(v)-1]
	switch first := v[0]; {
	case string(v) == "{}" || string(v) == "[]":
		p.out = append(p.out, v...)
	case first == '"' && len(v) > 1 && last == '"':
		if !isJSONString(v[1 : len(v)-1]) {
			p.fail()
		}
		p.out = append(p.out, v...)
	case first == '\'' && len(v) > 1 && last == '\'':
		inner := string(v[1 : len(v)-1])
		if strings.Count(inner, "'") != 2*strings.Count(inner, "''") {
			p.fail()
		}
		p.out = appendString(p.out, strings.ReplaceAll(inner, "''", "'"))
	case isLetter(first) || isDigit(first) || first == '/' || first == '-' && len(v) > 1 && v[1] != ' ':
		if last == ':' || bytes.Contains(v, []byte(": ")) || bytes.Contains(v, []byte(" #")) || !p.plain(v) {
			p.fail()
		}
	default:
		p.fail()
	}
}

// fold goes to the line after a scalar and joins the lines that the scalar goes
// on for. Two scalars joined by mistake are seen by the quotes between them.
func (p *blockParser) fold(v []byte, at int) []byte {
	for {
		if v[len(v)-1] == ' ' {
			p.fail()
			return v
		}
		empty := p.next()
		if p.line == nil || p.indent <= at {
			return v
		}
		if empty > 0 {
			p.fail()
			return v
		}
		v = append(append(v[:len(v):len(v)], ' '), p.line...)
	}
}

// plain renders a plain scalar.
func (p *blockParser) plain(v []byte) bool {
	if !mayResolve(v) {
		p.out = appendString(p.out, string(v))
		return true
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	n.Tag = n.ShortTag()
	out, err := appendScalar(p.out, n)
	p.out = out
	return err == nil
}

// mayResolve tells whether a plain scalar could be anything but a string.
func mayResolve(v []byte) bool {
	return !isLetter(v[0]) && v[0] != '/' || len(v) <= 5 && strings.IndexByte("yYnNtTfFoO", v[0]) >= 0
}

func tagOf(v []byte) string {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	if isOldBool(n) {
		return "!!bool"
	}
	return n.ShortTag()
}

// literal renders a literal block below a line that is indented by at.
func (p *blockParser) literal(header string, at int) {
	if header != "|" && header != "|-" {
		p.fail()
		return
	}
	p.take()
	block := p.indent
	if len(p.line) == 0 || block <= at {
		p.fail()
		return
	}
	var text []byte
	blank := 0
	for ; ; p.take() {
		if len(p.line) > 0 {
			if p.indent < block {
				break
			}
			for ; blank > 0; blank-- {
				text = append(text, '\n')
			}
			text = append(text, strings.Repeat(" ", p.indent-block)...)
			text = append(append(text, p.line...), '\n')
		} else if blank++; p.indent > block {
			p.fail()
			return
		}
		if len(p.rest) == 0 {
			p.line = nil
			break
		}
	}
	if p.line != nil && p.indent > at {
		p.fail()
		return
	}
	if header == "|-" {
		text = bytes.TrimSuffix(text, newline)
	}
	p.out = appendString(p.out, string(text))
}

// isJSONString tells whether what is between double quotes means the same in
// YAML and in JSON.
func isJSONString(s []byte) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return false
		case '\\':
			if i++; i == len(s) || strings.IndexByte(`"\/nt`, s[i]) < 0 {
				return false
			}
		}
	}
	return true
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
