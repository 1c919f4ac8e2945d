//go:build k1.32 && !k1.36

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

func (s *scheduler) hookPreemptPod(plugin pluginHook) {
	next := plugin.Evaluator.PreemptPod
	plugin.Evaluator.PreemptPod = func(ctx context.Context, c preemption.Candidate, preemptor, victim *v1.Pod, name string) error {
		return s.preempts(c, victim, func() error { return next(ctx, c, preemptor, victim, name) })
	}
}

func (s *scheduler) preempting(preemptor types.UID) bool {
	return s.plugin.Evaluator.IsPodRunningPreemption(preemptor)
}
