package properties

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
)

// TestStageOfDeath: a process that died shows nothing but its stack.
func TestStageOfDeath(t *testing.T) {
	const others = "\n\ngoroutine 9 [runnable]:\nk8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Executor).prepareCandidateAsync.func1()\n"
	for frames, want := range map[string]model.Stage{
		"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources.(*Fit).Filter(0x1)\n\tfit.go:1": model.StageFilter,
		"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources.(*Fit).Filter(0x1)\n\tfit.go:1\n" +
			"k8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Evaluator).DryRunPreemption.func1(0x1)\n\tpreemption.go:1": model.StageDryRun,
		"k8s.io/kubernetes/pkg/scheduler/framework/preemption.pickOneNodeForPreemption({0x1})\n\tpreemption.go:1":                       model.StagePick,
		"k8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Executor).prepareCandidateAsync.func2(0x1)\n\texecutor.go:1":            model.StageActuate,
		"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption.(*DefaultPreemption).PodEligibleToPreemptOthers(0x1)\n\ta": model.StageEligible,
	} {
		stack := "fatal error: stack overflow\n\ngoroutine 7 [running]:\n" + frames + others
		require.Equal(t, want, reached(&model.Observation{Crash: &model.Crash{Stack: stack}}), frames)
	}
	require.Equal(t, model.StageFilter, reached(&model.Observation{Crash: &model.Crash{}}))
}
