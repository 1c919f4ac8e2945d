package model

import (
	"cmp"

	"github.com/preemptcheck/preemptcheck/model/unit"
)

// MoreImportant is negative if a is more important than b, and 0 if they are
// equally important: the higher priority is more important, then the pod that has
// run longer (preemption/util.go:56@v1.37.1, doc comment of MoreImportantVictim).
func MoreImportant(a, b *unit.Unit) int {
	if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
		return c
	}
	return a.Start.Compare(b.Start)
}
