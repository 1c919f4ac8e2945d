//go:build linux

package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/replay"
	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// BenchmarkCheckDump measures what "check" costs on a dump of 200 nodes and 1,300
// pods, 20 of which wait: all of it, what the differential alone costs, and both as
// ratios to the bare upstream calls (SchedulePod and PostFilter) in the same run. All
// figures are CPU time of the process.
func BenchmarkCheckDump(b *testing.B) {
	var text bytes.Buffer
	require.NoError(b, mk.WriteLarge(&text, mk.Size{Nodes: 200, Bound: 1280, Pending: 20}))
	system := inprocess.New()
	defer func() { require.NoError(b, system.Close()) }()
	var bare, differential, whole time.Duration
	for b.Loop() {
		begin := cpuTime(b)
		s, err := corpus.Read(bytes.NewReader(text.Bytes()), "dump")
		require.NoError(b, err)
		require.Len(b, s.Cases, 20)
		read := cpuTime(b) - begin
		judge := func(promises ...properties.Property) time.Duration {
			checker := &properties.Checker{System: system, Properties: promises}
			begin := cpuTime(b)
			for _, c := range s.Cases {
				require.False(b, replay.Judge(context.Background(), checker, c).IsNotDone())
			}
			return read + cpuTime(b) - begin
		}
		for _, c := range s.Cases {
			bare += bareTime(b, system, c.Cluster)
		}
		differential += judge()
		whole += judge(all.Properties()...)
	}
	b.ReportMetric(whole.Seconds()/float64(b.N), "cpu-s/op")
	b.ReportMetric(float64(differential)/float64(bare), "differential/bare")
	b.ReportMetric(float64(whole)/float64(bare), "whole/bare")
}

// BenchmarkExplainDump measures what "explain" costs on dumps of large clusters, from
// JSON as kubectl prints it: CPU time to read, and of all, the latter also as a ratio to
// the bare upstream call; and the most memory that the process took, which counts only
// if the benchmark is run alone.
func BenchmarkExplainDump(b *testing.B) {
	for _, size := range []mk.Size{{Nodes: 500, Bound: 15_000 - 1, Pending: 1}, {Nodes: 5_000, Bound: 150_000 - 1, Pending: 1}} {
		b.Run(fmt.Sprintf("%d nodes", size.Nodes), func(b *testing.B) {
			if testing.Short() && size.Nodes > 500 {
				b.Skip("takes half a minute, and 4 GiB")
			}
			file := filepath.Join(b.TempDir(), "dump.json")
			f, err := os.Create(file)
			require.NoError(b, err)
			require.NoError(b, mk.WriteLarge(f, size))
			require.NoError(b, f.Close())
			system := inprocess.New()
			defer func() { require.NoError(b, system.Close()) }()
			var bare, read, whole time.Duration
			for b.Loop() {
				begin := cpuTime(b)
				s, err := corpus.Load(file)
				require.NoError(b, err)
				require.Len(b, s.Cases, 1)
				read += cpuTime(b) - begin
				r, err := (&properties.Checker{System: system}).Check(context.Background(), s.Cases[0].Cluster)
				require.NoError(b, err)
				e := explanation.Of(r, 10)
				require.NotEmpty(b, e.Choices)
				e.WriteText(io.Discard)
				whole += cpuTime(b) - begin
				bare += bareTime(b, system, s.Cases[0].Cluster)
			}
			b.ReportMetric(read.Seconds()/float64(b.N), "read-cpu-s/op")
			b.ReportMetric(whole.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(whole)/float64(bare), "whole/bare")
			var u syscall.Rusage
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
			b.ReportMetric(float64(u.Maxrss)/(1<<10), "MiB-peak") // Linux counts KiB
		})
	}
}

func bareTime(b *testing.B, system *inprocess.System, c *model.Cluster) (used time.Duration) {
	require.NoError(b, system.Bare(c, func(call func()) {
		begin := cpuTime(b)
		call()
		used = cpuTime(b) - begin
	}))
	return used
}

// cpuTime is what the process has used of all processors.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
