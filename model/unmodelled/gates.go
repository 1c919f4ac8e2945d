package unmodelled

import (
	"maps"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// modelledGates are the feature gates of which both positions are modelled. The
// value says whether the decision depends on the gate, known findings aside.
var modelledGates = map[string]bool{
	model.GateAsyncPreemption:  true,
	filter.GateTaintComparison: true,
	model.GateWorkload:         true,
	model.GateComposite:        true,
	// How pod groups are scheduled; CompositePodGroup needs the first.
	model.GateTopology:         true,
	"PodGroupPreemptionPolicy": true,
	// Which devices are given.
	device.GateOptionalOperations: true,
	// Whose claims pods use.
	device.GateGroupClaims: true,
	// How nominations are used on the way to binding, pods after the first of a
	// kind, and the queue.
	"NominatedNodeNameForExpectation": false,
	"OpportunisticBatching":           false,
	"SchedulerPopFromBackoffQ":        false,
	// Who makes the API calls.
	"SchedulerAsyncAPICalls": false,
	// A shorter way to the same answer.
	"InterPodAffinityHostnameFastPath": false,
	// What becomes of pods whose resize is deferred, which is not modelled with the gate on.
	filter.GateResizePreemption: false,
}

// MattersGate tells whether a decision may depend on a feature gate.
func MattersGate(name string) bool { return modelledGates[name] }

// Gates are all feature gates of which both positions are modelled, sorted.
func Gates() []string { return slices.Sorted(maps.Keys(modelledGates)) }

// IdleGates are the feature gates that may be set, but that no decision depends
// on, known findings aside. Sorted.
func IdleGates() []string {
	var names []string
	for name, matters := range modelledGates {
		if !matters {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
