package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/findingsdoc"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties/releasediff"
)

// maxShrinking bounds the time for one of them. Most take a few seconds, and several times that on a busy machine.
const maxShrinking = 3 * time.Minute

// smallest makes the witnesses of a kind of difference small, and keeps the one that
// ends up smallest. Of large ones, which take long, it is the first.
func (d *differ) smallest(k *releasediff.Kind, progress func(minimize.Progress)) (*Difference, error) {
	var out *Difference
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
func (d *differ) minimised(w *releasediff.Witness, progress func(minimize.Progress)) *Difference {
	out := &Difference{Reproduce: d.reproduce(w.Number), shown: w.Comparison}
	ctx, cancel := context.WithTimeout(d.stopped, maxShrinking)
	defer cancel()
	effect := fingerprint.Fingerprint{Property: releasediff.AgreeName, Kind: w.Effect.String()}
	small, err := minimize.Minimise(ctx, d.comparer.Checker(), w.Cluster, effect,
		minimize.Options{Workers: d.options.Workers, Progress: progress})
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
func (d *differ) write(out *Difference, w *releasediff.Witness) error {
	from, to := d.comparer.From.String(), d.comparer.To.String()
	title := "not explained"
	if c := w.Effect.Change; c != nil {
		title = c.Title
	}
	c := &corpus.Case{
		Name:        words.Slug(fmt.Sprintf("%s to %s %s %s", from, to, title, out.Kind)),
		Description: fmt.Sprintf("%s: %s.\n%s: %s.\nBetween the two: %s.", from, out.FromDoes, to, out.ToDoes, title),
		Origin:      "minimised from: " + out.Reproduce,
		Cluster:     out.shown.Cluster,
	}
	var written bytes.Buffer
	if err := c.Write(&written); err != nil {
		return err
	}
	out.Case = written.String()
	if d.options.Dir == "" {
		return nil
	}
	path, err := corpus.Save(d.options.Dir, c)
	out.Saved = path
	return err
}
