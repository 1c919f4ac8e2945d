//go:build k1.29 && !k1.32

package main

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

func (s *scheduler) pluginFactory() frameworkruntime.PluginFactory {
	return func(ctx context.Context, args runtime.Object, h framework.Handle) (framework.Plugin, error) {
		p, err := plugins.NewInTreeRegistry()[defaultpreemption.Name](ctx, args, h)
		if err != nil {
			return nil, err
		}
		return &recordedPreemption{p.(*defaultpreemption.DefaultPreemption), h, s}, nil
	}
}
