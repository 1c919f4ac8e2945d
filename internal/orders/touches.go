package main

import (
	"hash/fnv"
	"slices"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// touches are the parts of a world that a choice reads or writes, as bits. Two choices that touch
// no part in common are independent: in either order they do the same, and leave the same behind.
//
// What of the scheduler a choice touches is not looked at closely: its cache, its queue, its
// nominations, the pods on their way to a node and the preemptions that go on are one part.
type touches uint64

const (
	// api is what the API server has, and the order in which it changed.
	api touches = 1 << iota
	// memory is what the scheduler has in memory, apart from what is the business of one
	// goroutine alone.
	memory
	// budgets are those that listers show. Only the choice of victims asks for them
	// (preemption.go:216@v1.37.1).
	budgets
	// failing is the first of one part for each kind of call: the calls that are to fail.
	failing
	// arrival is the first of one part for each place: the order of those that come to it.
	arrival = failing << 3
	// lister is the first of the parts that hold what listers show of other objects. Objects that
	// share one count as one.
	lister = arrival << 17
	// listers is how many parts these are.
	listers = 40
	// everything is what a new scheduler has to do with, and the passing of time.
	everything touches = 1<<64 - 1
)

// independent tells whether two choices may come in either order.
func independent(a, b touches) bool { return a != everything && b != everything && a&b == 0 }

func ofCall(call timeline.PlaceName) touches {
	return failing << slices.Index(timeline.Calls(), call)
}

func ofArrival(at timeline.Place) touches {
	return arrival << slices.Index(timeline.Places(), at.Name)
}

// listed is what listers show of an object, as "Pod default/a".
func listed(object string) touches {
	h := fnv.New32a()
	h.Write([]byte(object))
	return lister << (h.Sum32() % listers)
}

// touched are the parts that a choice has touched: by what was chosen, by what was seen of it, and
// by what came to wait anywhere. Entries are all until then, those of the choice are of its step.
func touched(choice *timeline.Step, entries []timeline.Entry, step int, arrived []timeline.Place) (all touches) {
	switch {
	case choice.Takeover, choice.Wait > 0, choice.Relist != "":
		return everything
	case choice.Fail != nil:
		return ofCall(choice.Fail.Call)
	case choice.Next == nil:
		all = api
	default:
		all = letGo(*choice.Next, arrived)
	}
	for i := range entries {
		if entries[i].Step == step {
			all |= seen(&entries[i], arrived)
		}
	}
	if all&memory != 0 {
		// The gate of PreEnqueue asks for the last victim (executor.go:405@v1.37.1).
		for i := range entries {
			for _, victim := range entries[i].Victims {
				all |= listed("Pod " + victim)
			}
		}
	}
	for _, at := range arrived {
		all |= ofArrival(at)
	}
	return all
}

// letGo are the parts that are touched as something goes on at a place.
func letGo(at timeline.Place, arrived []timeline.Place) touches {
	switch at.Name {
	case timeline.Start, timeline.Stop:
		return api
	case timeline.Store:
		return 0 // the entry tells
	case timeline.Patch, timeline.Evict, timeline.Bind:
		return api | ofCall(at.Name) // for what comes after it, see Called
	case timeline.Record:
		// A cycle that has failed goes on to write the status of its pod, of which it has a copy.
		if len(arrived) == 1 && arrived[0] == (timeline.Place{Name: timeline.Patch, Pod: at.Pod}) {
			return 0
		}
	case timeline.Filter:
		return memory | budgets | listed("Pod "+at.Pod)
	}
	return memory | listed("Pod "+at.Pod)
}

// seen are the parts that are touched as an entry tells. What the scheduler does about a pod may
// ask a lister for that pod (schedule_one.go:1203@v1.37.1, nominator.go:92@v1.37.1).
func seen(e *timeline.Entry, arrived []timeline.Place) touches {
	switch e.What {
	case timeline.Created, timeline.Updated, timeline.Removed, timeline.Deleting, timeline.Started:
		return api
	case timeline.Stored:
		if e.Pod() == "" {
			return budgets | listed(e.Object)
		}
		return listed(e.Object)
	case timeline.Releasing:
		return 0
	case timeline.Called:
		// A preemption goes on to its next call, or to record what it has done, without looking
		// at anything (executor.go:133@v1.37.1). What else makes calls, or fails, ends.
		if e.By != "" && e.Error == "" {
			return api | ofCall(e.Call)
		}
		return api | ofCall(e.Call) | memory | listed(e.Object)
	case timeline.Told:
		if slices.ContainsFunc(arrived, func(at timeline.Place) bool { return at.Name == timeline.Record }) {
			return 0
		}
	case timeline.Fits, timeline.Unfit, timeline.Decided:
		return memory | budgets | listed(e.Object)
	}
	return memory | listed(e.Object)
}
