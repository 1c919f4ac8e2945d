// Package configuration is what a KubeSchedulerConfiguration makes of the rules: which filter
// plugins there are, in which order, and what their arguments change. What of it is not
// modelled it names. The specification knows nothing of it.
package configuration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// file is a KubeSchedulerConfiguration, as far as it can change a decision. Others have it
// read strictly before.
type file struct {
	Profiles  []profile  `json:"profiles"`
	Extenders []extender `json:"extenders"`
}

type profile struct {
	SchedulerName string               `json:"schedulerName"`
	Plugins       map[string]pluginSet `json:"plugins"`
	PluginConfig  []struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"pluginConfig"`
}

type pluginSet struct {
	Enabled  []plugin `json:"enabled"`
	Disabled []plugin `json:"disabled"`
}

type plugin struct {
	Name string `json:"name"`
}

type extender struct {
	FilterVerb       string `json:"filterVerb"`
	PreemptVerb      string `json:"preemptVerb"`
	BindVerb         string `json:"bindVerb"`
	ManagedResources []struct {
		Name               string `json:"name"`
		IgnoredByScheduler bool   `json:"ignoredByScheduler"`
	} `json:"managedResources"`
}

// Profile is what a configuration says of the pods of one profile.
type Profile struct {
	at   string // "profiles[0]"
	file *file
	of   *profile
}

var files sync.Map // those that were read, by their text

// Of is the profile for the pods of a schedulerName; nil if the settings have no configuration,
// or it has no such profile.
func Of(s model.Settings, schedulerName string) *Profile {
	if len(s.Configuration) == 0 {
		return nil
	}
	f := read(s.Configuration)
	for i := range f.Profiles {
		if name := f.Profiles[i].SchedulerName; name == schedulerName || name == "" && len(f.Profiles) == 1 && schedulerName == model.DefaultSchedulerName {
			return &Profile{at: fmt.Sprintf("profiles[%d]", i), file: f, of: &f.Profiles[i]}
		}
	}
	return nil
}

func read(text json.RawMessage) *file {
	if known, ok := files.Load(string(text)); ok {
		return known.(*file)
	}
	f := &file{}
	_ = json.Unmarshal(text, f) // see file
	if len(f.Profiles) == 0 {
		f.Profiles = []profile{{}}
	}
	files.Store(string(text), f)
	return f
}

// Extended tells whether the settings configure extenders that are asked over the network.
func Extended(s model.Settings) bool {
	return len(s.Configuration) > 0 && len(read(s.Configuration).Extenders) > 0
}

// args reads the arguments of a plugin, and tells whether there are any.
func (p *Profile) args(plugin string, into any) (path string, ok bool) {
	for _, c := range p.of.PluginConfig {
		if c.Name == plugin && len(c.Args) > 0 {
			return fmt.Sprintf("%s.pluginConfig[%s].args", p.at, plugin), json.Unmarshal(c.Args, into) == nil
		}
	}
	return "", false
}

// preemption is the plugin that preempts; gates keeps pods out of the queue.
const (
	preemption = "DefaultPreemption"
	gates      = "SchedulingGates"
	devices    = "DynamicResources"
	volumes    = "VolumeBinding"
	all        = "*"
)

// inPlace tells which of the default plugins do something at the extension points that decide.
var inPlace = map[string]func(name string) bool{
	"preEnqueue": func(name string) bool { return slices.Contains([]string{gates, preemption, devices}, name) },
	"preFilter": func(name string) bool {
		return !slices.Contains([]string{"NodeName", "NodeUnschedulable", "TaintToleration", gates, preemption}, name)
	},
	"filter":     func(name string) bool { return name != gates && name != preemption },
	"postFilter": func(name string) bool { return name == preemption || name == devices },
	"reserve":    func(name string) bool { return name == volumes || name == devices },
}

// enabled are the plugins at an extension point, in the order in which they are asked, given the
// default ones in theirs (docs: reference/scheduling/config, "Plugins that apply to multiple extension
// points"; the order is that of runtime/framework.go:650@v1.37.1, expandMultiPointPlugins, and
// apis/config/v1/default_plugins.go:137@v1.37.1, mergePluginSet).
func (p *Profile) enabled(point string, defaults []string) []string {
	every, here := p.of.Plugins["multiPoint"], p.of.Plugins[point]
	var everywhere []string
	if !named(every.Disabled, all) {
		everywhere = slices.DeleteFunc(slices.Clone(defaults), func(name string) bool { return named(every.Disabled, name) })
	}
	for _, e := range every.Enabled {
		if !slices.Contains(everywhere, e.Name) {
			everywhere = append(everywhere, e.Name)
		}
	}
	everywhere = slices.DeleteFunc(everywhere, func(name string) bool { return slices.Contains(defaults, name) && !inPlace[point](name) })
	if named(here.Disabled, all) {
		everywhere = nil
	}
	var first, last []string
	for _, e := range here.Enabled {
		if slices.Contains(everywhere, e.Name) && !named(here.Disabled, e.Name) {
			first = append(first, e.Name)
		} else {
			last = append(last, e.Name)
		}
	}
	rest := slices.DeleteFunc(everywhere, func(name string) bool { return named(here.Enabled, name) || named(here.Disabled, name) })
	return slices.Concat(first, rest, last)
}

func named(plugins []plugin, name string) bool {
	return slices.ContainsFunc(plugins, func(p plugin) bool { return p.Name == name })
}

// defaults are the names of the default plugins that decide, given the filter plugins.
func defaults(filters []filter.Plugin) []string {
	names := []string{gates}
	for _, f := range filters {
		names = append(names, f.Name())
	}
	return append(names, preemption)
}

// Ignored tells whether NodeResourcesFit is to pass over a resource; nil if over none. What extenders manage and the
// scheduler is to ignore takes the place of what the plugin itself is told (scheduler.go:577@v1.37.1,
// buildExtenders).
func (p *Profile) Ignored() func(v1.ResourceName) bool {
	var args struct {
		IgnoredResources      []string `json:"ignoredResources"`
		IgnoredResourceGroups []string `json:"ignoredResourceGroups"`
	}
	p.args("NodeResourcesFit", &args)
	var managed []string
	for _, e := range p.file.Extenders {
		for _, r := range e.ManagedResources {
			if r.IgnoredByScheduler {
				managed = append(managed, r.Name)
			}
		}
	}
	if len(managed) > 0 {
		args.IgnoredResources = managed
	}
	if len(args.IgnoredResources)+len(args.IgnoredResourceGroups) == 0 {
		return nil
	}
	return func(name v1.ResourceName) bool {
		group, _, _ := strings.Cut(string(name), "/")
		return filter.IsExtended(name) && (slices.Contains(args.IgnoredResources, string(name)) || slices.Contains(args.IgnoredResourceGroups, group))
	}
}

// added are the required terms of the node affinity that is added to all pods of the profile.
func (p *Profile) added() []v1.NodeSelectorTerm {
	var args struct {
		AddedAffinity *v1.NodeAffinity `json:"addedAffinity"`
	}
	if _, ok := p.args("NodeAffinity", &args); !ok || args.AddedAffinity == nil || args.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return args.AddedAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}
