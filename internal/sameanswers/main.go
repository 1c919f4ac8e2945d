// Sameanswers shows that the driver of the release which is linked into
// preemptcheck gives the same answers as the scheduler in process does, on
// generated clusters. Of any other release it shows that two processes give the
// same answers, although they were asked about different clusters before. It tells
// how fast that is, and what the release refuses.
//
//	go run ./internal/sameanswers -release v1.37.1 -clusters 5000
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

func main() {
	release := flag.String("release", inprocess.Version, "the release whose driver is run")
	clusters := flag.Uint64("clusters", 5000, "how many clusters")
	seed := flag.Uint64("seed", 1, "the number of the first cluster")
	workers := flag.Int("workers", 2, "how many drivers run at once")
	alone := flag.Bool("alone", false, "ask one driver only: for measuring")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *release, *seed, *clusters, *workers, !*alone); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// newOther returns the system that the driver must agree with.
func newOther(release string) (reference.System, error) {
	if release == inprocess.Version {
		return inprocess.New(), nil
	}
	return releases.New(release)
}

func otherName(release string) string {
	if release == inprocess.Version {
		return "the scheduler in process"
	}
	return "another process"
}

// tally counts what became of the clusters.
type tally struct {
	mu                            sync.Mutex
	answered, preempted, differed int
	refused, failed               map[string]int
}

func run(ctx context.Context, release string, seed, clusters uint64, workers int, compare bool) error {
	if _, err := releases.Build(ctx, release, os.Stderr); err != nil {
		return err
	}
	t := &tally{refused: map[string]int{}, failed: map[string]int{}}
	var next atomic.Uint64
	var wg sync.WaitGroup
	errs := make([]error, workers)
	start := time.Now()
	for i := range workers {
		wg.Go(func() {
			driven, err := releases.New(release)
			if err != nil {
				errs[i] = err
				return
			}
			defer driven.Close()
			var other reference.System
			if compare {
				if other, err = newOther(release); err != nil {
					errs[i] = err
					return
				}
				defer other.Close()
			}
			for ctx.Err() == nil {
				n := next.Add(1) - 1
				if n >= clusters {
					return
				}
				t.check(ctx, seed+n, driven, other)
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	fmt.Printf("%s: %d clusters in %.1f s, %.0f each second\n", release, clusters, took.Seconds(), float64(clusters)/took.Seconds())
	fmt.Printf("%6d answered, %d with a preemption\n", t.answered, t.preempted)
	t.list(t.refused, "refused: ")
	t.list(t.failed, "could not be run: ")
	if compare {
		fmt.Printf("%6d answered differently by %s\n", t.differed, otherName(release))
	}
	if t.differed > 0 {
		errs = append(errs, fmt.Errorf("%d answers differ", t.differed))
	}
	return errors.Join(append(errs, ctx.Err())...)
}

// draws is how often the other is asked again for the answer of the driver. Twelve tied candidates would show fewer than all in one of a million
// clusters.
const draws = 200

func (t *tally) check(ctx context.Context, seed uint64, driven, other reference.System) {
	c := generators.FromSeed(seed)
	c.Settings.Parallelism = nil // in which order several workers end is open
	got, err := driven.Observe(ctx, c)
	var want *model.Observation
	var wantErr error
	if other != nil {
		_, _ = other.Observe(ctx, generators.FromSeed(^seed)) // what was asked before must not matter
		want, wantErr = other.Observe(ctx, c)
		// Upstream breaks the last tie between candidates by the order of a map, and
		// old releases take turns between nodes that the pod fits on equally well.
		for range draws {
			if wantErr != nil || want.ScheduledTo == "" && len(want.Candidates) < 2 || reflect.DeepEqual(want, got) {
				break
			}
			want, wantErr = other.Observe(ctx, c)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var refusal *reference.Refusal
	switch {
	case errors.As(err, &refusal):
		t.refused[field(refusal.What)]++
		if other != nil && wantErr == nil {
			t.differ(seed, fmt.Sprint("refused: ", err))
		}
	case err != nil:
		t.failed[err.Error()]++
		if other != nil && wantErr == nil {
			t.differ(seed, fmt.Sprint("error ", err))
		}
	default:
		t.answered++
		if got.Pick != nil {
			t.preempted++
		}
		if other != nil {
			if wantErr != nil {
				t.differ(seed, fmt.Sprint("the other: error ", wantErr))
			} else if !reflect.DeepEqual(want, got) {
				t.differ(seed, gocmp.Diff(want, got))
			}
		}
	}
}

// differ prints the first differences.
func (t *tally) differ(seed uint64, diff string) {
	if t.differed++; t.differed <= 5 {
		fmt.Printf("cluster %d, the other (-) and the driver (+):\n%s\n", seed, diff)
	}
}

// field is what is unknown first, without the name of the object that has it.
func field(what string) string {
	first, _, _ := strings.Cut(what, ";")
	object, field, ok := strings.Cut(first, ": ")
	if !ok {
		return first
	}
	kind, _, _ := strings.Cut(object, " ")
	return kind + ": " + field
}

func (t *tally) list(counts map[string]int, prefix string) {
	reasons := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	for _, reason := range reasons {
		fmt.Printf("%6d %s%s\n", counts[reason], prefix, reason)
	}
}
