package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/preemptcheck/preemptcheck/internal/halting"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/linked"
	"github.com/preemptcheck/preemptcheck/reference/outside"
	"github.com/preemptcheck/preemptcheck/reference/releases"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// newChecker makes a Checker of the system of that name, for so many goroutines at
// once. With promises, it checks besides the differential what users are promised,
// which takes long on clusters of many nodes.
func newChecker(name string, workers int, promises ...properties.Property) (*properties.Checker, error) {
	if err := known("--reference", name); err != nil {
		return nil, err
	}
	checker := &properties.Checker{Release: systems.ReleaseOf(name), Properties: promises, Outside: added(name)}
	if outside.IsFile(name) {
		var err error
		if checker.Outside, err = outsideOf(name); err != nil {
			return nil, err
		}
	}
	newPool := systems.NewPool
	if os.Getenv(isolates) != "" {
		newPool = isolatedPool
	}
	system, err := newPool(name, workers)
	if err != nil {
		return nil, err
	}
	if mayBeginAnew() {
		system = halting.System{System: system}
	}
	checker.System = system
	return checker, nil
}

// added are the plugins that were added to the scheduler that is linked in; nil if none were, or another one is meant.
func added(name string) *properties.Outside {
	if name != inprocess.Version {
		return nil
	}
	var o properties.Outside
	for _, p := range linked.Registered() {
		o.Plugins = append(o.Plugins, p.Name)
		o.Unmodelled = append(o.Unmodelled, model.UnmodelledField{Object: "scheduler", Field: "profiles[0].plugins", Why: p.Name + " is no plugin of kube-scheduler"})
	}
	if o.Plugins == nil {
		return nil
	}
	o.Keeps = func(string) bool { return true }
	return &o
}

// isolatedPool is systems.NewPool with each scheduler in a process of its own.
func isolatedPool(name string, workers int) (reference.System, error) {
	return systems.NewIsolatedPool(name, workers, isolated(name))
}

// newLife makes the scheduler of that name if whole timelines can be run through it, and is
// nil otherwise.
func newLife(name string) (reference.LifeSystem, error) {
	life, err := systems.NewLife(name)
	if life != nil && mayBeginAnew() {
		return halting.System{System: life}, err
	}
	if life == nil || os.Getenv(isolates) == "" || releases.Lives(name) {
		return life, err
	}
	life.Close()
	return isolatedLife(name)
}

// isolatedLife is newLife in a process of its own.
func isolatedLife(name string) (reference.LifeSystem, error) {
	pool, err := isolatedPool(name, 1)
	if err != nil {
		return nil, err
	}
	return pool.(reference.LifeSystem), nil
}

// newCheckers makes a Checker for each of the names. The error tells of all that
// cannot be run.
func newCheckers(names []string, workers int, promises ...properties.Property) (checkers []*properties.Checker, err error) {
	var problems []error
	for _, name := range names {
		checker, err := newChecker(name, workers, promises...)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		checkers = append(checkers, checker)
	}
	if len(problems) > 0 {
		closeAll(checkers)
		return nil, errors.Join(problems...)
	}
	return checkers, nil
}

func closeAll(checkers []*properties.Checker) {
	for _, c := range checkers {
		c.System.Close()
	}
}

// known is an error if there is no scheduler of the name that a flag gives.
func known(flag, name string) error {
	if systems.Known(name) {
		return nil
	}
	return fmt.Errorf("%s: this binary cannot run %q, see \"preemptcheck references\"", flag, name)
}
