package prune

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Field is a field of an object that is kept.
type Field struct {
	// Path names it as kubectl does: "spec.containers[].ports[].hostPort". "[]" are the
	// elements of a list, "{}" the values of a map. "a.{b,c}" keeps b and c, and Text is
	// about both together.
	Path string
	// Text is what text there is in it.
	Text Text
}

// Text says what the text in a field is.
type Text struct {
	Rule Rule
	// Kind is that of a Name: "Node".
	Kind string
	// Words are all that a Word can be.
	Words []string
}

// Rule is a sort of text.
type Rule int

// The rules, with the types of the fields.
const (
	Plain       Rule = iota // there is none: numbers, quantities, times
	Word                    // one of a few words of the API
	Name                    // the name of something, or a list or map of such
	UID                     // of an object
	Owner                   // an owner reference
	Labelled                // the labels of an object
	Labels                  // a map of labels that are selected, or a requirement of labels
	LabelKey                // the key of a label, or a list of such
	NodeField               // a requirement of a field of nodes
	Taint                   // a taint or a toleration
	Resources               // a map by names of resources
	Resource                // the name of a resource
	Image                   // the name of an image
	Annotations             // a map of annotations
	IP                      // an address of a node
	Disk                    // the id of a disk
	Request                 // the name of a request of a claim, or with "/" of a subrequest
	Expression              // a condition on devices, in CEL; Kind may be Derived
	Attributes              // a map of attributes by their names
	Attribute               // the name of an attribute, or of a capacity
	Capacities              // a map by names of capacities
	Container               // a container, its status, or its name
	Message                 // of the condition DisruptionTarget
	Percentage              // a number, or a share in percent
	Fixed                   // a path that has to be there, and is never read
)

// word is text that is one of a few words.
func word(words ...string) Text { return Text{Rule: Word, Words: words} }

// name is the name of something of that kind.
func name(kind string) Text { return Text{Rule: Name, Kind: kind} }

func of(rule Rule) Text { return Text{Rule: rule} }

// under are fields below a path.
func under(path string, fields ...Field) []Field {
	out := make([]Field, len(fields))
	for i, f := range fields {
		out[i] = Field{path + "." + f.Path, f.Text}
	}
	return out
}

// node is what is kept of a value of some type: all of it if it has no children.
type node struct {
	fields   []child // of a struct
	elements *node   // of a list, a map, or a pointer
	text     Text
}

type child struct {
	name  string
	index []int
	*node
}

// compile makes one tree of the fields of a type.
func compile(t reflect.Type, fields []Field) (*node, error) {
	root := &node{}
	for _, f := range fields {
		if err := root.add(t, f.Path, f.Text); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", t, f.Path, err)
		}
	}
	return root, root.complete(t, t.String())
}

func (n *node) add(t reflect.Type, path string, text Text) error {
	switch {
	case t.Kind() == reflect.Pointer:
		if n.elements == nil {
			n.elements = &node{}
		}
		return n.elements.add(t.Elem(), path, text)
	case path == "":
		n.text = text
		return nil
	case strings.HasPrefix(path, "[]") && t.Kind() == reflect.Slice, strings.HasPrefix(path, "{}") && t.Kind() == reflect.Map:
		if n.elements == nil {
			n.elements = &node{}
		}
		return n.elements.add(t.Elem(), strings.TrimPrefix(path[2:], "."), text)
	case strings.HasPrefix(path, "{") && strings.HasSuffix(path, "}"):
		n.text = text
		for _, one := range strings.Split(path[1:len(path)-1], ",") {
			if err := n.add(t, one, Text{}); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() != reflect.Struct:
		return fmt.Errorf("%s has no fields", t)
	}
	first, rest := path, ""
	if i := strings.IndexAny(path, ".[{"); i > 0 {
		first, rest = path[:i], strings.TrimPrefix(path[i:], ".")
	}
	for i := range n.fields {
		if n.fields[i].name == first {
			return n.fields[i].add(t.FieldByIndex(n.fields[i].index).Type, rest, text)
		}
	}
	index := indexOf(t, first)
	if index == nil {
		return fmt.Errorf("%s has no field %s", t, first)
	}
	n.fields = append(n.fields, child{first, index, &node{}})
	return n.fields[len(n.fields)-1].add(t.FieldByIndex(index).Type, rest, text)
}

// indexOf finds the field of a struct with that name in JSON, nil if there is none.
func indexOf(t reflect.Type, name string) []int {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag == name && name != "" {
			return f.Index
		}
		if tag == "" && f.Anonymous && f.Type.Kind() == reflect.Struct {
			if inner := indexOf(f.Type, name); inner != nil {
				return append([]int{i}, inner...)
			}
		}
	}
	return nil
}

