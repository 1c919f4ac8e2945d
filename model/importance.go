package model

import (
	"cmp"

	"github.com/preemptcheck/preemptcheck/model/unit"
)

// MoreImportant is negative if a is more important than b, and 0 if they are
// equally important: the higher priority is more important, then a group than a pod, and
// one of groups than one of pods; then the group with more pods; then what has run longer
// (docs: concepts/scheduling-eviction/workload-aware-preemption; preemption/
// util.go:56@v1.37.1, doc comment of MoreImportantVictim).
func MoreImportant(a, b *unit.Unit) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	if c := cmp.Or(cmp.Compare(b.Kind, a.Kind), cmp.Compare(len(b.Pods), len(a.Pods))); c != 0 {
		return c
	}
	return a.Start.Compare(b.Start)
}
