// A driver does to its own release of kube-scheduler what package inprocess does to
// the one linked into preemptcheck.
//
// What differs between releases is behind build tags: one per minor release up
// to the one that is built, as with Go's own (k1.25, k1.26, …).

//go:debug randseednop=0
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// release is set by the linker.
var release string

func main() {
	quiet()
	// Upstream reports some conditions to handlers, one of which sleeps.
	utilruntime.ErrorHandlers = nil
	// There is a driver for each worker: more than one thread would only get into
	// the way of the others. Memory is cheap: a scheduler keeps little.
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(400)
	all := schedulers{}
	if err := wire.Serve(release, os.Stdin, os.Stdout, all.observe); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// schedulers are reused by their settings.
type schedulers map[settings]*scheduler

// maxSchedulers is how many are kept.
const maxSchedulers = 16

func (all schedulers) observe(r *wire.Request) (*observation.Observation, error) {
	if err := prepare(r); err != nil {
		return nil, err
	}
	c, err := decode(r)
	if err != nil {
		return nil, err
	}
	if err := gates.apply(r.Settings.FeatureGates); err != nil {
		return nil, err
	}
	if err := r.RefuseDropped(switchedOff); err != nil {
		return nil, err
	}
	key := newSettings(r.Settings)
	s := all[key]
	if s == nil {
		if len(all) == maxSchedulers {
			for k, old := range all {
				old.cancel()
				delete(all, k)
			}
		}
		if s, err = newScheduler(key); err != nil {
			return nil, err
		}
		all[key] = s
	}
	if err := s.canRun(c.preemptor); err != nil {
		return nil, err
	}
	obs, reusable, err := s.observe(c)
	if !reusable {
		s.cancel()
		delete(all, key)
	}
	return obs, err
}
