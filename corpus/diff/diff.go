// Package diff tells what preemption decides differently in other releases: on which
// of many clusters, because of which change, and with the smallest cluster of each.
package diff

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

// Options say on which clusters to compare releases.
type Options struct {
	// Generate makes the cluster of a number from Seed; nil compares on Cases instead.
	Generate func(seed, n uint64) *model.Cluster
	Seed     uint64
	// Clusters and Duration limit how many are generated, and for how long, for each
	// two releases; 0 is no limit.
	Clusters uint64
	Duration time.Duration
	// Timeline makes the timeline that is compared besides the cluster of a number: nil if there
	// is none. It is nil if no timelines are generated.
	Timeline func(n uint64) (*timeline.Timeline, error)
	// Cases are clusters and timelines.
	Cases []*corpus.Case
	// Workers is how many clusters are compared on at once. The systems must bear it.
	Workers int
	// Dir is where the smallest clusters are saved as cases; "" does not save them.
	Dir string
	// Command is the command line that compares all. Reproduce, if it is not nil, gives
	// the one that compares two releases on the cluster of a number, ReproduceTimeline the one
	// that does on the timeline.
	Command                      string
	Reproduce, ReproduceTimeline func(from, to string, n uint64) string
	// Progress, if it is not nil, is called often, from one goroutine at a time, with the share of
	// a step of the work that is done, below 0 if that is not known, and a line that tells of it.
	Progress func(share float64, line func() string)
}

// Run compares the first release with the second, that with the third, and so on,
// until the context is done: then the report holds what was found so far.
func Run(ctx context.Context, sides []releasediff.Side, o *Options) (*Report, error) {
	r := &Report{
		From: sides[0].String(), To: sides[len(sides)-1].String(),
		Command: o.Command, Generated: o.Generate != nil,
	}
	if r.Generated {
		r.Seed = o.Seed
		// Much garbage in little memory: this nearly doubles the clusters per second.
		defer debug.SetGCPercent(debug.SetGCPercent(400))
	}
	for i := range sides[1:] {
		d := &differ{options: o, start: time.Now(), comparer: releasediff.New(sides[i], sides[i+1]), stopped: ctx}
		p, err := d.run()
		if err != nil {
			return nil, err
		}
		r.Comparisons = append(r.Comparisons, p)
		if ctx.Err() != nil {
			r.Interrupted = true
			break
		}
	}
	return r, nil
}

// differ compares two releases.
type differ struct {
	options  *Options
	start    time.Time
	comparer *releasediff.Comparer
	stopped  context.Context // done when the user interrupts

	mu    sync.Mutex
	ways  releasediff.Ways
	given []*releasediff.Comparison // by index, of the cases
}

func (d *differ) run() (*Pair, error) {
	life := d.lives()
	d.compareAll(life)
	life.given(d.stopped)
	p := &Pair{
		From: d.comparer.From.String(), To: d.comparer.To.String(),
		Clusters: d.ways.Compared, Verdicts: d.ways.Verdicts, Why: d.ways.Why,
	}
	for i, c := range d.given {
		if c != nil {
			p.Cases = append(p.Cases, newCase(d.options.Cases[i], c))
		}
	}
	list := d.ways.List()
	kinds, done := 0, 0
	for _, w := range list {
		kinds += len(w.Kinds)
	}
	for _, w := range list {
		out := &Way{Change: w.Change, Clusters: w.Clusters}
		for _, k := range w.Kinds {
			small, err := d.smallest(k, func(p minimize.Progress) {
				d.progress(float64(done)/float64(kinds), func() string {
					return fmt.Sprintf("making %d of %d small: %s: %s", done+1, kinds, time.Since(d.start).Round(time.Second), p)
				})
			})
			if err != nil {
				return nil, err
			}
			out.Kinds = append(out.Kinds, small)
			done++
		}
		p.Ways = append(p.Ways, out)
	}
	var err error
	p.Timelines, err = life.report()
	return p, err
}

func (d *differ) progress(share float64, line func() string) {
	if d.options.Progress == nil {
		return
	}
	d.options.Progress(share, func() string {
		return fmt.Sprintf("%s to %s: %s", d.comparer.From.String(), d.comparer.To.String(), line())
	})
}

func (d *differ) reproduce(n uint64) string {
	if d.options.Reproduce == nil {
		return ""
	}
	return d.options.Reproduce(d.comparer.From.String(), d.comparer.To.String(), n)
}

// compareAll compares on all clusters, or until there is no more time, and the timelines that are
// drawn besides them.
func (d *differ) compareAll(life *lifeDiffer) {
	ctx, clusters := d.stopped, d.options.Clusters
	compare, cluster := d.comparer.Compare, func(n uint64) *model.Cluster { return d.options.Generate(d.options.Seed, n) }
	if d.options.Generate == nil {
		clusters = uint64(len(d.options.Cases))
		compare, cluster = d.comparer.CompareOften, func(n uint64) *model.Cluster { return d.options.Cases[n].Cluster }
		d.given = make([]*releasediff.Comparison, clusters)
	} else if d.options.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, d.options.Duration)
		defer cancel()
	}
	limited := clusters > 0 || d.options.Generate == nil
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range d.options.Workers {
		workers.Go(func() {
			for ctx.Err() == nil {
				n := next.Add(1) - 1
				if limited && n >= clusters {
					return
				}
				if d.options.Generate == nil && isTimeline(d.options.Cases[n]) {
					continue
				}
				r, err := compare(ctx, cluster(n))
				if err != nil && ctx.Err() != nil {
					return
				}
				if err != nil {
					r = &releasediff.Comparison{Verdict: releasediff.Failed, Why: words.FirstLine(err.Error())}
				}
				d.add(n, r)
				if d.options.Timeline != nil {
					life.generated(ctx, n)
				}
			}
		})
	}
	workers.Wait()
}

func (d *differ) add(n uint64, r *releasediff.Comparison) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ways.Add(r, n)
	if d.given != nil {
		d.given[n] = r
	}
	elapsed, share := time.Since(d.start), -1.0
	switch o := d.options; {
	case o.Generate == nil:
		share = float64(d.ways.Compared) / float64(len(o.Cases))
	case o.Duration > 0:
		share = min(1, float64(elapsed)/float64(o.Duration))
	}
	if of := d.options.Clusters; d.options.Generate != nil && of > 0 {
		share = max(share, float64(d.ways.Compared)/float64(of))
	}
	d.progress(share, func() string {
		return fmt.Sprintf("%s: %s, %.0f per second, %d differ in %s", elapsed.Round(time.Second),
			words.Plural(int(d.ways.Compared), "cluster"), float64(d.ways.Compared)/elapsed.Seconds(),
			d.ways.Verdicts[releasediff.Different], words.Plural(len(d.ways.List()), "way"))
	})
}

// newCase is what became of a case.
func newCase(c *corpus.Case, r *releasediff.Comparison) *Case {
	lines := r.Lines()
	out := &Case{Name: c.Name, File: c.File, Verdict: string(r.Verdict), Why: r.Why, Object: r.Object, FromDoes: lines[0], ToDoes: lines[1]}
	for _, e := range r.Effects {
		because := e.Kind
		if e.Change != nil {
			because = e.Change.Title
		}
		if !slices.Contains(out.Because, because) {
			out.Because = append(out.Because, because)
		}
	}
	return out
}
