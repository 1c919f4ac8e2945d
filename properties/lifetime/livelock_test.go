package lifetime_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

// TestAffinityToVictims: a pod that preempts what replaces its victim for ever is told, unless it has to be with that.
func TestAffinityToVictims(t *testing.T) {
	for app, told := range map[string]bool{"b": false, "c": true} {
		s, err := corpus.Load("../../corpus/timelines/pod-preempts-what-it-has-affinity-to.yaml")
		require.NoError(t, err)
		tl := s.Cases[0].Timeline
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err)
		for i := range trace.Entries {
			if e := &trace.Entries[i]; e.What == timeline.Created && e.Object == "Pod default/p" {
				p := e.Is.(*v1.Pod).DeepCopy()
				p.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchLabels["app"] = app
				e.Is = p
			}
		}
		findings := lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace})
		require.Equal(t, told, slices.ContainsFunc(findings, func(f lifetime.Finding) bool { return f.Property == "preemption-leads-somewhere" }), app)
	}
}
