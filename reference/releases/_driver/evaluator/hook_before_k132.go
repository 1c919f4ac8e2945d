//go:build !k1.32

package main

import (
	"context"
	"errors"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Before 1.32 DefaultPreemption makes its Evaluator in PostFilter, where nothing
// can get between. So the profile has another plugin in its place, which makes
// the same Evaluator with the recorder as its Interface.

const recordedName = "RecordedPreemption"

// pluginHook is nothing: all is done by the plugin.
type pluginHook struct{}

func (s *scheduler) hookProfiles(profiles []config.KubeSchedulerProfile) ([]upstream.Option, error) {
	for _, p := range profiles {
		replaced := false
		for i := range p.Plugins.MultiPoint.Enabled {
			if name := &p.Plugins.MultiPoint.Enabled[i].Name; *name == names.DefaultPreemption {
				*name, replaced = recordedName, true
			}
		}
		if !replaced {
			return nil, errors.New("the default profile has no " + names.DefaultPreemption)
		}
		for i := range p.PluginConfig {
			if name := &p.PluginConfig[i].Name; *name == names.DefaultPreemption {
				*name = recordedName
			}
		}
	}
	registry := frameworkruntime.Registry{recordedName: s.pluginFactory()}
	return []upstream.Option{upstream.WithFrameworkOutOfTreeRegistry(registry)}, nil
}

func (s *scheduler) hook(framework.Framework) (pluginHook, error) { return pluginHook{}, nil }

func (s *scheduler) preempting(types.UID) bool { return false }

// recordedPreemption is DefaultPreemption with another PostFilter.
type recordedPreemption struct {
	*defaultpreemption.DefaultPreemption
	handle frameworkHandle
	s      *scheduler
}

func (p *recordedPreemption) Name() string { return recordedName }

func (p *recordedPreemption) PostFilter(ctx context.Context, state cycleState, pod *v1.Pod, m framework.NodeToStatusMap) (*postFilterResult, *status) {
	r := p.s.recorder
	r.Interface = p.DefaultPreemption
	if nodes := p.potentialNodes(ctx, state, pod, m); nodes != nil {
		r.obs.PotentialNodes = nodes
	}
	result, st := p.evaluator(state, r).Preempt(ctx, pod, m)
	if st.Message() != "" {
		return result, framework.NewStatus(st.Code(), "preemption: "+st.Message())
	}
	return result, st
}

func (p *recordedPreemption) evaluator(state cycleState, i preemption.Interface) *preemption.Evaluator {
	return &preemption.Evaluator{
		PluginName: names.DefaultPreemption,
		Handler:    handle{p.handle, p.s.extenders},
		PodLister:  p.handle.SharedInformerFactory().Core().V1().Pods().Lister(),
		PdbLister:  p.s.budgets,
		State:      state,
		Interface:  i,
	}
}
