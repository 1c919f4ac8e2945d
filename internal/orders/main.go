// Command orders runs all orders of the events of small worlds through the linked scheduler,
// up to a number of choices, and says what is found.
//
//	go run ./internal/orders --bound 8
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/generators/timelines"
	"github.com/preemptcheck/preemptcheck/internal/apiserver"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/lifetime"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/variation"
	"github.com/preemptcheck/preemptcheck/reference/life"
)

func main() {
	bound := flag.Int("bound", 8, "how many choices an order has at most")
	limit := flag.Duration("for", 30*time.Minute, "how long at most; what is reached by then is said")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	found, err := exhaust(ctx, os.Stdout, *bound, run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// run is what a timeline is run through.
func run(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) { return life.Run(ctx, t) }

// exhaust goes through all scenarios, and answers with how many orders show what is not known.
// It says for each bound how many orders there are. What is not known it writes as a case.
func exhaust(ctx context.Context, w io.Writer, bound int, run func(context.Context, *timeline.Timeline) (*timeline.Trace, error)) (found int, err error) {
	for _, s := range timelines.Scenarios() {
		if err := admit(&s); err != nil {
			return found, fmt.Errorf("%s: %w", s.Name, err)
		}
		start := time.Now()
		orders, known := 0, map[string]int{}
		err := s.Orders(bound, func(t *timeline.Timeline) (int, error) {
			l, findings, err := variation.Run(ctx, run, t, true)
			if err != nil {
				return 0, err
			}
			n := effects(l.Trace, len(t.Steps)-1)
			if n == 0 {
				return 0, nil
			}
			orders++
			ids := map[string]bool{}
			for _, f := range findings {
				for _, id := range f.Known {
					ids[id] = true
				}
			}
			for id := range ids {
				known[id]++
			}
			if new := lifetime.Unexplained(findings); len(new) > 0 {
				found++
				fmt.Fprintf(w, "# %s: %s: %s\n", s.Name, new[0].Property, new[0].Detail)
				c := &corpus.Case{Name: "order", Description: new[0].Detail, Cluster: t.Cluster, Timeline: t}
				return n, c.Write(w)
			}
			return n, nil
		})
		if err != nil {
			return found, fmt.Errorf("%s, after %s: %w", s.Name, words.Plural(orders, "order"), err)
		}
		fmt.Fprintf(w, "%s: %s of up to %d choices, in %s%s\n", s.Name, words.Plural(orders, "order"), bound, time.Since(start).Round(time.Second), inWords(known))
	}
	return found, nil
}

// admit gives all objects of a scenario the values that the API server fills in.
func admit(s *timelines.Scenario) error {
	return apiserver.Timeline(&timeline.Timeline{Cluster: s.Cluster, Steps: slices.Concat(s.Events...)})
}

// effects counts what came of a step before all was let go.
func effects(trace *timeline.Trace, step int) (n int) {
	for i := range trace.Entries {
		if e := &trace.Entries[i]; e.Step == step && e.What != timeline.Releasing {
			n++
		}
	}
	return n
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
