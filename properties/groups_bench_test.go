package properties_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// BenchmarkGroup measures what a checked cluster with pod groups costs, as a ratio to the
// bare ScheduleOne on the same clusters in the same run: with a pod that preempts, and
// with a group that does. All figures are CPU time of the process. The median is that of
// turns of 100 clusters.
func BenchmarkGroup(b *testing.B) {
	for _, kind := range []struct {
		name  string
		group bool
	}{{"pod preempts", false}, {"group preempts", true}} {
		b.Run(kind.name, func(b *testing.B) {
			system := inprocess.New()
			defer func() { require.NoError(b, system.Close()) }()
			checker := &properties.Checker{System: system}
			gates := map[string]bool{"GenericWorkload": true}
			seed := uint64(0)
			var bare, whole time.Duration
			var ratios []float64
			for done := 0; done < b.N; done = min(done+100, b.N) {
				var clusters []*model.Cluster
				bareBefore, wholeBefore := bare, whole
				for ; len(clusters) < min(100, b.N-done); seed++ {
					c := generators.OfAnyPreemptor(seed, gates)
					if (c.PreemptorGroup != "") != kind.group {
						continue
					}
					require.NoError(b, system.BareCycle(c, func(call func()) {
						begin := cpuTime(b)
						call()
						bare += cpuTime(b) - begin
						clusters = append(clusters, c)
					}))
				}
				begin := cpuTime(b)
				for _, c := range clusters {
					_, err := checker.Check(context.Background(), c)
					require.NoError(b, err)
				}
				whole += cpuTime(b) - begin
				ratios = append(ratios, float64(whole-wholeBefore)/float64(bare-bareBefore))
			}
			b.ReportMetric(0, "ns/op") // generation is not what is measured
			b.ReportMetric(float64(bare.Microseconds())/float64(b.N), "bare-µs/case")
			b.ReportMetric(float64(whole.Microseconds())/float64(b.N), "whole-µs/case")
			b.ReportMetric(float64(whole)/float64(bare), "whole/bare")
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "median-whole/bare")
		})
	}
}