// complete checks that only what has no fields is kept as a whole: a field that the API
// gets one day is not in the tree.
func (n *node) complete(t reflect.Type, at string) error {
	switch {
	case t.Kind() == reflect.Pointer || (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) && n.elements != nil:
		if n.elements == nil {
			n.elements = &node{}
		}
		return n.elements.complete(t.Elem(), at)
	case len(n.fields) > 0:
		for _, f := range n.fields {
			if err := f.complete(t.FieldByIndex(f.index).Type, at+"."+f.name); err != nil {
				return err
			}
		}
		return nil
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		return (&node{}).complete(t.Elem(), at)
	case t.Kind() == reflect.Struct && t.NumField() > 0 && !whole[t]:
		return fmt.Errorf("%s: %s is kept as a whole", at, t)
	}
	return nil
}

// whole are the structs that are one value.
var whole = map[reflect.Type]bool{
	reflect.TypeFor[resource.Quantity]():  true,
	reflect.TypeFor[metav1.Time]():        true,
	reflect.TypeFor[intstr.IntOrString](): true,
}

// copy writes what is kept of a value to one that is zero. What cannot be changed in
// place, such as a quantity, both share.
func (n *node) copy(to, from reflect.Value) {
	switch {
	case len(n.fields) > 0:
		for i := range n.fields {
			f := &n.fields[i]
			f.copy(to.FieldByIndex(f.index), from.FieldByIndex(f.index))
		}
	case from.Kind() == reflect.Pointer:
		if from.IsNil() {
			return
		}
		to.Set(reflect.New(from.Type().Elem()))
		n.elements.copy(to.Elem(), from.Elem())
	case from.Kind() == reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		if n.elements == nil {
			reflect.Copy(to, from)
			return
		}
		for i := range from.Len() {
			n.elements.copy(to.Index(i), from.Index(i))
		}
	case from.Kind() == reflect.Map:
		n.copyMap(to, from)
	case from.Kind() == reflect.Struct && !whole[from.Type()]: // it has no fields
	default:
		to.Set(from)
	}
}

func (n *node) copyMap(to, from reflect.Value) {
	if from.IsNil() {
		return
	}
	if m, ok := from.Interface().(map[string]string); ok {
		to.Set(reflect.ValueOf(maps.Clone(m)))
		return
	}
	to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
	for entries := from.MapRange(); entries.Next(); {
		value := entries.Value()
		if n.elements != nil {
			value = reflect.New(from.Type().Elem()).Elem()
			n.elements.copy(value, entries.Value())
		}
		to.SetMapIndex(entries.Key(), value)
	}
}

// walk visits all that has text, or may have: a field, or several that belong together.
func (n *node) walk(v reflect.Value, visit func(Text, reflect.Value)) {
	switch {
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			n.elements.walk(v.Elem(), visit)
		}
	case n.text.Rule != Plain:
		if !v.IsZero() || v.Kind() == reflect.Struct {
			visit(n.text, v)
		}
	case len(n.fields) > 0:
		for i := range n.fields {
			f := &n.fields[i]
			f.walk(v.FieldByIndex(f.index), visit)
		}
	case n.elements != nil && v.Kind() == reflect.Slice:
		for i := range v.Len() {
			n.elements.walk(v.Index(i), visit)
		}
	}
}
