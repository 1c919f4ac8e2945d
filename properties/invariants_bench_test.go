package properties_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
)

// BenchmarkInvariants measures what the invariants cost, as a ratio to the
// differential alone on the same clusters in the same run. Figures are CPU time of
// the process.
func BenchmarkInvariants(b *testing.B) {
	checker := checktest.Checker(b)
	var without, with time.Duration
	for start := 0; start < b.N; start += 100 {
		for _, properties := range [][]properties.Property{nil, invariant.All()} {
			checker.Properties = properties
			begin := cpuTime(b)
			for seed := start; seed < min(start+100, b.N); seed++ {
				_, err := checker.Check(context.Background(), generators.FromSeed(uint64(seed)))
				require.NoError(b, err)
			}
			if properties == nil {
				without += cpuTime(b) - begin
			} else {
				with += cpuTime(b) - begin
			}
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(without.Microseconds())/float64(b.N), "without-µs/case")
	b.ReportMetric(float64(with)/float64(without), "with/without")
}
