package properties_test

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

// BenchmarkChecked measures how many generated clusters two workers, each with a
// driver of its own, check in a second: the model's decision, the observation over
// the pipe, and their comparison. CPU is that of all processes, also as a ratio to
// what the same costs with the scheduler that is linked in.
//
//	go test -run '^$' -bench Checked -benchtime 4000x ./properties
func BenchmarkChecked(b *testing.B) {
	for _, name := range releases.All() {
		b.Run(name, func(b *testing.B) {
			notMeasured := func(why string) { // a benchmark that is skipped says nothing by itself
				fmt.Fprintf(os.Stderr, "%s is NOT MEASURED: %s\n", name, why)
				b.SkipNow()
			}
			if _, built := releases.Built(name); !built {
				notMeasured("it is not built (preemptcheck references --build " + name + ")")
			}
			version, err := release.Parse(name)
			require.NoError(b, err)
			driven := func() reference.System {
				s, err := releases.New(name)
				require.NoError(b, err)
				return s
			}
			clusters := expressible(b, version, driven(), min(b.N, 1000))
			if len(clusters) == 0 {
				notMeasured("it knows all of no generated cluster")
			}
			defer debug.SetGCPercent(debug.SetGCPercent(400)) // as a campaign's workers do
			b.ResetTimer()
			cpu := checkAll(b, version, clusters, driven)
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "clusters/s")
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/cluster")
			linked := checkAll(b, release.Linked, clusters, func() reference.System { return inprocess.New() })
			b.ReportMetric(float64(cpu)/float64(linked), "pipe/inprocess")
		})
	}
}

// expressible are up to n generated clusters that neither the release nor its driver
// refuses.
func expressible(b *testing.B, version release.Release, driven reference.System, n int) []*model.Cluster {
	defer driven.Close()
	var out []*model.Cluster
	for seed := uint64(1); len(out) < n && seed <= 10000; seed++ {
		c := generators.Ungrouped(seed)
		if len(vocabulary.Unknown(version, c)) > 0 {
			continue
		}
		var refusal *reference.Refusal
		_, err := driven.Observe(b.Context(), c)
		if errors.As(err, &refusal) {
			continue
		}
		require.NoError(b, err)
		out = append(out, c)
	}
	return out
}

// checkAll checks b.N clusters, and returns the CPU time that took.
func checkAll(b *testing.B, version release.Release, clusters []*model.Cluster, system func() reference.System) time.Duration {
	start := cpuTime(b)
	rules := version.Rules()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			s := system()
			defer s.Close()
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				c := clusters[i%int64(len(clusters))]
				d, err := answers.Decide(c, rules)
				if !assert.NoError(b, err) {
					return
				}
				o, err := s.Observe(b.Context(), c)
				if !assert.NoError(b, err) {
					return
				}
				d.Admits(o)
			}
		})
	}
	workers.Wait()
	return cpuTime(b) - start
}

// cpuTime is the CPU time that the process, and those that it has waited for, have
// used so far, on all processors.
func cpuTime(b *testing.B) time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		require.NoError(b, syscall.Getrusage(who, &usage))
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total
}
