package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/go-cmp/cmp"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

// twice is the driver of a release that must give the same answers as another
// scheduler, although that was asked about different clusters before.
type twice struct {
	driver, other reference.System
	asked         uint64
}

// newSystem is the driver of a release. With again, that of the release that is
// linked in is held against the scheduler in process, and that of any other against
// another process.
func newSystem(release string, again bool) (reference.System, error) {
	driver, err := releases.New(release)
	switch {
	case err != nil:
		return nil, err
	case !again:
		return driver, nil
	case release == inprocess.Version:
		return &twice{driver: driver, other: inprocess.New()}, nil
	}
	other, err := releases.New(release)
	return &twice{driver: driver, other: other}, err
}

// Name implements reference.System.
func (t *twice) Name() string { return t.driver.Name() }

// Close implements reference.System.
func (t *twice) Close() error { return errors.Join(t.driver.Close(), t.other.Close()) }

// draws is how often the driver is asked again for the answer of the other. Twelve tied candidates would show fewer than all in one of a million
// clusters.
const draws = 200

// Observe implements reference.System. That the answers differ is an error.
func (t *twice) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	alone := *c
	alone.Settings.Parallelism = nil // in which order several workers end is open
	got, err := t.driver.Observe(ctx, &alone)
	if _, refused := errors.AsType[*reference.Refusal](err); refused {
		return nil, err
	}
	t.asked++
	_, _ = t.other.Observe(ctx, generators.Ungrouped(^t.asked)) // what was asked before must not matter
	want, wantErr := t.other.Observe(ctx, &alone)
	// Upstream breaks the last tie between candidates by the order of a map, and lists the pods of a
	// group by that of another; old releases take turns between nodes that the pod fits on equally well.
	for range draws {
		if err != nil || wantErr != nil || reflect.DeepEqual(shown(want), shown(got)) {
			break
		}
		got, err = t.driver.Observe(ctx, &alone)
	}
	switch {
	case (err == nil) != (wantErr == nil):
		return nil, fmt.Errorf("the driver says error %v, and the other error %v", err, wantErr)
	case err == nil && !reflect.DeepEqual(shown(want), shown(got)):
		return nil, fmt.Errorf("the other (-) and the driver (+) answer differently:\n%s", cmp.Diff(shown(want), shown(got)))
	}
	return t.driver.Observe(ctx, c)
}

// shown is of an answer what each system shows. A driver does not show the aftermath, which nodes nobody looked at, what the failure
// handler is told after an error, and, of a crash, what was seen before. It calls PostFilter
// from elsewhere, which a stack tells.
func shown(o *model.Observation) *model.Observation {
	if o.Crash != nil {
		return &model.Observation{Crash: &model.Crash{Where: o.Crash.Where}}
	}
	s := *o
	s.Aftermath, s.Absent = nil, nil
	if s.CycleError != "" && s.Actuation != nil {
		a := *s.Actuation
		a.Nomination, a.NominatedNode = "", ""
		s.Actuation = &a
	}
	return &s
}
