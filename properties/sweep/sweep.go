// Package sweep checks every cluster of a bound, class by class, and measures how
// far greedy preemption is from the best.
package sweep

import (
	"context"
	"iter"
	"sync"

	"github.com/preemptcheck/preemptcheck/generators/bounded"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/probe"
)

// Sweep is what came of checking the first of a sequence of classes of clusters.
// It can be stored as JSON between batches and goes on from there.
type Sweep struct {
	// Classes is how many classes were checked, Clusters how many clusters they
	// stand for.
	Classes  uint64 `json:"classes"`
	Clusters uint64 `json:"clusters"`
	// Stats, and Gap, count classes.
	Stats probe.Stats `json:"stats"`
	Gap   GreedyGap   `json:"greedyGap"`
	// Errors counts the classes that could not be checked.
	Errors int `json:"errors"`
}

// Suspect is a class on which something unexplained was found, or that could not
// be checked.
type Suspect struct {
	// Class is its number, from 0.
	Class   uint64
	Cluster *model.Cluster
	Result  *properties.Result // nil if Err is not
	Err     error
}

// Check is how a Sweep checks one cluster: Checker.Check, for example.
type Check func(context.Context, *model.Cluster) (*properties.Result, error)

// sweepBatch is how many classes are checked between two steps of a Sweep: a
// fraction of a second.
const sweepBatch = 64

// Run checks the classes after the first s.Classes, with all checks at once. In
// the order of the classes, after each batch it adds the batch to s and calls
// step with what was suspicious in it; an error of step ends the run, and so does
// ctx, whose error is then returned. s always counts whole batches.
func (s *Sweep) Run(ctx context.Context, classes iter.Seq[bounded.Class], checks []Check, step func([]Suspect) error) error {
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()

	type batch struct {
		first   uint64
		classes []bounded.Class
		sweep   Sweep
		suspect []Suspect
		done    chan struct{}
	}
	// Each batch goes to the workers and, in order, to the loop below.
	todo, inOrder := make(chan *batch), make(chan *batch, 4*len(checks))
	skip := s.Classes
	workers.Go(func() {
		defer close(inOrder)
		defer close(todo)
		n := uint64(0)
		b := &batch{done: make(chan struct{})}
		send := func() bool {
			for _, c := range []chan *batch{inOrder, todo} {
				select {
				case c <- b:
				case <-ctx.Done():
					return false
				}
			}
			b = &batch{done: make(chan struct{})}
			return true
		}
		for class := range classes {
			if n++; n <= skip {
				continue
			}
			if len(b.classes) == 0 {
				b.first = n - 1
			}
			if b.classes = append(b.classes, class); len(b.classes) == sweepBatch && !send() {
				return
			}
		}
		if len(b.classes) > 0 {
			send()
		}
	})
	for _, check := range checks {
		workers.Go(func() {
			for b := range todo {
				for i, class := range b.classes {
					if ctx.Err() != nil {
						return
					}
					if suspect := b.sweep.check(ctx, class, check); suspect != nil {
						suspect.Class = b.first + uint64(i)
						b.suspect = append(b.suspect, *suspect)
					}
				}
				close(b.done)
			}
		})
	}
	for b := range inOrder {
		select {
		case <-b.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		s.merge(&b.sweep)
		if err := step(b.suspect); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (s *Sweep) check(ctx context.Context, class bounded.Class, check Check) *Suspect {
	s.Classes++
	s.Clusters += class.Labelled
	c := class.Cluster()
	r, err := check(ctx, c)
	if err == nil {
		err = s.Gap.Add(r)
	}
	if err != nil {
		s.Errors++
		return &Suspect{Cluster: c, Err: err}
	}
	s.Stats.Add(r)
	if len(r.Unexplained()) > 0 {
		return &Suspect{Cluster: c, Result: r}
	}
	return nil
}

func (s *Sweep) merge(other *Sweep) {
	s.Classes += other.Classes
	s.Clusters += other.Clusters
	s.Errors += other.Errors
	s.Stats.Merge(other.Stats)
	s.Gap.Merge(other.Gap)
}
