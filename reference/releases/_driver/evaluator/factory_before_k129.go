//go:build !k1.29

package main

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

func (s *scheduler) pluginFactory() frameworkruntime.PluginFactory {
	return func(args runtime.Object, h framework.Handle) (framework.Plugin, error) {
		p, err := plugins.NewInTreeRegistry()[defaultpreemption.Name](args, h)
		if err != nil {
			return nil, err
		}
		return &recordedPreemption{p.(*defaultpreemption.DefaultPreemption), h, s}, nil
	}
}
