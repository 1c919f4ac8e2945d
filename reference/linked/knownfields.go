package linked

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
)

// ofPlugin is how the decoder says that a field is of the arguments of a plugin.
var ofPlugin = regexp.MustCompile(`decoding args for plugin ([A-Za-z]+)`)

// fieldsBeside are the fields that there are where an unknown one was found. within is the
// whole error, which names the plugin if the field is one of its arguments.
func fieldsBeside(path, within string) []string {
	at := reflect.TypeFor[configv1.KubeSchedulerConfiguration]()
	if m := ofPlugin.FindStringSubmatch(within); m != nil {
		args, err := scheme.Scheme.New(configv1.SchemeGroupVersion.WithKind(m[1] + "Args"))
		if err != nil {
			return nil
		}
		at = reflect.TypeOf(args).Elem()
	}
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		name, _, _ := strings.Cut(step, "[")
		next := fieldNamed(at, name)
		if next == nil {
			return nil
		}
		for next.Kind() == reflect.Pointer || next.Kind() == reflect.Slice {
			next = next.Elem()
		}
		at = next
	}
	if at.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	each(at, func(name string, _ reflect.Type) { names = append(names, name) })
	slices.Sort(names)
	return names
}

func fieldNamed(t reflect.Type, name string) (found reflect.Type) {
	if t.Kind() == reflect.Struct {
		each(t, func(its string, of reflect.Type) {
			if its == name {
				found = of
			}
		})
	}
	return found
}

// each visits the fields of a struct by their JSON names, and those of what is inlined.
func each(t reflect.Type, visit func(name string, of reflect.Type)) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			each(f.Type, visit)
		case name != "" && name != "-":
			visit(name, f.Type)
		}
	}
}
