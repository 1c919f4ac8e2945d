// Dialects holds the schedulers of releases against the model of those releases, on
// generated clusters: what releases agree about with their dialect, what is known,
// and what is not. It is the first thing to run for a release that is new, or for a
// flag or quirk of another range. With -twice it also shows that the driver of the
// release that is linked in gives the same answers as the scheduler in process, and
// two processes of any other release the same as each other.
//
//	go run ./internal/dialects -clusters 20000 all
//	go run ./internal/dialects -twice v1.31.0
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
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

func main() {
	debug.SetGCPercent(400) // much garbage in little memory

	var o options
	flag.Uint64Var(&o.clusters, "clusters", 20000, "how many clusters that the release knows all of")
	flag.Uint64Var(&o.seed, "seed", 1, "the number of the first cluster")
	flag.IntVar(&o.workers, "workers", runtime.GOMAXPROCS(0), "how many schedulers to run at once")
	flag.BoolVar(&o.details, "v", false, "also what is refused, and which findings are known")
	flag.BoolVar(&o.twice, "twice", false, "also ask another scheduler, which must answer the same")
	flag.Parse()
	names := flag.Args()
	if slices.Equal(names, []string{"all"}) {
		names = releases.All()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, names, &o); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

type options struct {
	seed, clusters uint64
	workers        int
	details, twice bool
}

func run(ctx context.Context, names []string, o *options) error {
	if len(names) == 0 {
		return errors.New("which releases? Name them, or all")
	}
	fmt.Println("| Release | Clusters | Agree | Known findings | Undecided | Unexplained | Refused besides | Checked per second |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	unexplained := 0
	for _, name := range names {
		t, err := compare(ctx, name, o)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Println(t.row(name))
		for _, line := range t.differences {
			fmt.Fprintf(os.Stderr, "%s: %s\n", name, line)
		}
		if o.details {
			t.print("known", t.known)
			t.print("refused", t.refused)
		}
		unexplained += t.unexplained
	}
	if unexplained > 0 {
		return fmt.Errorf("%d differences are not explained", unexplained)
	}
	return nil
}

// tally counts what became of clusters.
type tally struct {
	mu                            sync.Mutex
	agree, undecided, unexplained int
	known, refused                map[string]int // by the findings, and by what is not known
	took                          time.Duration
	differences                   []string // a line for each, with the number of the cluster
}

// compare goes on until so many clusters were compared.
func compare(ctx context.Context, name string, o *options) (*tally, error) {
	version, err := release.Parse(name)
	if err != nil {
		return nil, err
	}
	if _, err := releases.Build(ctx, name, os.Stderr); err != nil {
		return nil, err
	}
	t := &tally{known: map[string]int{}, refused: map[string]int{}}
	var next, compared atomic.Uint64
	running, ctx := errgroup.WithContext(ctx)
	start := time.Now()
	for range o.workers {
		system, err := newSystem(name, o.twice)
		if err != nil {
			return nil, err
		}
		running.Go(func() error {
			defer system.Close()
			checker := properties.Checker{System: system, Release: version}
			for ctx.Err() == nil && compared.Load() < o.clusters {
				n := o.seed + next.Add(1) - 1
				r, err := checker.Check(ctx, generate(version, n))
				if err != nil {
					return fmt.Errorf("cluster %d: %w", n, err)
				}
				if t.add(n, r) {
					compared.Add(1)
				}
			}
			return ctx.Err()
		})
	}
	err = running.Wait()
	t.took = time.Since(start)
	return t, err
}

// generate is cluster number n of those that a release may know.
func generate(version release.Release, n uint64) *model.Cluster {
	if version.In(vocabulary.WithGroups) {
		return generators.FromSeed(n)
	}
	return generators.Ungrouped(n)
}

// add tells whether the cluster could be compared.
func (t *tally) add(n uint64, r *properties.Result) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case r.Unmodelled != nil:
		t.refused[kindOf(r.Unmodelled[0])]++
		return false
	case r.Undecided != "":
		t.undecided++
	case len(r.Findings) == 0:
		t.agree++
	case len(r.Unexplained()) == 0:
		t.known[strings.Join(r.Findings[0].Known, ", ")]++
	default:
		t.unexplained++
		t.differences = append(t.differences, fmt.Sprintf("cluster %d: %s", n, r.Unexplained()[0]))
	}
	return true
}

func (t *tally) row(name string) string {
	known := total(t.known)
	compared := t.agree + t.undecided + t.unexplained + known
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %.0f |", name, compared, t.agree, known, t.undecided, t.unexplained,
		total(t.refused), float64(compared)/t.took.Seconds())
}

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func (t *tally) print(what string, counts map[string]int) {
	for _, key := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		fmt.Fprintf(os.Stderr, "%7d %s: %s\n", counts[key], what, key)
	}
}

func kindOf(f model.UnmodelledField) string {
	kind, _, _ := strings.Cut(f.Object, " ")
	return kind + ": " + f.Field
}
