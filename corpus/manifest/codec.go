package manifest

import (
	"encoding/json"
	"hash/maphash"
	"math"
	"reflect"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// known is what a text was decoded to.
type known[T any] struct {
	text  string
	value T
}

// codec decodes values of one type. A nil function knows none.
type codec struct {
	decode func(*quick, reflect.Value) bool
}

func codecOf(t reflect.Type) *codec {
	codecsLock.Lock()
	defer codecsLock.Unlock()
	return newCodec(t)
}

// newCodec makes the codec of a type and those of all types in it, which may be in one
// another.
func newCodec(t reflect.Type) *codec {
	if c := codecs[t]; c != nil {
		return c
	}
	c := &codec{}
	codecs[t] = c
	pointer := reflect.PointerTo(t)
	switch {
	case t == reflect.TypeFor[resource.Quantity]():
		c.decode = decodeQuantity
	case t == reflect.TypeFor[metav1.Time]():
		c.decode = decodeTime
	case t.Kind() == reflect.Pointer:
		c.decode = pointerTo(t)
	case pointer.Implements(unmarshaler):
		c.decode = decodeByItself
	case pointer.Implements(textual):
	case t.Kind() == reflect.Struct:
		c.decode = structOf(t)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		c.decode = sliceOf(t)
	case t == reflect.TypeFor[map[string]string]():
		c.decode = decodeStrings
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && !reflect.PointerTo(t.Key()).Implements(textual):
		c.decode = mapOf(t)
	case t.Kind() == reflect.String:
		c.decode = decodeString
	case t.Kind() == reflect.Bool:
		c.decode = decodeBool
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int32, t.Kind() == reflect.Int64:
		c.decode = decodeInt
	}
	return c
}

func decodeString(p *quick, v reflect.Value) bool {
	if p.null() {
		return true
	}
	s, ok := p.text()
	v.SetString(s)
	return ok
}

func decodeBool(p *quick, v reflect.Value) bool {
	for _, is := range []bool{false, true} {
		if text := strconv.FormatBool(is); strings.HasPrefix(string(p.data[p.at:min(p.at+len(text), len(p.data))]), text) {
			p.at += len(text)
			v.SetBool(is)
			return true
		}
	}
	return p.null()
}

func decodeInt(p *quick, v reflect.Value) bool {
	if p.null() {
		return true
	}
	start, n := p.at, int64(0)
	negative := p.peek() == '-'
	if negative {
		p.at++
	}
	first := p.at
	for ; p.peek() >= '0' && p.peek() <= '9'; p.at++ {
		if n > (math.MaxInt64-9)/10 {
			return false
		}
		n = 10*n + int64(p.peek()-'0')
	}
	if p.at == first || p.data[first] == '0' && p.at > first+1 || p.at == start {
		return false // none, or one that begins with 0
	}
	if negative {
		n = -n
	}
	if v.OverflowInt(n) {
		return false
	}
	v.SetInt(n)
	return true // what comes next is no part of a number, or the list has no next element
}

// decodeOnce decodes a string by the type's own function, unless it did so before.
func decodeOnce[T any](p *quick, all []known[T], into *T, decode func([]byte) error) bool {
	start := p.at
	text, escaped, ok := p.quoted()
	if !ok || escaped {
		return false
	}
	k := &all[maphash.Bytes(seed, text)%uint64(len(all))]
	if k.text != string(text) || k.text == "" {
		if decode(p.data[start:p.at]) != nil {
			return false
		}
		k.text, k.value = string(text), *into
	}
	*into = k.value
	return true
}

func decodeTime(p *quick, v reflect.Value) bool {
	t := v.Addr().Interface().(*metav1.Time)
	return p.null() || decodeOnce(p, p.times[:], t, t.UnmarshalJSON)
}

func decodeQuantity(p *quick, v reflect.Value) bool {
	q := v.Addr().Interface().(*resource.Quantity)
	decode := func(text []byte) error {
		if err := checkExponent(string(text)); err != nil {
			return err
		}
		return q.UnmarshalJSON(text)
	}
	if !decodeOnce(p, p.quantities[:], q, decode) {
		return false
	}
	*q = q.DeepCopy() // it may hold a pointer
	return true
}

// decodeByItself decodes a string or a number by the type's own function.
func decodeByItself(p *quick, v reflect.Value) bool {
	start := p.at
	if p.peek() == '"' {
		if _, _, ok := p.quoted(); !ok {
			return false
		}
	} else {
		for c := p.peek(); c == '-' || c >= '0' && c <= '9'; c = p.peek() {
			p.at++
		}
	}
	text := p.data[start:p.at]
	return json.Valid(text) && v.Addr().Interface().(json.Unmarshaler).UnmarshalJSON(text) == nil
}

func pointerTo(t reflect.Type) func(*quick, reflect.Value) bool {
	element := newCodec(t.Elem())
	return func(p *quick, v reflect.Value) bool {
		if p.null() {
			return true
		}
		if element.decode == nil {
			return false
		}
		to := reflect.New(t.Elem())
		v.Set(to)
		return element.decode(p, to.Elem())
	}
}

func sliceOf(t reflect.Type) func(*quick, reflect.Value) bool {
	element := newCodec(t.Elem())
	return func(p *quick, v reflect.Value) bool {
		if p.peek() != '[' {
			return p.null()
		}
		if element.decode == nil {
			return false
		}
		v.Set(reflect.MakeSlice(t, 0, 0))
		return p.list(']', func() bool {
			n := v.Len()
			if n == v.Cap() {
				v.Grow(max(1, n)) // most lists are short
			}
			v.SetLen(n + 1)
			return element.decode(p, v.Index(n))
		})
	}
}

func decodeStrings(p *quick, v reflect.Value) bool {
	if p.peek() != '{' {
		return p.null()
	}
	m := map[string]string{}
	*v.Addr().Interface().(*map[string]string) = m
	return p.list('}', func() bool {
		key, ok := p.key()
		if _, twice := m[key]; !ok || twice {
			return false
		}
		m[key], ok = p.text()
		return ok
	})
}

func mapOf(t reflect.Type) func(*quick, reflect.Value) bool {
	element := newCodec(t.Elem())
	return func(p *quick, v reflect.Value) bool {
		if p.peek() != '{' {
			return p.null()
		}
		if element.decode == nil {
			return false
		}
		v.Set(reflect.MakeMap(t))
		value := reflect.New(t.Elem()).Elem()
		return p.list('}', func() bool {
			text, ok := p.key()
			if !ok {
				return false
			}
			key := reflect.ValueOf(text).Convert(t.Key())
			value.SetZero()
			if v.MapIndex(key).IsValid() || !element.decode(p, value) {
				return false
			}
			v.SetMapIndex(key, value)
			return true
		})
	}
}

// member is a field of a struct, or of one that is embedded in it.
type member struct {
	id    int // counts all members of all structs
	name  string
	index []int
	codec *codec
	bit   uint64
	// copy copies a value of a field that is remembered: as which of all is remembered.
	copy       func(to, from any)
	remembered int
}

func structOf(t reflect.Type) func(*quick, reflect.Value) bool {
	members := map[string]*member{}
	if !addMembers(t, nil, members) || len(members) > 64 {
		return nil
	}
	first := newMember("")
	return func(p *quick, v reflect.Value) bool {
		if p.peek() != '{' {
			return p.null()
		}
		seen, before := uint64(0), first
		return p.list('}', func() bool {
			name, escaped, ok := p.quoted()
			m := p.following(before)
			if m == nil || m.name != string(name) { // most often they come in the same order
				if m = members[string(name)]; m != nil {
					p.after[before.id] = m
				}
			}
			if !ok || escaped || m == nil || m.codec.decode == nil || seen&m.bit != 0 {
				return false
			}
			seen |= m.bit
			before = m
			p.space()
			if !p.next(':') {
				return false
			}
			to := v
			for _, i := range m.index {
				to = to.Field(i)
			}
			if m.copy != nil {
				return p.decodeField(m, to)
			}
			return m.codec.decode(p, to)
		})
	}
}

// following is the member that came last after another one of its struct, if any.
func (p *quick) following(m *member) *member {
	for len(p.after) <= m.id {
		p.after = append(p.after, nil)
	}
	return p.after[m.id]
}

func newMember(name string) *member {
	memberCount++
	return &member{id: memberCount - 1, name: name}
}

// addMembers adds the fields of a struct, and tells whether there is nothing unusual
// about their names.
func addMembers(t reflect.Type, index []int, members map[string]*member) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		its := append(append([]int(nil), index...), i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && f.Type.Kind() == reflect.Struct && f.IsExported():
			if !addMembers(f.Type, its, members) {
				return false
			}
			continue
		case !f.IsExported() && !f.Anonymous, name == "-":
			continue
		case name == "", strings.Contains(options, "string"), members[name] != nil:
			return false
		}
		m := newMember(name)
		m.index, m.codec, m.bit = its, newCodec(f.Type), 1<<len(members)
		if m.copy = copiers[f.Type]; m.copy != nil {
			m.remembered = rememberedCount
			rememberedCount++
		}
		members[name] = m
	}
	return true
}
