package releases_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

// BenchmarkChecked measures how many generated clusters two workers, each with a
// driver of its own, check in a second: the model's decision, the observation over
// the pipe, and their comparison. CPU is that of all processes, also as a ratio to
// what the same costs with the scheduler that is linked in.
//
//	go test -run '^$' -bench Checked -benchtime 4000x ./reference/releases
func BenchmarkChecked(b *testing.B) {
	for _, name := range releases.All() {
		b.Run(name, func(b *testing.B) {
			if _, built := releases.Built(name); !built {
				// A benchmark that is skipped says nothing by itself.
				fmt.Fprintf(os.Stderr, "%s is NOT MEASURED: it is not built (preemptcheck references --build %s)\n", name, name)
				b.Skip()
			}
			release, err := model.ParseRelease(name)
			require.NoError(b, err)
			clusters := expressible(release, min(b.N, 1000))
			b.ResetTimer()
			cpu, refused := checkAll(b, release, clusters, func() reference.System {
				s, err := releases.New(name)
				require.NoError(b, err)
				return s
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N-refused)/b.Elapsed().Seconds(), "clusters/s")
			b.ReportMetric(float64(cpu.Microseconds())/float64(b.N), "cpu-µs/cluster")
			linked, _ := checkAll(b, model.Linked, clusters, func() reference.System { return inprocess.New() })
			b.ReportMetric(float64(cpu)/float64(linked), "pipe/inprocess")
		})
	}
}

// expressible are n generated clusters that the release knows all of.
func expressible(release model.Release, n int) []*model.Cluster {
	var out []*model.Cluster
	for seed := uint64(1); len(out) < n; seed++ {
		if c := generators.FromSeed(seed); len(release.Unknown(c)) == 0 {
			out = append(out, c)
		}
	}
	return out
}

// checkAll checks b.N clusters, and returns the CPU time that took, and how many
// the driver refused.
func checkAll(b *testing.B, release model.Release, clusters []*model.Cluster, system func() reference.System) (time.Duration, int) {
	start := cpuTime(b)
	rules := release.Rules()
	var next, refused atomic.Int64
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			s := system()
			defer s.Close()
			for i := next.Add(1) - 1; i < int64(b.N); i = next.Add(1) - 1 {
				c := clusters[i%int64(len(clusters))]
				d, err := model.Decide(c, rules)
				if err != nil {
					refused.Add(1)
					continue
				}
				o, err := s.Observe(context.Background(), c)
				if err != nil {
					refused.Add(1)
					continue
				}
				d.Admits(o)
			}
		})
	}
	workers.Wait()
	require.Less(b, refused.Load(), max(2, int64(b.N)/10), "most clusters are checked")
	return cpuTime(b) - start, int(refused.Load())
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
