package main

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// newChecker makes a Checker of the system of that name. With promises, it checks
// besides the differential what users are promised, which takes long on clusters
// of many nodes.
func newChecker(name string, promises ...properties.Property) (*properties.Checker, error) {
	return checkerOf(name, systems.New, promises)
}

// newPooledChecker is newChecker for so many goroutines at once.
func newPooledChecker(name string, workers int, promises ...properties.Property) (*properties.Checker, error) {
	return checkerOf(name, func(name string) (reference.System, error) { return systems.NewPool(name, workers) }, promises)
}

func checkerOf(name string, newSystem func(string) (reference.System, error), promises []properties.Property) (*properties.Checker, error) {
	if err := known("--reference", name); err != nil {
		return nil, err
	}
	system, err := newSystem(name)
	if err != nil {
		return nil, err
	}
	return &properties.Checker{System: system, Release: systems.ReleaseOf(name), Properties: promises}, nil
}

// known is an error if there is no scheduler of the name that a flag gives.
func known(flag, name string) error {
	if systems.Known(name) {
		return nil
	}
	return fmt.Errorf("%s: this binary cannot run %q, see \"preemptcheck references\"", flag, name)
}
