package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/findingsdoc"
	"github.com/preemptcheck/preemptcheck/internal/releasediff"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// differ compares two releases.
type differ struct {
	options  *diffOptions
	comparer *releasediff.Comparer
	progress *progress
	prefix   string
	stopped  context.Context // done when the user interrupts

	mu    sync.Mutex
	ways  releasediff.Ways
	given []*releasediff.Comparison // by index, of the cases
	start time.Time
}

func (d *differ) run() (*comparison, error) {
	d.start = time.Now()
	d.compareAll()
	r := &comparison{
		From: d.comparer.From.Release.String(), To: d.comparer.To.Release.String(),
		Clusters: d.ways.Compared, Verdicts: d.ways.Verdicts, Why: d.ways.Why,
	}
	for i, c := range d.given {
		if c != nil {
			r.Cases = append(r.Cases, newDiffCase(d.options.cases[i], c))
		}
	}
	list := d.ways.List()
	kinds, done := 0, 0
	for _, w := range list {
		kinds += len(w.Kinds)
	}
	for _, w := range list {
		out := &way{Change: w.Change, Clusters: w.Clusters}
		for _, k := range w.Kinds {
			small, err := d.smallest(k, func(p minimize.Progress) {
				d.progress.show(func() string {
					return fmt.Sprintf("%s: making %d of %d small: %s", d.prefix, done+1, kinds, progressLine(p, time.Since(d.start)))
				})
			})
			if err != nil {
				return nil, err
			}
			out.Kinds = append(out.Kinds, small)
			done++
		}
		r.Ways = append(r.Ways, out)
	}
	return r, nil
}

// compareAll compares on all clusters, or until there is no more time.
func (d *differ) compareAll() {
	ctx, cancel := d.stopped, context.CancelFunc(func() {})
	if d.options.generates {
		ctx, cancel = within(ctx, d.options.duration)
	}
	defer cancel()
	clusters := d.options.clusters
	if !d.options.generates {
		clusters = uint64(len(d.options.cases))
		d.given = make([]*releasediff.Comparison, clusters)
	}
	var next atomic.Uint64
	var workers sync.WaitGroup
	for range d.options.workers {
		workers.Go(func() {
			for ctx.Err() == nil {
				n := next.Add(1) - 1
				if clusters > 0 && n >= clusters || !d.options.generates && n >= uint64(len(d.options.cases)) {
					return
				}
				compare := d.comparer.Compare
				if !d.options.generates {
					compare = d.comparer.CompareOften
				}
				r, err := compare(ctx, d.cluster(n))
				if err != nil && ctx.Err() != nil {
					return
				}
				if err != nil {
					r = &releasediff.Comparison{Verdict: releasediff.Failed, Why: words.FirstLine(err.Error())}
				}
				d.add(n, r)
			}
		})
	}
	workers.Wait()
}

func (d *differ) cluster(n uint64) *model.Cluster {
	if d.options.generates {
		return campaign.Generate(d.options.seed, n)
	}
	return d.options.cases[n].Cluster
}

func (d *differ) add(n uint64, r *releasediff.Comparison) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ways.Add(r, n)
	if d.given != nil {
		d.given[n] = r
	}
	d.progress.show(func() string {
		elapsed := time.Since(d.start)
		return fmt.Sprintf("%s: %s: %s, %.0f per second, %d differ in %s", d.prefix, elapsed.Round(time.Second),
			words.Plural(int(d.ways.Compared), "cluster"), float64(d.ways.Compared)/elapsed.Seconds(),
			d.ways.Verdicts[releasediff.Different], words.Plural(len(d.ways.List()), "way"))
	})
}

// maxShrinking bounds the time for one cluster. Most take a few seconds.
const maxShrinking = 30 * time.Second

// smallest makes the witnesses of a kind of difference small, and keeps the one that
// ends up smallest. Of large ones, which take long, it is the first.
func (d *differ) smallest(k *releasediff.Kind, progress func(minimize.Progress)) (*difference, error) {
	var out *difference
	var from *releasediff.Witness
	for _, w := range k.Witnesses {
		if next := d.minimised(w, progress); out == nil || next.compare(out) < 0 {
			out, from = next, w
		}
		if large := len(w.Cluster.Pods) > 200; large || out.Size.Objects() <= 2 || d.stopped.Err() != nil {
			break
		}
	}
	out.Kind, out.Clusters = k.Kind, k.Clusters
	return out, d.write(out, from)
}

