package manifest

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// quick decodes JSON in which nothing is unusual, as almost all of a dump is, in a
// fraction of the time that a strict decoder takes. It knows no errors: it gives up, and
// the strict decoder tells what is wrong, if anything is. So both agree on all that quick
// decodes. Strings that come again and again are shared.
//
// It may be used again, but not by two goroutines at once.
type quick struct {
	data []byte // UTF-8
	at   int

	texts      [1 << 14]string
	quantities [1 << 10]known[resource.Quantity]
	times      [1 << 10]known[metav1.Time]
	fields     []*field  // by member.remembered
	after      []*member // which came last after a member, by member.id
}

var seed = maphash.MakeSeed()

// decode decodes an object into a pointer to a zero value, and tells whether it could.
// If not, the value is of no use.
func (p *quick) decode(data []byte, into any) bool {
	v := reflect.ValueOf(into).Elem()
	c := codecOf(v.Type())
	p.data, p.at = data, 0
	p.space()
	ok := c.decode != nil && p.peek() == '{' && c.decode(p, v)
	p.space()
	ok = ok && p.at == len(p.data)
	p.data = nil
	return ok
}

var quicks = sync.Pool{New: func() any { return new(quick) }}

// decodeQuickly decodes what is plain into a pointer to a zero value. What it could not
// decode is zero again.
func decodeQuickly(data []byte, into any) bool {
	p := quicks.Get().(*quick)
	defer quicks.Put(p)
	if p.decode(data, into) {
		return true
	}
	reflect.ValueOf(into).Elem().SetZero()
	return false
}

// peek is the next byte, or 0 at the end.
func (p *quick) peek() byte {
	if p.at < len(p.data) {
		return p.data[p.at]
	}
	return 0
}

func (p *quick) space() {
	for p.at < len(p.data) {
		switch p.data[p.at] {
		case ' ':
			p.at = skipBlanks(p.data, p.at)
		case '\n', '\t', '\r':
			p.at++
		default:
			return
		}
	}
}

// next takes a byte, and the space behind it.
func (p *quick) next(b byte) bool {
	if p.peek() != b {
		return false
	}
	p.at++
	p.space()
	return true
}

func (p *quick) null() bool {
	if bytes.HasPrefix(p.data[p.at:], []byte("null")) {
		p.at += len("null")
		return true
	}
	return false
}

// quoted takes a string, and answers with what is between its quotes: to be used before
// anything else is taken, and to be unquoted if it is escaped.
func (p *quick) quoted() (text []byte, escaped, ok bool) {
	if p.peek() != '"' {
		return nil, false, false
	}
	start := p.at + 1
	for i := start; i < len(p.data); i++ {
		switch c := p.data[i]; {
		case c == '"':
			p.at = i + 1
			return p.data[start:i], escaped, true
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return nil, false, false
		}
	}
	return nil, false, false
}

// longest is the length from which on a string is taken to be the only one of its kind.
const longest = 128

func (p *quick) text() (string, bool) {
	text, escaped, ok := p.quoted()
	switch {
	case !ok:
		return "", false
	case escaped:
		var s string
		err := json.Unmarshal(p.data[p.at-len(text)-2:p.at], &s)
		return s, err == nil
	case len(text) == 0:
		return "", true
	case len(text) > longest:
		return string(text), true
	}
	at := &p.texts[maphash.Bytes(seed, text)%uint64(len(p.texts))]
	if *at != string(text) {
		*at = string(text)
	}
	return *at, true
}

var (
	codecsLock sync.Mutex
	codecs     = map[reflect.Type]*codec{}
	// memberCount counts members, rememberedCount those that have a copy.
	memberCount, rememberedCount int
	unmarshaler                  = reflect.TypeFor[json.Unmarshaler]()
	textual                      = reflect.TypeFor[interface{ UnmarshalText([]byte) error }]()
)

// list takes what is between two brackets: element is called at each.
func (p *quick) list(last byte, element func() bool) bool {
	p.at++
	p.space()
	if p.peek() == last {
		p.at++
		return true
	}
	for {
		if !element() {
			return false
		}
		p.space()
		if p.peek() == last {
			p.at++
			return true
		}
		if !p.next(',') {
			return false
		}
	}
}

func (p *quick) key() (string, bool) {
	s, ok := p.text()
	p.space()
	return s, ok && p.next(':')
}
