// Package sweep checks every cluster of a bound, class by class, and measures how
// far greedy preemption is from the best.
package sweep

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"

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

// minBatch is how many classes are checked at least between two steps of a Sweep: a
// fraction of a second. minShare is how many each of the checks gets of them at least,
// since all wait for the last.
const minBatch, minShare = 64, 16

// Run checks the classes after the first s.Classes, with all checks at once. In
// the order of the classes, after each batch it adds the batch to s and calls
// step with what was suspicious in it; an error of step ends the run, and so does
// ctx, whose error is then returned. s always counts whole batches.
func (s *Sweep) Run(ctx context.Context, classes iter.Seq[bounded.Class], checks []Check, step func([]Suspect) error) error {
	next, stop := iter.Pull(classes)
	defer stop()
	for range s.Classes {
		next()
	}
	size := max(minBatch, minShare*len(checks))
	for ctx.Err() == nil {
		var batch []*checked
		for class, ok := next(); ok; class, ok = next() {
			if batch = append(batch, &checked{class: class}); len(batch) == size {
				break
			}
		}
		if len(batch) == 0 {
			return nil
		}
		var taken atomic.Int64
		var workers sync.WaitGroup
		for _, check := range checks {
			workers.Go(func() {
				for i := taken.Add(1); i <= int64(len(batch)) && ctx.Err() == nil; i = taken.Add(1) {
					batch[i-1].by(ctx, check)
				}
			})
		}
		workers.Wait()
		if ctx.Err() != nil {
			break
		}
		var suspects []Suspect
		for _, c := range batch {
			suspects = append(suspects, s.add(c)...)
		}
		if err := step(suspects); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// checked is a class, and what came of it.
type checked struct {
	class   bounded.Class
	cluster *model.Cluster
	result  *properties.Result
	gap     GreedyGap
	err     error
}

func (c *checked) by(ctx context.Context, check Check) {
	c.cluster = c.class.Cluster()
	if c.result, c.err = check(ctx, c.cluster); c.err == nil {
		c.err = c.gap.Add(c.result)
	}
}

// add counts a class, and returns it if it is suspicious.
func (s *Sweep) add(c *checked) []Suspect {
	number := s.Classes
	s.Classes++
	s.Clusters += c.class.Labelled
	s.Gap.Merge(c.gap)
	if c.err != nil {
		s.Errors++
		return []Suspect{{Class: number, Cluster: c.cluster, Err: c.err}}
	}
	s.Stats.Add(c.result)
	if len(c.result.Unexplained()) > 0 {
		return []Suspect{{Class: number, Cluster: c.cluster, Result: c.result}}
	}
	return nil
}
