// Package checktest has what tests of properties share: a checker of the scheduler
// that is linked in, a scheduler that lies, and a cluster on which it does not.
package checktest

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	_ "github.com/preemptcheck/preemptcheck/internal/testsize" // for its collector of garbage
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/unmodelled"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// Checker is one of kube-scheduler, until the test ends.
func Checker(t testing.TB, promises ...properties.Property) *properties.Checker {
	return &properties.Checker{System: System(t), Properties: promises}
}

// System is kube-scheduler, until the test ends.
func System(t testing.TB) reference.FilterSystem {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	return system
}

// Subject is a cluster together with what the system does with it.
func Subject(t testing.TB, system reference.System, c *model.Cluster) *properties.Subject {
	o, err := system.Observe(t.Context(), c)
	require.NoError(t, err)
	u := unmodelled.In(c, model.NewSnapshot(c))
	if len(u) == 0 { // then a decision may tell of more
		if _, err := answers.Decide(c, release.Linked.Rules()); err != nil {
			require.ErrorAs(t, err, &u)
		}
	}
	return &properties.Subject{Release: release.Linked, Context: t.Context(), Cluster: c, Observation: o, System: system, Unmodelled: u}
}

// Liar is a system that breaks a promise: it is asked about another cluster than it
// should be, or tells another story than it should.
type Liar struct {
	reference.System
	Change func(c *model.Cluster)
	Tell   func(c *model.Cluster, o *model.Observation)
}

// Observe asks the system, and lies.
func (l Liar) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	asked := *c
	if c.Preemptor != nil {
		asked.Preemptor = c.Preemptor.DeepCopy()
	}
	if l.Change != nil {
		l.Change(&asked)
	}
	o, err := l.System.Observe(ctx, &asked)
	if err == nil && l.Tell != nil {
		l.Tell(c, o)
	}
	return o, err
}

// Careless is what a scheduler with two bugs tells: in a dry run with several victims
// it overlooks the last, and in one with violations it counts one too few. Neither
// depends on which of equally good nodes it picks.
func Careless(_ *model.Cluster, o *model.Observation) {
	for node, run := range o.DryRuns {
		if n := len(run.Victims); n > 1 {
			run.Victims = run.Victims[:n-1]
		} else if run.Violations > 0 {
			run.Violations--
		}
		o.DryRuns[node] = run
	}
}

// Pod requests a number of CPUs. It runs, and started the later the higher its
// priority is. It has a label with its name.
func Pod(name string, priority int32, cpus string, change ...func(*v1.Pod)) *v1.Pod {
	running := func(p *v1.Pod) { p.Status.Phase = v1.PodRunning }
	return mk.Pod(name, priority, append([]func(*v1.Pod){mk.App(name), mk.CPU(cpus), mk.Started(int(priority)), running}, change...)...)
}

// Cluster is one whose preemptor takes low on node-1. There mid would do as well,
// and on node-2 other, which a budget protects.
func Cluster() *model.Cluster {
	return mk.Cluster(Pod("p", 10, "1"), mk.Node("node-1", "2"), mk.Node("node-2", "2"),
		Pod("low", 1, "1", mk.On("node-1")),
		Pod("mid", 2, "1", mk.On("node-1")),
		Pod("high", 20, "0", mk.On("node-1")),
		Pod("waiting", 5, "0", mk.Nominated("node-1")),
		Pod("other", 3, "2", mk.On("node-2")),
		mk.Budget("other", 0, mk.ForApp("other")))
}

// Victims makes the system say that it preempts these pods on node-1 of Cluster.
func Victims(keys ...string) func(*model.Cluster, *model.Observation) {
	return func(_ *model.Cluster, o *model.Observation) {
		if o.Pick != nil {
			o.Pick.Victims = keys
			o.DryRuns["node-1"] = model.DryRun{Victims: keys}
		}
	}
}
