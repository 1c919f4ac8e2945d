//go:build k1.37

package main

import (
	"context"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

func (s *scheduler) hookPreemptPod(plugin pluginHook) {
	next := plugin.Executor.PreemptPod
	plugin.Executor.PreemptPod = func(ctx context.Context, c preemption.Candidate, preemptor preemption.ExecutorPreemptor, victim *v1.Pod, name string) (inMemory bool, err error) {
		err = s.preempts(c, victim, func() (err error) {
			inMemory, err = next(ctx, c, preemptor, victim, name)
			return err
		})
		return inMemory, err
	}
}

func (s *scheduler) preempting(preemptor types.UID) bool {
	return s.plugin.Executor.IsPodRunningPreemption(preemptor)
}
