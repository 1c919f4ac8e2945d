//go:build k1.36 && !k1.37

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

func (s *scheduler) hookPreemptPod(plugin pluginHook) {
	next := plugin.Executor.PreemptPod
	plugin.Executor.PreemptPod = func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, name string) error {
		return s.preempts(c, victim, func() error { return next(ctx, c, preemptor, victim, name) })
	}
}

func (s *scheduler) preempting(preemptor types.UID) bool {
	return s.plugin.Executor.IsPodRunningPreemption(preemptor)
}
