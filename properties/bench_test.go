package properties_test

import (
	"context"
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

var clustersIn = flag.String("clusters", "", "directory of cases that BenchmarkCase measures over and over, instead of generated ones: two versions can be compared on the same")

// BenchmarkCase measures what a checked cluster costs, as a ratio to the bare
// upstream call (SchedulePod and PostFilter) on the same clusters in the same
// run: the whole case (load, bare call, record, model, comparison), and Decide
// alone; and besides, counting the case. The median is that of turns of 100 clusters.
// All figures are CPU time of the process.
func BenchmarkCase(b *testing.B) {
	system := inprocess.New()
	defer func() { require.NoError(b, system.Close()) }()
	checker := &properties.Checker{System: system}
	var bare, decide, whole, count time.Duration
	var stats probe.Stats
	var ratios []float64 // whole to bare, of each turn

	next := generated()
	if *clustersIn != "" {
		next = over(b, *clustersIn)
	}
	cases := 0
	// In turns of a hundred, so that all three see the same state of the machine.
	for ; cases < b.N; cases = min(cases+100, b.N) {
		clusters := make([]*model.Cluster, 0, 100)
		for len(clusters) < min(100, b.N-cases) {
			c := next()
			if _, err := answers.Decide(c, answers.Documented()); err == nil { // else it is not modelled
				clusters = append(clusters, c)
			}
		}
		bareBefore, wholeBefore := bare, whole
		for _, c := range clusters {
			require.NoError(b, system.Bare(c, func(call func()) {
				begin := cpuTime(b)
				call()
				bare += cpuTime(b) - begin
			}))
		}
		begin := cpuTime(b)
		for _, c := range clusters {
			_, err := answers.Decide(c, answers.Documented())
			require.NoError(b, err)
		}
		decide += cpuTime(b) - begin

		begin = cpuTime(b)
		results := make([]*properties.Result, len(clusters))
		for i, c := range clusters {
			var err error
			results[i], err = checker.Check(context.Background(), c)
			require.NoError(b, err)
		}
		whole += cpuTime(b) - begin
		ratios = append(ratios, float64(whole-wholeBefore)/float64(bare-bareBefore))

		begin = cpuTime(b)
		for _, r := range results {
			stats.Add(r)
		}
		count += cpuTime(b) - begin
	}
	perCase := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N) }
	b.ReportMetric(0, "ns/op") // generation is not what is measured
	b.ReportMetric(perCase(bare), "bare-µs/case")
	b.ReportMetric(perCase(decide), "decide-µs/case")
	b.ReportMetric(perCase(whole), "whole-µs/case")
	b.ReportMetric(perCase(count), "count-µs/case")
	b.ReportMetric(float64(decide)/float64(bare), "decide/bare")
	b.ReportMetric(float64(whole)/float64(bare), "whole/bare")
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "median-whole/bare")
}

// generated returns what draws a cluster at each call, always the same ones.
func generated() func() *model.Cluster {
	seed := uint64(0)
	return func() *model.Cluster {
		seed++
		return generators.FromSeed(seed - 1)
	}
}

// over returns what goes over the clusters of the cases in a directory, again and again.
func over(b *testing.B, dir string) func() *model.Cluster {
	s, err := corpus.Load(dir)
	require.NoError(b, err)
	require.NotEmpty(b, s.Cases)
	i := 0
	return func() *model.Cluster {
		i++
		return s.Cases[(i-1)%len(s.Cases)].Cluster
	}
}
