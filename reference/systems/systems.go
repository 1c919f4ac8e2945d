// Package systems gives the schedulers that this program can run, by their names: the
// one linked in, those of other releases, each a process of its own, and any that a
// program registers.
package systems

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/contract"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/life"
	"github.com/preemptcheck/preemptcheck/reference/outside"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

// registered are the schedulers that are run in process.
var registered = map[string]func() reference.System{
	inprocess.Version: func() reference.System { return linkedSystem{life.New(), contract.New()} },
}

// linkedSystem is the scheduler that is linked in: cycles and timelines of it, and its plugins one by one.
type linkedSystem struct {
	life.System
	plugins *contract.System
}

var _ reference.PluginSystem = linkedSystem{}

// Ask implements reference.PluginSystem.
func (s linkedSystem) Ask(ctx context.Context, c *model.Cluster, script []calls.Call) ([]calls.Answer, error) {
	return s.plugins.Ask(ctx, c, script)
}

// Close implements reference.System.
func (s linkedSystem) Close() error { return errors.Join(s.System.Close(), s.plugins.Close()) }

// Register adds a scheduler, or puts it in the place of the one of that name. undo
// takes that back. It is to be called before others use the package.
func Register(name string, newSystem func() reference.System) (undo func()) {
	old := registered[name]
	registered[name] = newSystem
	return func() {
		if registered[name] = old; old == nil {
			delete(registered, name)
		}
	}
}

// Known tells whether there is a scheduler of that name: a release, or the file of plugins that are not Kubernetes' own.
// It may have to be built.
func Known(name string) bool {
	return registered[name] != nil || releases.Known(name) || outside.IsFile(name)
}

// newSystem makes the scheduler of that name. The error says what to do if it is not
// built.
func newSystem(name string) (reference.System, error) {
	switch {
	case registered[name] != nil:
		return registered[name](), nil
	case outside.IsFile(name):
		f, err := outside.Read(name)
		if err != nil {
			return nil, err
		}
		return outside.New(f)
	case releases.Known(name):
		s, err := releases.New(name)
		if err != nil || !releases.Lives(name) {
			return s, err
		}
		if life, err := releases.NewLife(name); err == nil {
			return alive{s, life}, nil
		}
		return s, nil
	}
	return nil, fmt.Errorf("there is no scheduler %q", name)
}

// alive is the scheduler of a release that runs timelines, too: a process for these, and one for
// clusters.
type alive struct {
	*releases.System
	life *releases.Life
}

var _ reference.LifeSystem = alive{}

// Live implements reference.LifeSystem.
func (s alive) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	return s.life.Live(ctx, t)
}

// Close implements reference.System.
func (s alive) Close() error { return errors.Join(s.System.Close(), s.life.Close()) }

// NewIsolatedPool is NewPool with each scheduler in a process of its own. command starts
// one for those that otherwise are run in process: see releases.NewIsolated.
func NewIsolatedPool(name string, workers int, command func() *exec.Cmd) (reference.System, error) {
	if registered[name] == nil {
		return NewPool(name, workers)
	}
	own := registered[name]() // what it is called may be something else
	defer own.Close()
	var systems []reference.System
	for range workers {
		systems = append(systems, releases.NewIsolated(own.Name(), command))
	}
	return reference.NewPool(systems...), nil
}

// NewPool makes a scheduler that so many goroutines may use at once.
func NewPool(name string, workers int) (reference.System, error) {
	var systems []reference.System
	for range workers {
		s, err := newSystem(name)
		if err != nil {
			return nil, err // the first one: it holds nothing yet
		}
		systems = append(systems, s)
	}
	return reference.NewPool(systems...), nil
}

// NewLife makes the scheduler of that name if whole timelines can be run through it, and
// is nil otherwise. The error says what to do if it is not built.
func NewLife(name string) (reference.LifeSystem, error) {
	switch {
	case registered[name] != nil:
		life, ok := registered[name]().(reference.LifeSystem)
		if !ok {
			return nil, nil
		}
		return life, nil
	case releases.Lives(name):
		life, err := releases.NewLife(name)
		if err != nil {
			return nil, err
		}
		return life, nil
	}
	return nil, nil
}

// ReleaseOf is the release whose algorithm a scheduler is held to.
func ReleaseOf(name string) release.Release {
	if version, err := release.Parse(name); err == nil && releases.Known(name) {
		return version
	}
	if f, err := outside.Read(name); err == nil && outside.IsFile(name) {
		if version, err := outside.Release(f); err == nil {
			return version
		}
	}
	return release.Linked // of which a scheduler built from its own sources is a variation
}

// Between are the releases from one to another, both included, in that order, of which
// there are schedulers.
func Between(from, to release.Release) (all []release.Release) {
	older, newer := from, to
	if older.Compare(newer) > 0 {
		older, newer = newer, older
	}
	for _, name := range slices.AppendSeq(releases.All(), maps.Keys(registered)) {
		if r, err := release.Parse(name); err == nil && r.Compare(older) >= 0 && r.Compare(newer) <= 0 {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, release.Release.Compare)
	all = slices.Compact(all)
	if older != from {
		slices.Reverse(all)
	}
	return all
}
