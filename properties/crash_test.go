package properties

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

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

// TestBreaks: a crash where there is a known one to happen is no finding, and nothing to compare.
func TestBreaks(t *testing.T) {
	claim := &v1.PersistentVolumeClaim{}
	claim.Annotations = map[string]string{v1.BetaStorageClassAnnotation: "c"}
	c := &model.Cluster{Extra: []runtime.Object{claim}}
	crash := func(where string) *model.Observation {
		return &model.Observation{Crash: &model.Crash{Kind: model.Panic, Message: nilPointer, Where: where, Stack: "a/b.C()\n\t/a/b/c.go:2"}}
	}
	broken, findings := Breaks(c, crash("volumebinding.(*VolumeBinding).Score (volume_binding.go:503)"))
	require.True(t, broken)
	require.Empty(t, findings)
	broken, findings = Breaks(c, crash("elsewhere (a.go:1)"))
	require.True(t, broken)
	require.Len(t, findings, 1)
	require.Equal(t, []string{"b.C (c.go:2)"}, findings[0].Stack)
	broken, findings = Breaks(c, &model.Observation{})
	require.False(t, broken)
	require.Empty(t, findings)
}

// TestFrames: of a panic its own goroutine is shown, without what the process said; of a
// standstill those that are involved, as far as they are few.
func TestFrames(t *testing.T) {
	const own, other = "goroutine 7 [running]:\npanic({0x1, 0x2})\n\t/go/src/panic.go:1 +0x1\na.org/b/c.(*D).E(0x1)\n\t/x/b/c/d.go:503 +0x7\n",
		"goroutine 8 [chan receive]:\na.org/b/c.wait(...)\n\t/x/b/c/w.go:5 +0x7\ncreated by a.org/b/c.begin in goroutine 1\n\t/x/b/c/b.go:9 +0x1"
	panics := &model.Crash{Kind: model.Panic, Stack: "panic: oops\n\n" + own + "\n" + other}
	require.Equal(t, []string{"c.(*D).E (d.go:503)"}, panics.Frames())
	hangs := &model.Crash{Kind: model.Hang, Stack: own + "\n" + other}
	require.Equal(t, []string{"c.(*D).E (d.go:503)", "another goroutine:", "c.wait (w.go:5)", "c.begin (b.go:9)"}, hangs.Frames())
	require.Empty(t, (&model.Crash{Stack: "nothing"}).Frames())
	deep := (&model.Crash{Kind: model.Exit, Stack: "goroutine 1 [running]:\n" + strings.Repeat("a.f()\n\t/a/a.go:1\n", 100)}).Frames()
	require.Len(t, deep, 41)
	require.Equal(t, []string{"a.f (a.go:1)", "and 60 more"}, deep[39:])
}
