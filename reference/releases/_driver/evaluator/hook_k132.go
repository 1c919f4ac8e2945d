//go:build k1.32

package main

import (
	"errors"

	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// pluginHook is the plugin, whose Evaluator can be changed from outside.
type pluginHook = *defaultpreemption.DefaultPreemption

func (s *scheduler) hookProfiles([]config.KubeSchedulerProfile) ([]upstream.Option, error) {
	return nil, nil
}

func (s *scheduler) hook(profile framework.Framework) (pluginHook, error) {
	for _, p := range profile.PreEnqueuePlugins() {
		if plugin, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			plugin.Evaluator.PdbLister = s.budgets
			s.hookPreemptPod(plugin)
			return plugin, nil
		}
	}
	return nil, errors.New("the default profile has no " + names.DefaultPreemption)
}
