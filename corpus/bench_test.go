//go:build unix

package corpus

import (
	"bytes"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/corpus/manifest"
)

// BenchmarkReadDump reads a dump of 7.5 MB: 100 nodes and 2,000 pods, 50 of which
// wait. It compares package manifest with sigs.k8s.io/yaml, which knows no lines of
// fields and is no stricter than kubectl. JSON shows what the YAML parser costs.
// The largest clusters have ten times as much.
func BenchmarkReadDump(b *testing.B) {
	text := kubectlDump(100, 1_950, 50)
	items := strings.Split(string(text), "\n- apiVersion")[1:]
	items[len(items)-1], _, _ = strings.Cut(items[len(items)-1], "\nkind: List")
	objects := make([]string, len(items))
	for i := range items {
		items[i] = "- apiVersion" + items[i] + "\n"
		object, err := yaml.YAMLToJSON([]byte(items[i]))
		require.NoError(b, err)
		objects[i] = string(object[1 : len(object)-1])
	}
	asJSON := `{"apiVersion": "v1", "kind": "List", "items": [` + strings.Join(objects, ",") + "]}"

	decode := func(text string) []manifest.Object {
		all, err := manifest.Decode([]byte(text), newDocument)
		require.Nil(b, err)
		return all
	}
	withLibrary := func() (all []any) {
		for _, item := range items {
			if strings.Contains(item[:40], "kind: Node") {
				var nodes []*v1.Node
				require.NoError(b, yaml.UnmarshalStrict([]byte(item), &nodes))
				nodes[0].TypeMeta = v1.Node{}.TypeMeta
				all = append(all, nodes[0])
			} else {
				var pods []*v1.Pod
				require.NoError(b, yaml.UnmarshalStrict([]byte(item), &pods))
				pods[0].TypeMeta = v1.Pod{}.TypeMeta
				all = append(all, pods[0])
			}
		}
		return all
	}
	fromYAML, fromJSON := decode(string(text)), decode(asJSON)
	for i, want := range withLibrary() {
		require.True(b, reflect.DeepEqual(want, any(fromYAML[i].Value)), "item %d", i)
		require.True(b, reflect.DeepEqual(want, any(fromJSON[i].Value)), "item %d", i)
	}

	for _, way := range []struct {
		name string
		do   func()
	}{
		{"Decode/YAML", func() { decode(string(text)) }},
		{"Decode/sigs.k8s.io", func() { withLibrary() }},
		{"Decode/JSON", func() { decode(asJSON) }},
		{"Read/YAML", func() {
			s, err := Read(bytes.NewReader(text), "dump")
			require.NoError(b, err)
			require.Len(b, s.Cases, 50)
		}},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var used time.Duration
			var peak uint64
			for b.Loop() {
				before := cpuTime(b)
				peak = max(peak, peakMemory(way.do))
				used += cpuTime(b) - before
			}
			b.ReportMetric(used.Seconds()/float64(b.N), "cpu-s/op")
			b.ReportMetric(float64(peak)/(1<<20), "MiB-peak")
		})
	}
}

// cpuTime is what the process has used of all processors.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// peakMemory is the most that the heap held while f ran, in bytes.
func peakMemory(f func()) (peak uint64) {
	debug.FreeOSMemory()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	done, sampled := make(chan bool), make(chan bool)
	go func() {
		defer close(sampled)
		for {
			metrics.Read(heap)
			peak = max(peak, heap[0].Value.Uint64())
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	<-sampled
	return peak
}
