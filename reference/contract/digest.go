package contract

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// digest is a line for each of the things that Filter must not change: the pod, the snapshot, and the nodes of the state.
func (x *session) digest(st *state) string {
	var lines []string
	add := func(name string, v any) {
		lines = append(lines, fmt.Sprintf("%s %x", name, sha256.Sum256(dumped(v))))
	}
	add("pod", x.preemptor)
	add("snapshot", x.snapshot)
	if st != nil {
		for _, name := range slices.Sorted(maps.Keys(st.nodes)) {
			add("node "+name, st.nodes[name])
		}
	}
	return strings.Join(lines, "\n")
}

// dumped is all that a value holds, unexported fields included, as text: the same for what holds the same.
func dumped(v any) []byte {
	d := &dump{seen: map[visit]int{}}
	d.write(reflect.ValueOf(v))
	return d.text.Bytes()
}

// dump is a value that is being written down.
type dump struct {
	text bytes.Buffer
	seen map[visit]int // what pointers lead to, by when it was come by first
}

type visit struct {
	address uintptr
	of      reflect.Type
}

func (d *dump) write(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		d.text.WriteString("nil;")
	case reflect.Bool:
		fmt.Fprintf(&d.text, "%t;", v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		fmt.Fprintf(&d.text, "%d;", v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		fmt.Fprintf(&d.text, "%d;", v.Uint())
	case reflect.Float32, reflect.Float64:
		fmt.Fprintf(&d.text, "%x;", v.Float())
	case reflect.Complex64, reflect.Complex128:
		fmt.Fprintf(&d.text, "%x;", v.Complex())
	case reflect.String:
		fmt.Fprintf(&d.text, "%q;", v.String())
	case reflect.Interface:
		if !v.IsNil() {
			d.text.WriteString(v.Elem().Type().String())
		}
		d.write(v.Elem())
	case reflect.Pointer:
		d.pointer(v)
	case reflect.Struct:
		d.text.WriteByte('{')
		for i := range v.NumField() {
			d.write(v.Field(i))
		}
		d.text.WriteByte('}')
	case reflect.Slice, reflect.Array:
		fmt.Fprintf(&d.text, "[%d:", v.Len())
		for i := range v.Len() {
			d.write(v.Index(i))
		}
		d.text.WriteByte(']')
	case reflect.Map:
		d.entries(v)
	default: // functions and channels
		fmt.Fprintf(&d.text, "%x;", v.Pointer())
	}
}

// pointer writes what a pointer leads to, the first time.
func (d *dump) pointer(v reflect.Value) {
	if v.IsNil() {
		d.text.WriteString("nil;")
		return
	}
	to := visit{v.Pointer(), v.Type()}
	if n, again := d.seen[to]; again {
		fmt.Fprintf(&d.text, "&%d;", n)
		return
	}
	d.seen[to] = len(d.seen)
	d.text.WriteByte('&')
	d.write(v.Elem())
}

// entries writes a map, sorted by what its keys hold.
func (d *dump) entries(v reflect.Value) {
	type entry struct {
		key   string
		value reflect.Value
	}
	var all []entry
	for _, key := range v.MapKeys() {
		of := &dump{seen: map[visit]int{}}
		of.write(key)
		all = append(all, entry{of.text.String(), v.MapIndex(key)})
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	fmt.Fprintf(&d.text, "map[%d:", len(all))
	for _, e := range all {
		d.text.WriteString(e.key)
		d.write(e.value)
	}
	d.text.WriteByte(']')
}
