package manifest

import (
	"fmt"
	"strings"
)

// InputError says what is wrong with a stream, and where.
type InputError struct {
	File string
	// Document counts the documents of the stream that are not empty, from 1;
	// Item counts the items of a List. 0 means the error is not about one.
	Document, Item int
	// Line counts from 1; 0 if it is not known.
	Line int
	// Object is the kind and the name of the object, for example "Pod default/a".
	Object string
	// Field is the path of the field, for example "spec.containers[0].image".
	Field string
	Err   error
}

// Error joins the parts that are known:
//
//	FILE: document 2, item 3, line 14: Pod default/a: spec.nodeName: …
func (e *InputError) Error() string {
	var where []string
	if e.Document > 0 {
		where = append(where, fmt.Sprintf("document %d", e.Document))
	}
	if e.Item > 0 {
		where = append(where, fmt.Sprintf("item %d", e.Item))
	}
	if e.Line > 0 {
		where = append(where, fmt.Sprintf("line %d", e.Line))
	}
	var parts []string
	for _, p := range []string{e.File, strings.Join(where, ", "), e.Object, e.Field} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(append(parts, e.Err.Error()), ": ")
}

func (e *InputError) Unwrap() error { return e.Err }
