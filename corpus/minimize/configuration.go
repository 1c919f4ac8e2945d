package minimize

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// configured leave single fields, and elements of lists, out of the configuration of the scheduler, as far as it is
// one without them.
func configured(c *model.Cluster) (steps []step) {
	if len(c.Settings.Configuration) == 0 {
		return nil
	}
	for _, path := range pathsOf(c.Settings.Configuration) {
		steps = append(steps, step{"configuration: without " + path.String(), func(c *model.Cluster) *model.Cluster {
			text, err := json.Marshal(leftOut(decoded(c.Settings.Configuration), path))
			if err == nil {
				text, err = linked.ReadConfiguration(text)
			}
			if err != nil {
				return nil
			}
			next := shallow(c)
			next.Settings = c.Settings.DeepCopy()
			next.Settings.Configuration = text
			return next
		}})
	}
	return steps
}

// path is where something is in JSON: names of fields, and indices.
type path []any

func (p path) String() (text string) {
	for _, at := range p {
		if name, is := at.(string); is {
			text += "." + name
		} else {
			text += fmt.Sprintf("[%v]", at)
		}
	}
	return text[1:] // the top is an object
}

func decoded(text json.RawMessage) (value any) {
	_ = json.Unmarshal(text, &value) // it was read before
	return value
}

// pathsOf are those of all that can be left out, each before what is within.
func pathsOf(text json.RawMessage) (all []path) {
	var visit func(value any, at path)
	visit = func(value any, at path) {
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if len(at) == 0 && (name == "apiVersion" || name == "kind") {
					continue
				}
				all = append(all, append(slices.Clip(at), name))
				visit(v[name], append(slices.Clip(at), name))
			}
		case []any:
			for i := range v {
				all = append(all, append(slices.Clip(at), i))
				visit(v[i], append(slices.Clip(at), i))
			}
		}
	}
	visit(decoded(text), nil)
	return all
}

// leftOut is value without what is at a path; value itself, if there is nothing.
func leftOut(value any, at path) any {
	switch v := value.(type) {
	case map[string]any:
		name, _ := at[0].(string)
		if _, has := v[name]; !has {
			return value
		}
		if len(at) == 1 {
			delete(v, name)
		} else {
			v[name] = leftOut(v[name], at[1:])
		}
	case []any:
		i, is := at[0].(int)
		if !is || i >= len(v) {
			return value
		}
		if len(at) == 1 {
			return slices.Delete(v, i, i+1)
		}
		v[i] = leftOut(v[i], at[1:])
	}
	return value
}