// minimised makes a witness small, and asks both schedulers about it once more.
func (d *differ) minimised(w *releasediff.Witness, progress func(minimize.Progress)) *difference {
	out := &difference{Reproduce: d.reproduce(w.Number), shown: w.Comparison}
	ctx, cancel := context.WithTimeout(d.stopped, maxShrinking)
	defer cancel()
	small, err := minimize.Minimise(ctx, d.comparer.Checker(), w.Cluster, w.Effect.Fingerprint(),
		minimize.Options{Workers: d.options.workers, Progress: progress})
	switch {
	case errors.Is(err, minimize.ErrNotFound):
		out.NotMinimal = "it does not show each time"
	case d.stopped.Err() != nil:
		out.NotMinimal = "interrupted"
	case err != nil && ctx.Err() == nil:
		out.NotMinimal = words.FirstLine(err.Error())
	case err != nil || !small.Minimal:
		out.NotMinimal = "it took too long"
	}
	if err == nil {
		if again := d.comparer.Show(context.WithoutCancel(ctx), small.Cluster, w.Effect); again != nil {
			out.shown = again
		} else {
			out.NotMinimal = "it does not show each time"
		}
	}
	lines := out.shown.Lines()
	out.FromDoes, out.ToDoes = lines[0], lines[1]
	out.Size, out.Cluster = minimize.SizeOf(out.shown.Cluster), findingsdoc.Summary(out.shown.Cluster)
	for _, e := range out.shown.Effects {
		if e != w.Effect {
			out.Besides = append(out.Besides, e.Change.Title)
		}
	}
	return out
}

// write makes a case of the cluster, and saves it if that is asked for.
func (d *differ) write(out *difference, w *releasediff.Witness) error {
	from, to := d.comparer.From.Release, d.comparer.To.Release
	title := "not explained"
	if c := w.Effect.Change; c != nil {
		title = c.Title
	}
	c := &corpus.Case{
		Name:        slug(fmt.Sprintf("%s to %s %s %s", from, to, title, out.Kind)),
		Description: fmt.Sprintf("%s: %s.\n%s: %s.\nBetween the two: %s.", from, out.FromDoes, to, out.ToDoes, title),
		Origin:      "minimised from: " + out.Reproduce,
		Cluster:     out.shown.Cluster,
	}
	var written bytes.Buffer
	if err := c.Write(&written); err != nil {
		return err
	}
	out.Case = written.String()
	if d.options.dir == "" {
		return nil
	}
	path, err := corpus.Save(d.options.dir, c)
	out.Saved = path
	return err
}

var notInSlugs = regexp.MustCompile(`[^a-z0-9]+`)

// slug is a text as a name for a case, of about 100 letters at most.
func slug(text string) string {
	words := strings.Split(strings.Trim(notInSlugs.ReplaceAllString(strings.ToLower(text), "-"), "-"), "-")
	for len(words) > 1 && len(strings.Join(words, "-")) > 100 {
		words = words[:len(words)-1]
	}
	return strings.Join(words, "-")
}

// reproduce is the command line that compares on a cluster again.
func (d *differ) reproduce(n uint64) string {
	command := fmt.Sprintf("diff --from %s --to %s", d.comparer.From.Release, d.comparer.To.Release)
	if d.options.generates {
		return fmt.Sprintf("%s generate --seed %d --first %d | %[1]s %[4]s -", program(), d.options.seed, n, command)
	}
	return commandFor(command, inprocess.Version, d.options.cases[n])
}

// newDiffCase is what became of a case.
func newDiffCase(c *corpus.Case, r *releasediff.Comparison) *diffCase {
	lines := r.Lines()
	out := &diffCase{Name: c.Name, File: c.File, Verdict: string(r.Verdict), Why: r.Why, Object: r.Object, FromDoes: lines[0], ToDoes: lines[1]}
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
