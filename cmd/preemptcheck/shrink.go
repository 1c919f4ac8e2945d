package main

import (
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/model"
)

// shrink leaves out of a cluster what it can, as long as the rest is interesting:
// nodes with their pods, pods, budgets, priority classes, and every aspect as a
// whole. c is not changed. It asks at most maxAsks times.
func shrink(c *model.Cluster, interesting func(*model.Cluster) bool) *model.Cluster {
	const maxAsks = 2000
	asks := 0
	try := func(change func(*model.Cluster)) bool {
		if asks++; asks > maxAsks {
			return false
		}
		smaller := *c
		change(&smaller)
		if !interesting(&smaller) {
			return false
		}
		c = &smaller
		return true
	}
	for shrunk := true; shrunk; {
		shrunk = false
		drop := func(length func() int, without func(smaller *model.Cluster, from, to int)) {
			for chunk := length(); chunk > 0; chunk /= 2 {
				for from := 0; from < length(); {
					to := min(from+chunk, length())
					if try(func(smaller *model.Cluster) { without(smaller, from, to) }) {
						shrunk = true
					} else {
						from = to
					}
				}
			}
		}
		drop(func() int { return len(c.Nodes) }, func(smaller *model.Cluster, from, to int) {
			gone := map[string]bool{}
			for _, n := range c.Nodes[from:to] {
				gone[n.Name] = true
			}
			smaller.Nodes = cut(c.Nodes, from, to)
			smaller.Pods = nil
			for _, p := range c.Pods {
				if !gone[p.Spec.NodeName] {
					smaller.Pods = append(smaller.Pods, p)
				}
			}
		})
		drop(func() int { return len(c.Pods) }, func(smaller *model.Cluster, from, to int) {
			smaller.Pods = cut(c.Pods, from, to)
		})
		drop(func() int { return len(c.PodDisruptionBudgets) }, func(smaller *model.Cluster, from, to int) {
			smaller.PodDisruptionBudgets = cut(c.PodDisruptionBudgets, from, to)
		})
		drop(func() int { return len(c.PriorityClasses) }, func(smaller *model.Cluster, from, to int) {
			smaller.PriorityClasses = cut(c.PriorityClasses, from, to)
		})
		for _, a := range aspects {
			if plain := a.stripped(c); plain != nil && apiserver.Admit(plain) == nil {
				shrunk = try(func(smaller *model.Cluster) { *smaller = *plain }) || shrunk
			}
		}
	}
	return c
}

// cut is list without list[from:to], in an array of its own.
func cut[T any](list []T, from, to int) []T {
	rest := make([]T, 0, len(list)-(to-from))
	return append(append(rest, list[:from]...), list[to:]...)
}
