package main

import (
	"context"
	"reflect"
)

var (
	contextType = reflect.TypeOf((*context.Context)(nil)).Elem()
	errorType   = reflect.TypeOf((*error)(nil)).Elem()
)

// call calls a method of upstream, which over the releases came to take a logger
// first, and then a context, and may return an error. A nil argument is the zero
// value of its type.
func call(ctx context.Context, on any, method string, args ...any) error {
	m := reflect.ValueOf(on).MethodByName(method)
	in := make([]reflect.Value, 0, len(args)+1)
	if m.Type().NumIn() > len(args) {
		if first := m.Type().In(0); first == contextType {
			in = append(in, reflect.ValueOf(ctx))
		} else {
			in = append(in, reflect.Zero(first)) // a logger that drops everything
		}
	}
	for _, arg := range args {
		if arg == nil {
			in = append(in, reflect.Zero(m.Type().In(len(in))))
		} else {
			in = append(in, reflect.ValueOf(arg))
		}
	}
	out := m.Call(in)
	if n := len(out); n > 0 && out[n-1].Type() == errorType && !out[n-1].IsNil() {
		return out[n-1].Interface().(error)
	}
	return nil
}
