// Command orders runs all orders of the events of small worlds through the linked scheduler,
// up to a number of choices, and says what is found.
//
//	go run ./internal/orders --for 30m
//	go run ./internal/orders --bound 12 --world "a takeover"
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func main() {
	bound := flag.Int("bound", 0, "how many choices an order has at most; 0: as many as there is time for")
	limit := flag.Duration("for", 30*time.Minute, "how long at most; what was reached by then is said")
	only := flag.String("world", "", "the only world to go through; none: all")
	flag.Parse()
	debug.SetGCPercent(400) // much garbage, little memory
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	worlds := slices.DeleteFunc(Worlds(), func(w World) bool { return *only != "" && w.Name != *only })
	if len(worlds) == 0 {
		fmt.Fprintf(os.Stderr, "orders: there is no world %q\n", *only)
		os.Exit(2)
	}
	e := exhaustion{run: life.Watch, found: os.Stdout, progress: os.Stderr}
	err := e.all(ctx, worlds, cmp.Or(*bound, math.MaxInt))
	e.report(os.Stdout)
	switch {
	case err != nil && ctx.Err() == nil:
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(2)
	case errors.Is(ctx.Err(), context.Canceled):
		fmt.Fprintln(os.Stderr, "orders: stopped; what is above was gone through")
	}
	if e.new > 0 {
		os.Exit(1)
	}
}

// run runs a timeline, and tells what is held after each of its steps.
type run func(ctx context.Context, t *timeline.Timeline, after func(step int, held []timeline.Place)) (*timeline.Trace, error)

// exhaustion goes through the orders of worlds.
type exhaustion struct {
	run run
	// found is where orders go that show what is not known, as cases: one for each property that
	// is broken in some way in a world. progress is told how far it is.
	found, progress io.Writer

	searches []*search
	spent    map[string]time.Duration // by world

	mu sync.Mutex
	// known tells, by world, how many orders show a known finding; visited those of the length
	// that is being gone through.
	known   map[string]map[string]int
	visited map[string]int
	shown   map[string]bool
	new     int // orders that show what is not known
	runs    int
}

// all goes through all orders of up to bound choices, always on in the world that has the fewest
// to go on with. Without an end of time, it returns once there is none left.
func (e *exhaustion) all(ctx context.Context, worlds []World, bound int) error {
	e.known, e.shown, e.spent = map[string]map[string]int{}, map[string]bool{}, map[string]time.Duration{}
	for i := range worlds {
		w := &worlds[i]
		if err := w.admit(); err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		e.known[w.Name] = map[string]int{}
		e.visited = map[string]int{}
		s, err := newSearch(ctx, w, e.visit)
		if err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
		e.searches = append(e.searches, s)
	}
	for begin := time.Now(); ; {
		var s *search
		for _, other := range e.searches {
			if other.length < bound && len(other.frontier) > 0 && (s == nil || len(other.frontier) < len(s.frontier)) {
				s = other
			}
		}
		if s == nil {
			return nil
		}
		start := time.Now()
		e.visited = map[string]int{}
		err := s.longer(ctx)
		e.spent[s.world.Name] += time.Since(start)
		if err != nil {
			return fmt.Errorf("%s: %w", s.world.Name, err)
		}
		for id, n := range e.visited {
			e.known[s.world.Name][id] += n
		}
		fmt.Fprintf(e.progress, "%s: %s: %s of up to %s, %s runs in all\n", time.Since(begin).Round(time.Second), s.world.Name,
			words.Plural(s.reduced, "order"), words.Plural(s.length, "choice"), fmt.Sprint(e.runs))
	}
}

// visit runs the world with some choices, and asks all properties about it.
func (e *exhaustion) visit(ctx context.Context, w *World, choices []timeline.Step) (*visited, error) {
	t, last := w.timeline(choices)
	v := &visited{step: last}
	first := true // of the runs: the others are of variations
	l, findings, err := variation.Run(ctx, func(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
		if !first {
			return e.run(ctx, t, nil)
		}
		first = false
		var at []timeline.Place
		trace, err := e.run(ctx, t, func(step int, held []timeline.Place) {
			if step == last {
				at = held
			}
		})
		if err == nil && trace.Crash == nil { // what has crashed may go on
			v.held = at
		}
		return trace, err
	}, t, true)
	if err != nil {
		return nil, err
	}
	v.entries = l.Trace.Entries
	if i := slices.IndexFunc(v.entries, func(e timeline.Entry) bool { return e.Step > last }); i >= 0 {
		v.entries = v.entries[:i]
	}
	v.end = end(l.Trace, findings)
	return v, e.judge(w, t, findings)
}

// end tells apart what was seen, but for the order and the time, and what is found.
func end(trace *timeline.Trace, findings []lifetime.Finding) uint64 {
	var all []string
	for _, e := range trace.Entries {
		if e.What != timeline.Holding && e.What != timeline.Releasing {
			e.At, e.Step = 0, 0
			all = append(all, e.String())
		}
	}
	for _, f := range findings {
		all = append(all, fmt.Sprint(f.Property, f.Pod, f.Kind, f.Known))
	}
	slices.Sort(all)
	for _, state := range []*timeline.State{trace.Quiet, trace.Flushed} {
		if state != nil {
			all = append(all, state.Outcome())
		}
	}
	h := fnv.New64a()
	for _, s := range all {
		fmt.Fprintln(h, s)
	}
	return h.Sum64()
}

// judge counts findings, and shows those that are not known.
func (e *exhaustion) judge(w *World, t *timeline.Timeline, findings []lifetime.Finding) error {
	ids := map[string]bool{}
	for _, f := range findings {
		for _, id := range f.Known {
			ids[id] = true
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.runs++
	for id := range ids {
		e.visited[id]++
	}
	unknown := lifetime.Unexplained(findings)
	if len(unknown) == 0 {
		return nil
	}
	e.new++
	f := unknown[0]
	kind := fmt.Sprint(w.Name, ": ", f.Property, ": ", f.Kind)
	if e.shown[kind] {
		return nil
	}
	e.shown[kind] = true
	fmt.Fprintf(e.found, "# %s: %s\n", kind, f.Detail)
	c := &corpus.Case{Name: "order", Description: f.Detail, Cluster: t.Cluster, Timeline: t}
	return c.Write(e.found)
}

// report tells what was gone through, world by world.
func (e *exhaustion) report(w io.Writer) {
	all, reduced := 0, 0
	for _, s := range e.searches {
		bound := "up to " + words.Plural(s.length, "choice")
		if len(s.frontier) == 0 {
			bound = fmt.Sprintf("up to %s, as many as there are", words.Plural(s.length-1, "choice"))
		}
		fmt.Fprintf(w, "%s: %s of %s, gone through by %d, in %s%s\n", s.world.Name, words.Plural(s.all, "order"), bound,
			s.reduced, e.spent[s.world.Name].Round(time.Second), inWords(e.known[s.world.Name]))
		all, reduced = all+s.all, reduced+s.reduced
	}
	fmt.Fprintf(w, "in all %s, gone through by %d; %s not known\n", words.Plural(all, "order"), reduced, words.Plural(e.new, "finding"))
}

func inWords(known map[string]int) string {
	var all []string
	for _, id := range slices.Sorted(maps.Keys(known)) {
		all = append(all, fmt.Sprintf("%s in %d", id, known[id]))
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, ", ")
}
