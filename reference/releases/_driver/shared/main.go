// A driver does to its own release of kube-scheduler what package inprocess does to
// the one linked into preemptcheck.
//
// What differs between releases is behind build tags: one per minor release up
// to the one that is built, as with Go's own (k1.25, k1.26, …).

//go:debug randseednop=0
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/reference/releases/wire"
)

// release is set by the linker.
var release string

func main() {
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

// quiet drops what upstream logs. It is given two functions of the klog that the
// release has.
func quiet(initFlags func(*flag.FlagSet), setOutput func(io.Writer)) {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	initFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	setOutput(io.Discard)
}

// schedulers are reused by their settings.
type schedulers map[settings]*scheduler

// maxSchedulers is how many are kept.
const maxSchedulers = 16

func (all schedulers) observe(r *wire.Request) (*observation.Observation, error) {
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
			if key.configuration != "" { // of another release it may ask for what this one does not have
				err = wire.Refusal("scheduler: configuration: " + strings.ReplaceAll(err.Error(), "; ", ", "))
			}
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

// observe loads c, runs the scheduling cycle of its preemptor and unloads it.
// reusable tells whether the scheduler can be used again; err is why c could not
// be loaded.
func (s *scheduler) observe(c *cluster) (obs *observation.Observation, reusable bool, err error) {
	obs = &observation.Observation{System: release, Filters: map[string]observation.Verdict{}, PinnedBudgetOrder: true}
	defer func() {
		if p := recover(); p != nil { // upstream may hold locks: never touch it again
			s.failed(obs, fmt.Errorf("panic: %v", p))
			reusable, err = false, nil
		}
	}()
	if err = s.load(c); err == nil {
		s.run(c, obs)
		awaitPanic()
	}
	return obs, s.unload() == nil, err
}

// stacks is room for those of all goroutines.
var stacks = make([]byte, 1<<20)

// awaitPanic does not return while a goroutine panics, of which the process dies, unless it recovers. Upstream
// counts a worker as done before that, so that a cycle may end sooner than the process.
func awaitPanic() {
	for panics := true; panics; {
		_, others, _ := bytes.Cut(stacks[:runtime.Stack(stacks, true)], []byte("\n\n"))
		if panics = bytes.Contains(others, []byte("\npanic(")); panics {
			time.Sleep(time.Millisecond)
		}
	}
}
