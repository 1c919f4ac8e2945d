package properties

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model"
)

// TestStageOfDeath: a process that died shows nothing but its stack.
func TestStageOfDeath(t *testing.T) {
	const others = "\n\ngoroutine 9 [runnable]:\nk8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Executor).prepareCandidateAsync.func1()\n"
	const frame = "k8s.io/kubernetes/pkg/scheduler/framework/runtime.(*frameworkImpl)."
	const volumeBinding = "k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding.(*VolumeBinding)."
	for frames, want := range map[string]model.Stage{
		"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources.(*Fit).Filter(0x1)\n\tfit.go:1": model.StageFilter,
		"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources.(*Fit).Filter(0x1)\n\tfit.go:1\n" +
			"k8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Evaluator).DryRunPreemption.func1(0x1)\n\tpreemption.go:1": model.StageDryRun,
		"k8s.io/kubernetes/pkg/scheduler/framework/preemption.pickOneNodeForPreemption({0x1})\n\tpreemption.go:1":                       model.StagePick,
		"k8s.io/kubernetes/pkg/scheduler/framework/preemption.(*Executor).prepareCandidateAsync.func2(0x1)\n\texecutor.go:1":            model.StageActuate,
		"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption.(*DefaultPreemption).PodEligibleToPreemptOthers(0x1)\n\ta": model.StageEligible,
		frame + "RunPostFilterPlugins(0x1)\n\tframework.go:1":                                                                           model.StagePostFilter,
		frame + "RunPreScorePlugins(0x1)\n\tframework.go:1":                                                                             model.StagePreScore,
		volumeBinding + "Score(0x1)\n\tvolume_binding.go:1\n" + frame + "RunScorePlugins.func2(0x1)\n\tfr":                              model.StageScore,
		volumeBinding + "Reserve(0x1)\n\tv.go:1\n" + frame + "RunReservePluginsReserve(0x1)\n\tframework.g":                             model.StageReserve,
		frame + "RunPermitPlugins(0x1)\n\tframework.go:1":                                                                               model.StagePermit,
		frame + "WaitOnPermit(0x1)\n\tframework.go:1":                                                                                   model.StagePermit,
		frame + "RunPreBindPreFlights(0x1)\n\tframework.go:1":                                                                           model.StagePreBind,
		volumeBinding + "PreBind(0x1)\n\tv.go:1\n" + frame + "RunPreBindPlugins(0x1)\n\tframework.go:1":                                 model.StagePreBind,
		frame + "RunBindPlugins(0x1)\n\tframework.go:1":                                                                                 model.StageBind,
		frame + "RunPostBindPlugins(0x1)\n\tframework.go:1":                                                                             model.StagePostBind,
	} {
		stack := "fatal error: stack overflow\n\ngoroutine 7 [running]:\n" + frames + others
		require.Equal(t, want, CrashedAt(&model.Observation{Crash: &model.Crash{Stack: stack}}), frames)
	}
	require.Equal(t, model.StageScore, CrashedAt(&model.Observation{Crash: &model.Crash{
		Stack: "panic({0x1})\n\tpanic.go:1\n" + volumeBinding + "Score(0x1)\n\tv.go:1\n" + frame + "RunScorePlugins.func2(0x1)\n\tf.go:1\n" +
			"created by k8s.io/kubernetes/pkg/scheduler/framework/parallelize.Parallelizer.Until in goroutine 7\n",
	}}))
	require.Equal(t, model.StageFilter, CrashedAt(&model.Observation{Crash: &model.Crash{}}))
}
