// Dialects holds the scheduler of a release against the model of that release, on
// generated clusters, and counts what they disagree about.
//
//	go run ./internal/dialects -release v1.31.0 -clusters 20000
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
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/releases"
)

func main() {
	release := flag.String("release", "v1.31.0", "the release whose driver and dialect are compared")
	clusters := flag.Uint64("clusters", 20000, "how many clusters")
	seed := flag.Uint64("seed", 1, "the number of the first cluster")
	limit := flag.Duration("for", time.Hour, "how long at most")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := run(ctx, *release, *seed, *clusters); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// tally counts what became of the clusters, and keeps the number of the first of
// each kind.
type tally struct {
	counts map[string]int
	first  map[string]uint64
}

func (t *tally) add(what string, seed uint64) {
	if t.counts[what]++; t.counts[what] == 1 {
		t.first[what] = seed
	}
}

func run(ctx context.Context, name string, seed, clusters uint64) error {
	release, err := model.ParseRelease(name)
	if err != nil {
		return err
	}
	driven, err := releases.New(name)
	if err != nil {
		return err
	}
	defer driven.Close()
	t := &tally{map[string]int{}, map[string]uint64{}}
	start := time.Now()
	n := uint64(0)
	for ; n < clusters && ctx.Err() == nil; n++ {
		if err := t.check(ctx, release, driven, seed+n); err != nil {
			return fmt.Errorf("cluster %d: %w", seed+n, err)
		}
	}
	took := time.Since(start)
	fmt.Printf("%s: %d clusters in %.1f s, %.0f each second\n", name, n, took.Seconds(), float64(n)/took.Seconds())
	for _, what := range slices.SortedFunc(maps.Keys(t.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.counts[b], t.counts[a]), cmp.Compare(a, b))
	}) {
		fmt.Printf("%7d %s (first: %d)\n", t.counts[what], what, t.first[what])
	}
	return nil
}

func (t *tally) check(ctx context.Context, release model.Release, driven reference.System, seed uint64) error {
	c := generators.FromSeed(seed)
	if unknown := release.Unknown(c); len(unknown) > 0 {
		t.add("refused: "+kindOf(unknown[0]), seed)
		return nil
	}
	rules := release.Rules()
	d, err := model.Decide(c, rules)
	var missing model.Unmodelled
	if errors.As(err, &missing) {
		t.add("not modelled: "+kindOf(missing[0]), seed)
		return nil
	}
	if err != nil {
		return err
	}
	o, err := driven.Observe(ctx, c)
	var refusal *reference.Refusal
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.As(err, &refusal) && strings.Contains(refusal.What, ": the driver of "):
		t.add("refused: "+refusal.What, seed)
		return nil
	case errors.As(err, &refusal):
		t.add("REFUSED BY THE DRIVER ONLY: "+refusal.What, seed)
		return nil
	case err != nil:
		return err
	}
	dis := d.Admits(o)
	if dis == nil {
		t.add("agrees", seed)
		return nil
	}
	if dis.Undecided {
		t.add("undecided", seed)
		return nil
	}
	if quirks, left := explain(c, release, o); left == nil {
		t.add("known: "+strings.Join(quirks, ", "), seed)
	} else {
		t.add("DISAGREES: "+string(left.Stage)+": "+left.Kind, seed)
		if t.counts["DISAGREES: "+string(left.Stage)+": "+left.Kind] == 1 {
			fmt.Printf("cluster %d: %s\n", seed, left)
		}
	}
	return nil
}

// explain finds known findings that together account for all that was observed,
// none of which could be missed; left is what not even all of them do.
func explain(c *model.Cluster, release model.Release, o *model.Observation) (ids []string, left *model.Disagreement) {
	with := func(entries []properties.LedgerEntry) *model.Disagreement {
		var quirks []model.Quirk
		for _, e := range entries {
			if e.Quirk != "" {
				quirks = append(quirks, e.Quirk)
			}
		}
		d, err := model.Decide(c, release.Rules().With(quirks...))
		if err != nil {
			return &model.Disagreement{}
		}
		return d.Admits(o)
	}
	known := properties.LedgerOf(release)
	if left = with(known); left != nil {
		return nil, left
	}
	for i := 0; i < len(known); {
		if fewer := slices.Delete(slices.Clone(known), i, i+1); with(fewer) == nil {
			known = fewer
		} else {
			i++
		}
	}
	for _, e := range known {
		ids = append(ids, e.ID)
	}
	return ids, nil
}

func kindOf(f model.UnmodelledField) string {
	kind, _, _ := strings.Cut(f.Object, " ")
	return kind + ": " + f.Field
}
