package campaign

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// BenchmarkWork is what a worker does with 100 clusters, and how many of them it does in a
// second of CPU time, with the settings that fuzz has by itself and no timelines. Tests
// collect garbage twice as often as a worker does (testsize).
func BenchmarkWork(b *testing.B) {
	bubble.DeepStacks = true
	system := inprocess.New()
	defer func() { require.NoError(b, system.Close()) }()
	checker := &properties.Checker{System: system, Release: release.Linked, Properties: all.Cheap(), Sample: all.Sample(all.Shares{Relations: 2, Filters: 128, Contracts: 64, Repeating: all.RepeatingOneIn})}
	const count = 100
	first, begin := uint64(0), cpuTime()
	for b.Loop() {
		_, err := work(b.Context(), checker, request{Seed: 7, First: first, Count: count})
		require.NoError(b, err)
		first += count
	}
	b.ReportMetric(float64(first)/max(cpuTime()-begin, time.Millisecond).Seconds(), "clusters/cpu-s")
}
