package checkers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	modelled "github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/relation"
	"github.com/preemptcheck/preemptcheck/reference/outside"
)

// ofAnyPreemption are the properties that are asked of a plugin in the place of DefaultPreemption that does not say which
// it keeps.
var ofAnyPreemption = []string{"lower-priority-only", "victims-on-their-node", "victims-were-running", "preemptor-fits", "judges-agree",
	"no-free-node", "never-preempts", "victims-deleted-and-marked", "nothing-else-written", "no-internal-error"}

// everyProperty is all of them, as a name; butNot begins the names of those that are not kept, besides it.
const (
	everyProperty = "all"
	butNot        = "-"
)

const defaultPreemption = "DefaultPreemption"

// outsideOf are the plugins of a file, for a checker. What a plugin does not keep is not asked.
func outsideOf(name string) (*properties.Outside, error) {
	f, err := outside.Read(name)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, p := range all.Properties() {
		known = append(known, p.Name)
	}
	o := &properties.Outside{}
	if o.Model, err = modelOf(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var lists, not [][]string
	for i, p := range f.Plugins {
		for j, keeps := range p.Keeps {
			if of, _ := strings.CutPrefix(keeps, butNot); keeps != everyProperty && !slices.Contains(known, of) {
				return nil, fmt.Errorf("%s: plugins[%d].keeps[%d]: %q is none of %s", name, i, j, keeps, strings.Join(append(known, everyProperty), ", "))
			}
		}
		why := "nobody but the plugin knows what it does"
		if len(p.Replaces) > 0 {
			why = "it takes the place of " + strings.Join(p.Replaces, ", ")
		}
		if o.Model == nil {
			o.Unmodelled = append(o.Unmodelled, model.UnmodelledField{Object: "scheduler", Field: "plugin " + p.Name, Why: why})
		}
		o.Plugins = append(o.Plugins, p.Name)
		switch {
		case slices.Contains(p.Keeps, everyProperty):
			not = append(not, p.Keeps)
		case len(p.Keeps) > 0:
			lists = append(lists, p.Keeps)
		case slices.Contains(p.Replaces, defaultPreemption):
			lists = append(lists, ofAnyPreemption)
		case len(f.Kinds) > 0: // a relation changes clusters, but not objects of which it does not know what they say
			not = append(not, relations())
		}
	}
	o.Keeps = func(property string) bool {
		if contract.Is(property) || property == properties.GetsThrough().Name {
			return true
		}
		return !slices.ContainsFunc(lists, func(kept []string) bool { return !slices.Contains(kept, property) }) &&
			!slices.ContainsFunc(not, func(kept []string) bool { return slices.Contains(kept, butNot+property) })
	}
	return o, nil
}

// modelOf is the model of the plugins of a file: of one that is known, alone, in the place of DefaultPreemption. A copy of its module in
// a directory is held to the same documents.
func modelOf(f *outside.File) (*modelled.Variant, error) {
	if f.Module != modelled.Module || f.Version != "" && !slices.Contains(modelled.Versions(), f.Version) || len(f.Plugins) != 1 ||
		!slices.Equal(f.Plugins[0].Replaces, []string{defaultPreemption}) {
		return nil, nil
	}
	return modelled.Of(f.Plugins[0].Name, f.Plugins[0].Args)
}

// relations are the names of all, as those that are not kept.
func relations() (names []string) {
	for _, p := range relation.All() {
		names = append(names, butNot+p.Name)
	}
	return names
}
