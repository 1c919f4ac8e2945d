// Package bounded goes through every cluster within a bound, each once up to
// symmetry.
package bounded

import (
	"fmt"
	"slices"
)

// Bound is a finite space of clusters. Each has at least one node; the nodes run
// out of one resource, of which each lacks 1 … Lack units for the preemptor as
// it stands, so that the preemptor fits nowhere. The possible victims differ in
// size, priority, start time, in the budgets that select them and, if so
// allowed, in whether they are terminating. All priorities of possible victims
// but the lowest there is, which counts nothing in a sum, are evenly spaced, so
// that sums of them can tie. Every budget selects at least one possible victim.
//
// With pod groups, bound pods may belong to one, which is preempted as a whole or pod by pod, and has any of the
// priorities; or the preemptor is a group whose members are alike, of which some may fit as it stands, but too few.
type Bound struct {
	Nodes   int  `json:"nodes"`   // at most, up to 3
	Pods    int  `json:"pods"`    // at most, in the whole cluster, up to 6
	Ranks   int  `json:"ranks"`   // priorities below the preemptor's, up to 3
	Sizes   int  `json:"sizes"`   // pods request 1 … Sizes units
	Lack    int  `json:"lack"`    // how many units a node lacks at most
	Starts  int  `json:"starts"`  // start times, 1 to 4
	NoStart bool `json:"noStart"` // a pod may also have no start time
	Budgets int  `json:"budgets"` // at most, up to 2
	Allowed int  `json:"allowed"` // disruptions that a budget allows, at most

	Lowest      bool `json:"lowest"`      // the first of Ranks is the lowest priority there is
	Staying     bool `json:"staying"`     // there may be bound pods of the preemptor's own priority
	Terminating bool `json:"terminating"` // possible victims may be terminating already
	Nominated   bool `json:"nominated"`   // pods of lower or of the preemptor's priority may be nominated to a node

	Groups int `json:"groups,omitempty"` // at most, and at least one, of bound pods; up to 2, or 0 for none
	Gang   int `json:"gang,omitempty"`   // members of the preemptor, at most, up to 2; 0: it is a pod
}

func (b Bound) String() string {
	text := fmt.Sprintf("≤ %d nodes, ≤ %d pods, %d priorities, sizes 1–%d, lack 1–%d, %d start times",
		b.Nodes, b.Pods, b.Ranks, b.Sizes, b.Lack, b.Starts)
	for _, extra := range []struct {
		on   bool
		text string
	}{
		{b.NoStart, " or none"},
		{b.Lowest, ", one priority the lowest there is"},
		{b.Budgets > 0, fmt.Sprintf(", ≤ %d budgets allowing 0–%d", b.Budgets, b.Allowed)},
		{b.Staying, ", staying pods"},
		{b.Terminating, ", terminating pods"},
		{b.Nominated, ", nominated pods"},
		{b.Groups == 1, ", 1 pod group"},
		{b.Groups > 1, fmt.Sprintf(", 1–%d pod groups", b.Groups)},
		{b.Gang > 0, fmt.Sprintf(", a group of ≤ %d preempts", b.Gang)},
	} {
		if extra.on {
			text += extra.text
		}
	}
	return text
}

// The limits of a Bound.
const (
	maxNodes   = 3
	maxPods    = 6
	maxRanks   = 3 // with more, relabelling priorities changes which sums tie
	maxStarts  = 4
	maxBudgets = 2
	maxGroups  = 2
	maxGang    = 2
)

func (b Bound) check() {
	in := func(v, low, high int) bool { return low <= v && v <= high }
	if !in(b.Nodes, 1, maxNodes) || !in(b.Pods, 0, maxPods) || !in(b.Ranks, 1, maxRanks) || !in(b.Sizes, 1, 4) || !in(b.Lack, 1, 4) ||
		!in(b.Starts, 1, maxStarts) || !in(b.Budgets, 0, maxBudgets) || !in(b.Allowed, 0, maxPods) ||
		!in(b.Groups, 0, maxGroups) || !in(b.Gang, 0, maxGang) ||
		b.Groups > 0 && (b.Starts > 1 || b.NoStart || b.Lowest) || // units of several pods compare them across priorities
		b.Groups == maxGroups && b.Budgets == maxBudgets { // only one of them is exchanged
		panic(fmt.Sprintf("bounded: bound out of range: %v", b))
	}
}

