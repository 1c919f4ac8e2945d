package main

import (
	"strings"

	utilfeature "k8s.io/apiserver/pkg/util/feature"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// gates are those of the release, as they are by default.
var gates defaultGates

type defaultGates struct{}

func (defaultGates) apply(wanted map[string]bool) error {
	for name, on := range wanted {
		if name != model.GateAsyncPreemption || on { // off is what these releases do
			return wire.Refusal("feature gate " + name)
		}
	}
	return nil
}

// switchedOff tells whether a gate is known and off. The list of gates holds a line
// such as "A=true|false (ALPHA - default=false)" for each.
func switchedOff(name string) bool { return off[name] }

var off = func() map[string]bool {
	off := map[string]bool{}
	for _, line := range utilfeature.DefaultFeatureGate.KnownFeatures() {
		if name, rest, _ := strings.Cut(line, "="); strings.Contains(rest, "default=false") {
			off[name] = true
		}
	}
	return off
}()
