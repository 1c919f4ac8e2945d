//go:build k1.19

package main

import (
	"fmt"
	"maps"
	"slices"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// gates puts feature gates, which are one global, into force.
var gates = gateKeeper{defaults: map[string]bool{}}

type gateKeeper struct {
	inForce  map[string]bool
	defaults map[string]bool // of those that were ever changed
}

func (k *gateKeeper) apply(wanted map[string]bool) error {
	if maps.Equal(k.inForce, wanted) {
		return nil
	}
	global := utilfeature.DefaultMutableFeatureGate
	values := maps.Clone(k.defaults)
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		on := wanted[name]
		spec, ok := knownGates[featuregate.Feature(name)]
		switch {
		case name == "AllAlpha" || name == "AllBeta":
			return fmt.Errorf("feature gate %s: name the gates it stands for, one by one", name)
		case !ok && name == model.GateAsyncPreemption && !on:
			continue // what a release without the gate does
		case !ok:
			return wire.Refusal("feature gate " + name)
		case name == "SchedulerAsyncAPICalls" && on:
			return fmt.Errorf("feature gate %s: the driver of a release does not see asynchronous API calls", name)
		case spec.LockToDefault && spec.Default != on:
			return fmt.Errorf("feature gate %s is locked to %t", name, spec.Default)
		}
		if _, seen := k.defaults[name]; !seen {
			k.defaults[name] = global.Enabled(featuregate.Feature(name))
		}
		values[name] = on
	}
	if err := global.SetFromMap(values); err != nil {
		return fmt.Errorf("feature gates: %w", err)
	}
	k.inForce = maps.Clone(wanted)
	return nil
}

// switchedOff tells whether a gate is known and off.
func switchedOff(name string) bool {
	_, known := knownGates[featuregate.Feature(name)]
	return known && !inForce(name)
}

// inForce tells whether a gate is known and on.
func inForce(name string) bool {
	gate := featuregate.Feature(name)
	_, known := knownGates[gate]
	return known && utilfeature.DefaultFeatureGate.Enabled(gate)
}
