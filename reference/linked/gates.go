package linked

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	"k8s.io/klog/v2"
)

// Feature gates are one global of the process. A scheduler captures some of them
// when it is built and reads others in every cycle, so the set a scheduler was
// built with must be the global one whenever it runs.

// GateSet is a set of gates that differ from the defaults, in canonical text:
// "A=true,B=false", sorted.
type GateSet string

func NewGateSet(gates map[string]bool) GateSet {
	var s []byte
	for i, name := range slices.Sorted(maps.Keys(gates)) {
		if i > 0 {
			s = append(s, ',')
		}
		s = fmt.Appendf(s, "%s=%t", name, gates[name])
	}
	return GateSet(s)
}

// Gates shares the global among all Systems of the process: those that want the
// set that is in force run side by side, the others wait until it is free.
var Gates = gateKeeper{free: sync.NewCond(new(sync.Mutex)), valid: map[GateSet]bool{}}

type gateKeeper struct {
	free  *sync.Cond // its lock guards the rest
	users int
	set   GateSet          // in force
	names map[string]bool  // in force
	valid map[GateSet]bool // those that could be put into force
}

// Acquire puts the set into force and keeps it there until Release. The error
// names the gate that is unknown, locked, or lacks a gate it depends on.
func (k *gateKeeper) Acquire(set GateSet, values map[string]bool) error {
	k.free.L.Lock()
	defer k.free.L.Unlock()
	for k.users > 0 && k.set != set {
		k.free.Wait()
	}
	if k.set != set {
		if err := k.apply(set, values); err != nil {
			return err
		}
	}
	k.users++
	return nil
}

func (k *gateKeeper) Release() {
	k.free.L.Lock()
	defer k.free.L.Unlock()
	if k.users--; k.users == 0 {
		k.free.Broadcast()
	}
}

func (k *gateKeeper) apply(set GateSet, values map[string]bool) error {
	for _, all := range []string{"AllAlpha", "AllBeta"} {
		if _, ok := values[all]; ok {
			return fmt.Errorf("feature gate %s: name the gates it stands for, one by one", all)
		}
	}
	global := utilfeature.DefaultMutableFeatureGate
	// Try it on a copy: SetFromMap remembers even the gates it refuses, and then
	// refuses every later call (feature_gate.go:481@v0.37.1).
	if !k.valid[set] {
		if err := k.change(global.DeepCopy(), values); err != nil {
			return fmt.Errorf("feature gates: %w", err)
		}
		k.valid[set] = true
	}
	if err := k.change(global, values); err != nil {
		return fmt.Errorf("feature gates: %w", err)
	}
	k.set, k.names = set, maps.Clone(values)
	return nil
}

func (k *gateKeeper) change(gate featuregate.MutableVersionedFeatureGate, values map[string]bool) error {
	for name := range k.names {
		if err := gate.ResetFeatureValueToDefault(featuregate.Feature(name)); err != nil {
			return err
		}
	}
	if len(values) == 0 {
		return nil // to set nothing takes as long: all gates are copied, and what depends on what is looked at
	}
	// The method with a logger keeps "setting GA feature gate" off stderr.
	type quiet interface {
		SetFromMapWithLogger(klog.Logger, map[string]bool) error
	}
	if q, ok := gate.(quiet); ok {
		return q.SetFromMapWithLogger(Discard, values)
	}
	return gate.SetFromMap(values)
}
