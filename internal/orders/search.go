package main

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// visit runs the world with some choices. Visits are made side by side.
type visit func(ctx context.Context, w *World, choices []timeline.Step) (*visited, error)

// visited is what was seen of some choices.
type visited struct {
	// step is that of the last choice, held is what is held after it, entries are all until then.
	step    int
	held    []timeline.Place
	entries []timeline.Entry
	// end tells apart what was seen in all, in whatever order, as all went on after that: what
	// happened, how the world ended, and what is found.
	end uint64
}

// search goes through the orders of a world, all of one length before the longer ones.
//
// A choice is the next event of a group, one of the events of which only one happens, or that one
// thing goes on at a place. Orders that differ only in the order of independent choices are gone
// through once: a choice sleeps while an order that begins with it stands for those to come (sleep
// sets: Godefroid, Partial-Order Methods for the Verification of Concurrent Systems, 1996).
type search struct {
	world       *World
	visit       visit
	independent func(a, b touches) bool

	// length is of how many choices the orders are that have been gone through, frontier are those
	// of just that length.
	length   int
	frontier []*order
	// reduced counts the orders of up to that length, all counts those that they stand for.
	reduced, all int
}

// order is some choices, one after another.
type order struct {
	choices []choice
	// asleep are the choices that are not made now.
	asleep map[string]touches
	held   []timeline.Place
	// from tells, for each place, by which choices what is held there came; -1 is by none.
	from map[timeline.Place][]int
	// taken counts the events of each group that have happened.
	taken []int
	once  bool
	end   uint64
}

// choice is one that can be made.
type choice struct {
	key   string // tells it apart from the others
	step  timeline.Step
	group int // of events; or one of the following
	// What follows is known when it was made: what it touched, and by which choice that came which
	// it let go.
	touches touches
	from    int
}

// Choices that are of no group of events.
const (
	ofOnce  = -1
	ofPlace = -2
)

// newSearch is the search in a world before any choice.
func newSearch(ctx context.Context, w *World, v visit) (*search, error) {
	begin, err := v(ctx, w, nil)
	if err != nil {
		return nil, err
	}
	first := &order{taken: make([]int, len(w.Events)), from: map[timeline.Place][]int{}}
	first.hold(begin.held, -1)
	return &search{world: w, visit: v, independent: independent, frontier: []*order{first}}, nil
}

// longer goes through the orders that are one choice longer. If it fails, they do not count.
func (s *search) longer(ctx context.Context) error {
	next, counts := make([][]*order, len(s.frontier)), make([]int, len(s.frontier))
	var workers errgroup.Group
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, o := range s.frontier {
		workers.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			next[i], err = s.extend(ctx, o)
			for _, o := range next[i] {
				counts[i] += o.standsFor(s.independent)
			}
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return err
	}
	s.length++
	s.frontier = slices.Concat(next...)
	s.reduced += len(s.frontier)
	for _, n := range counts {
		s.all += n
	}
	return nil
}

// extend makes one more choice, in all ways that do not sleep.
func (s *search) extend(ctx context.Context, o *order) (longer []*order, err error) {
	asleep := map[string]touches{}
	maps.Copy(asleep, o.asleep)
	for _, c := range s.choices(o) {
		if _, ok := asleep[c.key]; ok {
			continue
		}
		v, err := s.visit(ctx, s.world, append(o.steps(), c.step))
		if err != nil {
			return nil, err
		}
		next := o.with(c, v)
		t := next.choices[len(o.choices)].touches
		for key, other := range asleep {
			if s.independent(other, t) {
				next.asleep[key] = other
			}
		}
		asleep[c.key] = t
		longer = append(longer, next)
	}
	return longer, nil
}

// choices are those that can be made.
func (s *search) choices(o *order) (all []choice) {
	for i, group := range s.world.Events {
		if n := o.taken[i]; n < len(group) {
			all = append(all, choice{key: fmt.Sprintf("event %d of group %d", n, i), step: group[n], group: i, from: -1})
		}
	}
	if !o.once {
		for i, step := range s.world.Once {
			all = append(all, choice{key: fmt.Sprintf("event %d of one", i), step: step, group: ofOnce, from: -1})
		}
	}
	for i, at := range o.held {
		if !slices.Contains(o.held[:i], at) {
			all = append(all, choice{key: at.String(), step: timeline.Step{Next: &at}, group: ofPlace, from: o.from[at][0]})
		}
	}
	return all
}

func (o *order) steps() (all []timeline.Step) {
	for _, c := range o.choices {
		all = append(all, c.step)
	}
	return all
}

// with is the order with one more choice, and what was seen of it.
func (o *order) with(c choice, v *visited) *order {
	next := &order{end: v.end, taken: slices.Clone(o.taken), once: o.once || c.group == ofOnce, asleep: map[string]touches{}, from: map[timeline.Place][]int{}}
	maps.Copy(next.from, o.from)
	if c.group >= 0 {
		next.taken[c.group]++
	}
	if at := c.step.Next; at != nil {
		next.from[*at] = next.from[*at][1:]
	}
	arrived := next.hold(v.held, len(o.choices))
	c.touches = touched(&c.step, v.entries, v.step, arrived)
	next.choices = append(slices.Clip(o.choices), c)
	return next
}

// hold is told what is held now, and returns what of it has arrived, by a choice.
func (o *order) hold(held []timeline.Place, by int) (arrived []timeline.Place) {
	o.held = held
	count := map[timeline.Place]int{}
	for _, at := range held {
		count[at]++
	}
	from := map[timeline.Place][]int{}
	for at, n := range count {
		from[at] = slices.Clone(o.from[at])
		if gone := len(from[at]) - n; gone > 0 {
			from[at] = from[at][gone:]
		}
		for len(from[at]) < n {
			from[at] = append(from[at], by)
			arrived = append(arrived, at)
		}
	}
	o.from = from
	return arrived
}

// standsFor counts the orders that differ from this one only in the order of independent choices:
// the linear extensions of the partial order that the dependent ones make.
func (o *order) standsFor(independent func(a, b touches) bool) int {
	before := o.before(independent)
	known := map[uint64]int{1<<len(o.choices) - 1: 1}
	var count func(made uint64) int
	count = func(made uint64) (n int) {
		if n, ok := known[made]; ok {
			return n
		}
		for i := range o.choices {
			if made&(1<<i) == 0 && before[i]&^made == 0 {
				n += count(made | 1<<i)
			}
		}
		known[made] = n
		return n
	}
	return count(0)
}

// before are, for each choice, those that come before it in all orders for which this one stands,
// as bits.
func (o *order) before(independent func(a, b touches) bool) []uint64 {
	before := make([]uint64, len(o.choices))
	for i := range o.choices {
		for j := range i {
			if o.choices[i].follows(&o.choices[j], j, independent) {
				before[i] |= 1 << j
			}
		}
	}
	return before
}

// follows tells whether a choice has to come after another one, number j of the same order, that
// did come before: what it lets go came by that, or waited behind what that let go; or it is a later
// event of the same group; or the two are not independent.
func (c *choice) follows(other *choice, j int, independent func(a, b touches) bool) bool {
	return c.from == j || c.key == other.key || c.group >= 0 && c.group == other.group || !independent(c.touches, other.touches)
}
