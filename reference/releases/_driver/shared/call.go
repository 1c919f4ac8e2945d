package main

import (
	"reflect"
	"slices"
)

// callFunc calls a function of upstream, whose parameters changed over the releases:
// each of them gets the first of args that has its type and is not taken yet, or its
// zero value. A logger that is zero drops everything.
func callFunc(f reflect.Value, args ...any) (results []reflect.Value, err error) {
	args = slices.Clone(args)
	in := make([]reflect.Value, f.Type().NumIn())
	for i := range in {
		parameter := f.Type().In(i)
		in[i] = reflect.Zero(parameter)
		for j, arg := range args {
			if arg != nil && reflect.TypeOf(arg).AssignableTo(parameter) {
				in[i], args[j] = reflect.ValueOf(arg), nil
				break
			}
		}
	}
	if f.Type().IsVariadic() {
		results = f.CallSlice(in)
	} else {
		results = f.Call(in)
	}
	if n := len(results); n > 0 {
		err, _ = results[n-1].Interface().(error)
	}
	return results, err
}

// call calls a method of upstream in the same way.
func call(on any, method string, args ...any) error {
	_, err := callFunc(reflect.ValueOf(on).MethodByName(method), args...)
	return err
}
