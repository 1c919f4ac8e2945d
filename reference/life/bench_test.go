package life

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// BenchmarkRun is a run of a drawn timeline: of any, and of those with 5 pods and about 80 steps. It reports the runs per
// second of CPU time, user and system.
func BenchmarkRun(b *testing.B) {
	ofAny := func(*timeline.Timeline) bool { return true }
	ofFive := func(tl *timeline.Timeline) bool { return len(tl.Steps) >= 75 && len(tl.Steps) <= 85 && podsOf(tl) == 5 }
	for name, wanted := range map[string]func(*timeline.Timeline) bool{"any": ofAny, "5 pods, 80 steps": ofFive} {
		b.Run(name, func(b *testing.B) {
			var all []*timeline.Timeline
			for seed := uint64(0); len(all) < 100; seed++ {
				if tl := timelines.FromSeed(seed); wanted(tl) {
					require.NoError(b, apiserver.Timeline(tl))
					all = append(all, tl)
				}
			}
			i, start := 0, cpuTime(b)
			for b.Loop() {
				if _, err := Run(b.Context(), all[i%len(all)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(i)/(cpuTime(b)-start).Seconds(), "runs/CPU-s")
		})
	}
}

// podsOf is how many pods there are at the start of a timeline or are created in it.
func podsOf(tl *timeline.Timeline) int {
	n := len(tl.Cluster.Pods)
	for i := range tl.Steps {
		if tl.Steps[i].CreatedPod() != nil {
			n++
		}
	}
	return n
}
