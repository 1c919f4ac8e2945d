package inprocess

import (
	"context"
	"fmt"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
)

// typical has 5 nodes, 20 pods and 2 budgets, and every node is a candidate.
func typical(s model.Settings) *model.Cluster {
	c := &model.Cluster{Preemptor: pod("p", 100, 3), Settings: s,
		PodDisruptionBudgets: []*policyv1.PodDisruptionBudget{budget("a", "a", 1), budget("b", "b", 0)}}
	for n := range 5 {
		name := fmt.Sprintf("n%d", n)
		c.Nodes = append(c.Nodes, node(name, 4))
		for p := range 4 {
			c.Pods = append(c.Pods, pod(fmt.Sprintf("p%d-%d", n, p), int32(p), 1, on(name), startedAfter(10*n+p), labelled([]string{"a", "b", "c", "d"}[p])))
		}
	}
	return c
}

func benchmarkModes(b *testing.B, f func(*testing.B, *System, *model.Cluster)) {
	for i, mode := range []string{"async", "sync"} {
		b.Run(mode, func(b *testing.B) {
			s := New()
			defer s.Close()
			c := typical(both[i])
			if got := observe(b, s, c); len(got.Candidates) != 5 || len(got.Actuation.Deleted) != 3 {
				b.Fatalf("an untypical cluster: %+v", got)
			}
			b.ReportAllocs()
			f(b, s, c)
		})
	}
}

// BenchmarkBare is SchedulePod and RunPostFilterPlugins alone.
func BenchmarkBare(b *testing.B) {
	benchmarkModes(b, func(b *testing.B, s *System, c *model.Cluster) {
		if err := s.Bare(c, func(call func()) {
			for b.Loop() {
				call()
			}
		}); err != nil {
			b.Fatal(err)
		}
	})
}

// BenchmarkObserveGroup is the whole for a gang of 8 that needs the room of a unit of 64 pods on 20
// nodes.
func BenchmarkObserveGroup(b *testing.B) {
	s := New()
	defer s.Close()
	c := &model.Cluster{PreemptorGroup: "podgroup/default/g", Settings: gates(), Extra: []runtime.Object{podGroup("train", 0, 64, all), podGroup("g", 10, 8)}}
	for n := range 20 {
		c.Nodes = append(c.Nodes, node(fmt.Sprintf("n%02d", n), 8))
	}
	for p := range 64 {
		c.Pods = append(c.Pods, pod(fmt.Sprintf("t%02d", p), 0, 2, memberOf("train"), on(fmt.Sprintf("n%02d", p%20))))
	}
	for p := range 8 {
		c.Pods = append(c.Pods, pod(fmt.Sprintf("g%d", p), 10, 8, memberOf("g"), nominatedTo("")))
	}
	if got := observe(b, s, c); len(got.Group.Victims) != 64 {
		b.Fatalf("%d victims", len(got.Group.Victims))
	}
	b.ReportAllocs()
	for b.Loop() {
		observe(b, s, c)
	}
}

// BenchmarkObserve is the whole: load, run, record, unload.
func BenchmarkObserve(b *testing.B) {
	benchmarkModes(b, func(b *testing.B, s *System, c *model.Cluster) {
		for b.Loop() {
			if _, err := s.Observe(context.Background(), c); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFresh is Observe on a scheduler of its own.
func BenchmarkFresh(b *testing.B) {
	c := typical(model.Settings{})
	for b.Loop() {
		s := New()
		observe(b, s, c)
		s.Close()
	}
}