// ordinaryRanks is how many of Ranks are not the lowest priority there is.
func (b Bound) ordinaryRanks() int { return b.Ranks - toInt(b.Lowest) }

// traits is the set of traits that clusters may have.
func (b Bound) traits() int {
	return shared | noStart*toInt(b.NoStart) | lowest*toInt(b.Lowest) |
		staying*toInt(b.Staying) | terminating*toInt(b.Terminating) | nominated*toInt(b.Nominated) |
		roomy*toInt(b.Gang > 1)
}

// MaxBound is the largest number that Bounds knows.
const MaxBound = 4

// Bounds are the bounds of a number from 1 to MaxBound, each of which adds to
// those before it: 1 takes seconds to check, 2 half a minute, 3 some minutes and
// 4 up to half an hour.
func Bounds(number int) []Bound {
	steps := [MaxBound][]Bound{
		{
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Lowest: true},
			{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 2, NoStart: true},
			{Nodes: 2, Pods: 2, Ranks: 1, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 1},
			{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Staying: true, Terminating: true, Nominated: true},
		},
		{
			{Nodes: 3, Pods: 4, Ranks: 3, Sizes: 2, Lack: 2, Starts: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 2, NoStart: true},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 1, Allowed: 1},
			{Nodes: 2, Pods: 3, Ranks: 1, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 2},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Staying: true, Terminating: true, Nominated: true},
		},
		{
			{Nodes: 3, Pods: 5, Ranks: 3, Sizes: 2, Lack: 2, Starts: 1},
			{Nodes: 2, Pods: 5, Ranks: 2, Sizes: 3, Lack: 3, Starts: 1},
			{Nodes: 2, Pods: 4, Ranks: 3, Sizes: 2, Lack: 2, Starts: 1, Lowest: true, Budgets: 1, Allowed: 1},
			{Nodes: 2, Pods: 4, Ranks: 2, Sizes: 2, Lack: 2, Starts: 2, Budgets: 1, Allowed: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 2},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 1, Allowed: 1, Staying: true, Terminating: true, Nominated: true},
			{Nodes: 2, Pods: 4, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Terminating: true, Nominated: true},
		},
		{
			{Nodes: 2, Pods: 4, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Budgets: 2, Allowed: 1},
			{Nodes: 1, Pods: 5, Ranks: 2, Sizes: 3, Lack: 4, Starts: 1, Budgets: 1, Allowed: 2},
		},
	}
	return slices.Concat(steps[:number]...)
}

// GroupBounds are bounds of clusters with pod groups, of a number from 1 to MaxBound: as Bounds, with about the same times.
func GroupBounds(number int) []Bound {
	steps := [MaxBound][]Bound{
		{
			{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Groups: 1, Staying: true},
			{Nodes: 2, Pods: 2, Ranks: 1, Sizes: 2, Lack: 2, Starts: 1, Gang: 2},
		},
		{
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 1, Lack: 2, Starts: 1, Groups: 1},
			{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Groups: 1, Gang: 2},
			{Nodes: 2, Pods: 2, Ranks: 1, Sizes: 2, Lack: 2, Starts: 1, Groups: 1, Budgets: 2, Allowed: 1},
		},
		{
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Groups: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Gang: 2},
			{Nodes: 2, Pods: 2, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Groups: 1, Gang: 2, Budgets: 1, Allowed: 1, Staying: true, Terminating: true, Nominated: true},
		},
		{
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Groups: 1, Budgets: 1, Allowed: 1},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 1, Lack: 2, Starts: 1, Groups: 2, Gang: 2},
			{Nodes: 2, Pods: 3, Ranks: 2, Sizes: 2, Lack: 2, Starts: 1, Groups: 1, Gang: 2},
			{Nodes: 2, Pods: 4, Ranks: 2, Sizes: 1, Lack: 2, Starts: 1, Groups: 2},
		},
	}
	return slices.Concat(steps[:number]...)
}
