// Package outside holds the plugins that a driver has besides the scheduler's own, and what surrounds them.
// A generated file of it, registered.go, has their factories.
package outside

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	configv1 "k8s.io/kube-scheduler/config/v1"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Plugin is one that is not the scheduler's own.
type Plugin struct {
	Name     string
	New      frameworkruntime.PluginFactory
	Args     runtime.Object // nil if it takes none
	Replaces []string
}

// Kind is one that is served by API.
type Kind struct {
	APIVersion, Kind, Resource string
	Namespaced                 bool
}

// Setup is what a driver is started with.
type Setup struct {
	Plugins []Plugin
	Kinds   []Kind
}

// Read reads a Setup. The arguments of plugins are decoded as those of a KubeSchedulerConfiguration.
func Read(text string) (*Setup, error) {
	var raw struct {
		Plugins []struct {
			Name     string
			Args     json.RawMessage
			Replaces []string
		}
		Kinds []Kind
	}
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, err
	}
	s := &Setup{Kinds: raw.Kinds}
	for _, p := range raw.Plugins {
		plugin := Plugin{Name: p.Name, New: registered[p.Name], Replaces: p.Replaces}
		if plugin.New == nil {
			return nil, fmt.Errorf("there is no factory of plugin %s", p.Name)
		}
		var err error
		if plugin.Args, err = args(p.Name, p.Args); err != nil {
			return nil, fmt.Errorf("plugin %s: args: %w", p.Name, err)
		}
		s.Plugins = append(s.Plugins, plugin)
	}
	return s, nil
}

// args are those of a plugin. Of one that is given none they are the default ones; nil if no scheme has such.
func args(name string, text json.RawMessage) (runtime.Object, error) {
	if len(text) == 0 {
		if !scheme.Scheme.Recognizes(configv1.SchemeGroupVersion.WithKind(name + "Args")) {
			return nil, nil
		}
		text = json.RawMessage("{}")
	}
	type object = map[string]any
	doc, err := json.Marshal(object{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
		"profiles": []object{{"pluginConfig": []object{{"name": name, "args": text}}}}})
	if err != nil {
		return nil, err
	}
	obj, _, err := scheme.Codecs.UniversalDecoder().Decode(doc, nil, nil)
	if err != nil {
		return nil, err
	}
	for _, c := range obj.(*config.KubeSchedulerConfiguration).Profiles[0].PluginConfig {
		if c.Name == name {
			return c.Args, nil
		}
	}
	return nil, fmt.Errorf("there are none after decoding")
}

// AddTo puts the plugins into a profile that has some of the scheduler's own at all their extension points.
func (s *Setup) AddTo(p *config.KubeSchedulerProfile) {
	enabled := &p.Plugins.MultiPoint.Enabled
	for _, plugin := range s.Plugins {
		*enabled = slices.DeleteFunc(*enabled, func(e config.Plugin) bool { return slices.Contains(plugin.Replaces, e.Name) })
		*enabled = append(*enabled, config.Plugin{Name: plugin.Name})
		if plugin.Args != nil {
			p.PluginConfig = append(p.PluginConfig, config.PluginConfig{Name: plugin.Name, Args: plugin.Args})
		}
	}
}

// Replaced tells whether a plugin of the scheduler's own has no place in the profile.
func (s *Setup) Replaced(name string) bool {
	return slices.ContainsFunc(s.Plugins, func(p Plugin) bool { return slices.Contains(p.Replaces, name) })
}
