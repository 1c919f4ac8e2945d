package contract

import (
	"context"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/linked"
)

// scheduler is an upstream scheduler that runs no cycle.
type scheduler struct {
	key       settings
	bubble    *bubble.Bubble
	sched     *upstream.Scheduler
	snapshot  snapshot
	informers map[reflect.Type]*linked.Informer
	api       *client
	foreign   linked.Foreign // nil if there are no objects of kinds that are not Kubernetes' own
	plugins   []calls.Plugin
	ctx       context.Context
	cancel    context.CancelFunc
	crash     atomic.Pointer[model.Crash]
}

func newScheduler(key settings, of model.Settings, b *bubble.Bubble) (_ *scheduler, err error) {
	s := &scheduler{key: key, bubble: b}
	s.ctx, s.cancel = context.WithCancel(linked.NewContext(&s.crash))
	defer func() {
		if err != nil {
			s.cancel()
		}
	}()
	cfg, err := linked.Configured(of)
	if err != nil {
		return nil, err
	}
	cfg.Extenders = nil // nobody asks them
	whole := cfg.Profiles[max(0, slices.IndexFunc(cfg.Profiles, func(p config.KubeSchedulerProfile) bool { return p.SchedulerName == key.profile }))]
	cfg.Profiles = append(cfg.Profiles, aloneProfiles(whole)...)

	s.api = newClient()
	factory := informers.NewSharedInformerFactory(s.api, 0)
	s.informers = linked.NewInformers(factory, &policyv1.PodDisruptionBudget{})
	s.api.informers = s.informers
	var kubeConfig *rest.Config
	var dynamics dynamicinformer.DynamicSharedInformerFactory // of the kinds of foreign objects that plugins wait for
	if linked.NewForeign != nil {
		s.foreign = linked.NewForeign()
		kubeConfig = s.foreign.Config()
		reader, err := dynamic.NewForConfig(kubeConfig)
		if err != nil {
			return nil, err
		}
		dynamics = dynamicinformer.NewDynamicSharedInformerFactory(reader, never)
	}
	err = s.makes(cfg, factory, dynamics, kubeConfig)
	signal.Reset(syscall.SIGUSR2) // see package inprocess
	if err != nil {
		return nil, err
	}
	if dynamics != nil {
		dynamics.Start(s.ctx.Done())
	}
	s.snapshot = s.sched.Profiles[cfg.Profiles[0].SchedulerName].SnapshotSharedLister().(snapshot)
	s.plugins = s.list()
	return s, nil
}

// never is when informers send all again. It is not 0: then a reflector waits for a channel that is not of the bubble
// (reflector.go:453@client-go v0.34.7, startResync).
const never = 10 * 365 * 24 * time.Hour

// alone begins the names of profiles that have one plugin, and what a profile must have.
const alone = "alone-"

func aloneProfiles(whole config.KubeSchedulerProfile) (all []config.KubeSchedulerProfile) {
	for _, plugin := range enabled(whole.Plugins) {
		profile := *whole.DeepCopy()
		profile.SchedulerName = alone + plugin
		sets := reflect.ValueOf(profile.Plugins).Elem()
		for i := range sets.NumField() {
			// Each profile sorts its queue, and binds.
			if name := sets.Type().Field(i).Name; name == "QueueSort" || name == "Bind" {
				continue
			}
			set := sets.Field(i).Addr().Interface().(*config.PluginSet)
			set.Enabled = slices.DeleteFunc(set.Enabled, func(p config.Plugin) bool {
				return p.Name != plugin && p.Name != names.PrioritySort && p.Name != names.DefaultBinder
			})
		}
		for _, p := range linked.Registered() {
			if slices.Contains(p.Replaces, names.PrioritySort) { // all profiles sort in one way
				profile.Plugins.QueueSort.Enabled = []config.Plugin{{Name: p.Name}}
			}
		}
		all = append(all, profile)
	}
	return all
}

// enabled are the plugins that are enabled at some point, but for those that every profile has.
func enabled(plugins *config.Plugins) (all []string) {
	sets := reflect.ValueOf(plugins).Elem()
	for i := range sets.NumField() {
		for _, p := range sets.Field(i).Interface().(config.PluginSet).Enabled {
			if p.Name != names.PrioritySort && p.Name != names.DefaultBinder && !slices.Contains(all, p.Name) {
				all = append(all, p.Name)
			}
		}
	}
	return all
}

// list finds the plugins that have a profile, and where each is enabled.
func (s *scheduler) list() (all []calls.Plugin) {
	for name, profile := range s.sched.Profiles {
		plugin, is := strings.CutPrefix(name, alone)
		if !is {
			continue
		}
		p := calls.Plugin{Name: plugin, Points: []string{}}
		points := reflect.ValueOf(profile.ListPlugins()).Elem()
		for i := range points.NumField() {
			set, ok := points.Field(i).Interface().(config.PluginSet)
			if point := points.Type().Field(i).Name; ok && point != "MultiPoint" && slices.ContainsFunc(set.Enabled, func(e config.Plugin) bool { return e.Name == plugin }) {
				p.Points = append(p.Points, point)
			}
		}
		if letsIn(profile, plugin) && !p.At("PreEnqueue") {
			p.Points = append(p.Points, "PreEnqueue")
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b calls.Plugin) int { return strings.Compare(a.Name, b.Name) })
	return all
}
