// Package checkers makes what checks clusters: a Checker with the scheduler of a name, in this process or in one of its own.
package checkers

import (
	"errors"
	"fmt"

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

// New makes a Checker of the system of that name, for so many goroutines at
// once. With promises, it checks besides the differential what users are promised,
// which takes long on clusters of many nodes. The caller closes its System. The error
// tells that there is no such system, that it is not built, or what is wrong with a file of plugins.
func New(name string, workers int, promises ...properties.Property) (*properties.Checker, error) {
	if err := Known("--reference", name); err != nil {
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
	if isolatesAll() {
		newPool = NewIsolatedPool
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

// NewLife makes the scheduler of that name if whole timelines can be run through it, and returns
// nil otherwise. The caller closes it. The error tells that it could be, but is not built for them.
func NewLife(name string) (reference.LifeSystem, error) {
	life, err := systems.NewLife(name)
	if life != nil && mayBeginAnew() {
		return halting.System{System: life}, err
	}
	if life == nil || !isolatesAll() || releases.Lives(name) {
		return life, err
	}
	life.Close()
	pool, err := NewIsolatedPool(name, 1)
	if err != nil {
		return nil, err
	}
	return pool.(reference.LifeSystem), nil
}

// NewAll makes a Checker as New does for each of the names, in their order; Close closes them. The error tells of all that
// cannot be run, and nothing is left open then.
func NewAll(names []string, workers int, promises ...properties.Property) (checkers []*properties.Checker, err error) {
	var problems []error
	for _, name := range names {
		checker, err := New(name, workers, promises...)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		checkers = append(checkers, checker)
	}
	if len(problems) > 0 {
		Close(checkers)
		return nil, errors.Join(problems...)
	}
	return checkers, nil
}

// Close closes the systems of all checkers.
func Close(checkers []*properties.Checker) {
	for _, c := range checkers {
		c.System.Close()
	}
}

// Known returns an error, which begins with the flag, if there is no scheduler of the name that the flag gives.
func Known(flag, name string) error {
	if systems.Known(name) {
		return nil
	}
	return fmt.Errorf("%s: this binary cannot run %q, see \"preemptcheck references\"", flag, name)
}
