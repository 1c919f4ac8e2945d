//go:build k1.32

package main

import (
	"errors"

	upstream "k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// pluginHook is the plugin, whose Evaluator can be changed from outside.
type pluginHook = *defaultpreemption.DefaultPreemption

func (s *scheduler) hookProfile(*config.KubeSchedulerProfile) ([]upstream.Option, error) {
	return nil, nil
}

func (s *scheduler) hook() error {
	for _, p := range s.profile.PreEnqueuePlugins() {
		if dp, ok := p.(*defaultpreemption.DefaultPreemption); ok {
			s.plugin = dp
			s.plugin.Evaluator.PdbLister = s.budgets
			s.hookPreemptPod()
			return nil
		}
	}
	return errors.New("the default profile has no " + names.DefaultPreemption)
}
