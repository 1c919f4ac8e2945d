package life_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sort"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize/steps"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func TestMinimal(t *testing.T) {
	seed, _ := strconv.Atoi(os.Getenv("FROM"))
	tl := timelines.FromSeed(uint64(seed))
	require.NoError(t, apiserver.Timeline(tl))
	run := func(tl *timeline.Timeline) (*timeline.Trace, []lifetime.Finding) {
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err)
		return trace, lifetime.Unexplained(lifetime.Check(&lifetime.Life{Timeline: tl, Trace: trace}))
	}
	_, fs := run(tl)
	require.NotEmpty(t, fs)
	r := steps.Minimise(t.Context(), tl, func(_ context.Context, tl *timeline.Timeline) bool {
		_, now := run(tl)
		return slices.ContainsFunc(now, func(f lifetime.Finding) bool { return f.Property == fs[0].Property && f.Kind == fs[0].Kind })
	})
	fmt.Println(steps.SizeOf(tl), steps.SizeOf(r.Timeline), r.Checks)
	c := &corpus.Case{Name: "x", Cluster: r.Timeline.Cluster, Timeline: r.Timeline}
	require.NoError(t, c.Write(os.Stdout))
	trace, now := run(r.Timeline)
	fmt.Println(trace, now)
}

func TestExplore(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("N"))
	from, _ := strconv.Atoi(os.Getenv("FROM"))
	counts := map[string]int{}
	first := map[string]string{}
	start := time.Now()
	for i := from; i < from+n; i++ {
		tl := timelines.FromSeed(uint64(i))
		require.NoError(t, apiserver.Timeline(tl))
		trace, err := life.Run(t.Context(), tl)
		require.NoError(t, err, i)
		l := &lifetime.Life{Timeline: tl, Trace: trace}
		seen := map[string]bool{}
		for _, f := range lifetime.Check(l) {
			k := fmt.Sprintf("%s/%s %v", f.Property, f.Kind, f.Known)
			if !seen[k] {
				counts[k]++
			}
			seen[k] = true
			if first[k] == "" {
				first[k] = fmt.Sprintf("seed %d: %s", i, f.Detail)
			}
		}
		if os.Getenv("V") != "" {
			fmt.Println(trace)
			fmt.Printf("%+v\n%+v\n", trace.Quiet, trace.Flushed)
			if trace.Crash != nil {
				fmt.Println(trace.Crash, trace.Crash.Stack)
			}
		}
	}
	var keys []string
	for k := range counts {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Println(counts[k], k, first[k])
	}
	fmt.Println(n, time.Since(start))
}
