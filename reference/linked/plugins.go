package linked

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
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

// Foreign is where plugins with a client of their own find objects of kinds that are not Kubernetes' own.
type Foreign interface {
	// Config is what such a client is made of.
	Config() *rest.Config
	Serves(apiVersion, kind string) bool
	// Set creates an object, or puts it in the place of the one of its name. Get is nil if there is none.
	Set(object []byte) error
	Get(apiVersion, kind, namespace, name string) []byte
	Delete(apiVersion, kind, namespace, name string) error
	Clear()
}

// NewForeign makes that of one scheduler; nil if there are no such objects.
var NewForeign func() Foreign

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
