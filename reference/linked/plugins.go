package linked

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Plugin is one that is not among the scheduler's own.
type Plugin struct {
	Name string
	// New makes it, as a factory of kube-scheduler's does.
	New frameworkruntime.PluginFactory
	// Args are its arguments; nil if it takes none.
	Args runtime.Object
	// Replaces are plugins that the default profile does not have then: DefaultPreemption, for example.
	Replaces []string
}

var (
	pluginsMu sync.Mutex
	plugins   []Plugin
)

// Register adds a plugin to every profile of the schedulers that are made from then on, at all its extension points. undo takes it out again.
func Register(p Plugin) (undo func()) {
	pluginsMu.Lock()
	defer pluginsMu.Unlock()
	plugins = append(plugins, p)
	return func() {
		pluginsMu.Lock()
		defer pluginsMu.Unlock()
		plugins = slices.DeleteFunc(plugins, func(o Plugin) bool { return o.Name == p.Name })
	}
}

// Registered are the plugins that are not the scheduler's own, in the order in which they came.
func Registered() []Plugin {
	pluginsMu.Lock()
	defer pluginsMu.Unlock()
	return slices.Clone(plugins)
}

// Registry has the factories of the registered plugins.
func Registry() frameworkruntime.Registry {
	all := frameworkruntime.Registry{}
	for _, p := range Registered() {
		all[p.Name] = p.New
	}
	return all
}

// addRegistered puts the registered plugins into a profile.
func addRegistered(profile *config.KubeSchedulerProfile) {
	for _, p := range Registered() {
		enabled := &profile.Plugins.MultiPoint.Enabled
		*enabled = slices.DeleteFunc(*enabled, func(e config.Plugin) bool { return slices.Contains(p.Replaces, e.Name) })
		*enabled = append(*enabled, config.Plugin{Name: p.Name})
		if p.Args != nil {
			profile.PluginConfig = append(profile.PluginConfig, config.PluginConfig{Name: p.Name, Args: p.Args})
		}
	}
}
