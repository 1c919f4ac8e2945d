package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// amount is where an object of a kind that is not Kubernetes' own has a number or a quantity: names of fields, and indices. What else such
// an object says is not known, and so not changed.
type amount []any

// notSpec are the fields at the top of an object that say nothing of what is wanted.
var notSpec = []string{"apiVersion", "kind", "metadata", "status"}

// amountsOf are those within a value, which is at a path, in the order of their names.
func amountsOf(value any, at amount) (all []amount) {
	below := func(step any, value any) { all = append(all, amountsOf(value, append(slices.Clone(at), step))...) }
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if name != "name" && (len(at) > 0 || !slices.Contains(notSpec, name)) {
				below(name, v[name])
			}
		}
	case []any:
		for i := range v {
			below(i, v[i])
		}
	default:
		if doubled(v) != nil {
			all = append(all, at)
		}
	}
	return all
}

// name is the path without indices.
func (a amount) name() string {
	text := &strings.Builder{}
	for i, step := range a {
		if name, is := step.(string); !is {
			text.WriteString("[]")
		} else if i == 0 {
			text.WriteString(name)
		} else {
			fmt.Fprintf(text, ".%s", name)
		}
	}
	return text.String()
}

// double doubles the amount in an object that has it.
func (a amount) double(value any) {
	for i, step := range a {
		switch v := value.(type) {
		case map[string]any:
			name := step.(string)
			if value = v[name]; i == len(a)-1 {
				v[name] = doubled(value)
			}
		case []any:
			n := step.(int)
			if value = v[n]; i == len(a)-1 {
				v[n] = doubled(value)
			}
		}
	}
}

// doubled is twice a number, or a quantity; nil if it is none, or nothing.
func doubled(value any) any {
	switch v := value.(type) {
	case int64:
		if v > 0 && v < 1<<30 {
			return 2 * v
		}
	case string:
		q, err := resource.ParseQuantity(v)
		if err == nil && q.Sign() > 0 {
			q.Add(q)
			return q.String()
		}
	}
	return nil
}
