// Package exhaustive checks every cluster within a bound, each once up to symmetry, and
// goes on where an earlier run was interrupted.
package exhaustive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"time"

	"github.com/moby/sys/atomicwriter"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators/bounded"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/sweep"
)

// Run is a pass through all clusters within some bounds: what it has come to, and what
// it keeps in its state file.
type Run struct {
	Bound     int             `json:"bound"`
	Bounds    []bounded.Bound `json:"bounds"`
	Version   string          `json:"version"`
	Reference string          `json:"reference"`
	// Classes and Clusters are what the bounds hold; Sweep says how much of it
	// was checked.
	Classes  uint64      `json:"classes"`
	Clusters uint64      `json:"clusters"`
	Sweep    sweep.Sweep `json:"sweep"`
	Seconds  float64     `json:"seconds"`
	New      []Finding   `json:"new"`

	options Options
}

// Options say what a run is of, and where it keeps what.
type Options struct {
	// Bound is how far to go: 1 to bounded.MaxBound; Groups: through clusters with pod groups.
	Bound  int
	Groups bool
	// Reference names the scheduler, Version the whole program: a run does not go on
	// with others.
	Reference, Version string
	// Command is how the program is called, up to the name of a subcommand.
	Command string
	// Dir is where cases are saved, State the file to go on from; "" is none.
	Dir, State string
}

// New starts a run, or goes on with the one whose state there is.
func New(o Options) (*Run, error) {
	e := &Run{Bound: o.Bound, Bounds: bounded.Bounds(o.Bound), Version: o.Version, Reference: o.Reference, options: o}
	if o.Groups {
		e.Bounds = bounded.GroupBounds(o.Bound)
	}
	return e, e.resume()
}

// IsComplete tells whether all was checked.
func (e *Run) IsComplete() bool { return e.Sweep.Classes == e.Classes }

// resume takes up the state that an earlier run left, if there is one.
func (e *Run) resume() error {
	if e.options.State == "" {
		return nil
	}
	data, err := os.ReadFile(e.options.State)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var left Run
	if err := json.Unmarshal(data, &left); err != nil {
		return fmt.Errorf("%s: %w", e.options.State, err)
	}
	if left.Bound != e.Bound || !reflect.DeepEqual(left.Bounds, e.Bounds) || left.Version != e.Version || left.Reference != e.Reference {
		return fmt.Errorf("%s is of another run (bound %d, %s, reference %s): remove it to start anew", e.options.State, left.Bound, left.Version, left.Reference)
	}
	e.Sweep, e.Seconds, e.New = left.Sweep, left.Seconds, left.New
	return nil
}

// keep stores the state, or leaves what was there as it is.
func (e *Run) keep() error {
	if e.options.State == "" {
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return atomicwriter.WriteFile(e.options.State, data, 0o600)
}

// Check checks what is left, until the context is done. Each of the checks is used by
// one goroutine. The log says how much there is to do; progress is called often, from one goroutine,
// with the share that is done, and a line that tells of it.
func (e *Run) Check(ctx context.Context, checks []sweep.Check, log io.Writer, progress func(share float64, line func() string)) error {
	e.Classes, e.Clusters = bounded.Count(e.Bounds...)
	start, before, from := time.Now(), e.Seconds, e.Sweep.Classes
	fmt.Fprintf(log, "bound %d: %d clusters, %d classes, of which %d are done\n", e.Bound, e.Clusters, e.Classes, from)
	const saveEvery = 2 * time.Second
	saved := start
	err := e.Sweep.Run(ctx, bounded.Classes(e.Bounds...), checks, func(suspects []sweep.Suspect) error {
		now := time.Now()
		e.Seconds = before + now.Sub(start).Seconds()
		for _, s := range suspects {
			if err := e.save(s); err != nil {
				return err
			}
		}
		progress(float64(e.Sweep.Classes)/float64(e.Classes), func() string {
			return fmt.Sprintf("%d of %d classes, %.0f per second, %s", e.Sweep.Classes, e.Classes,
				float64(e.Sweep.Classes-from)/now.Sub(start).Seconds(), words.Plural(len(e.New), "new finding"))
		})
		if len(suspects) > 0 || now.Sub(saved) >= saveEvery {
			saved = now
			return e.keep()
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		return err
	}
	if e.IsComplete() && e.options.State != "" {
		if err := os.Remove(e.options.State); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return e.keep()
}

// Finding is a finding that was saved, with its like.
type Finding struct {
	Identity fingerprint.Identity `json:"identity"`
	// Count counts the classes with that identity.
	Count       int    `json:"count"`
	Explanation string `json:"explanation"`
	File        string `json:"file"`
	Reproduce   string `json:"reproduce"`
}

// save writes the class as a case, unless its like was.
func (e *Run) save(s sweep.Suspect) error {
	suspect := properties.Finding{Property: fingerprint.Failed}
	explanation := ""
	if s.Err != nil {
		suspect.Detail = s.Err.Error()
		explanation = words.FirstLine(suspect.String())
	} else {
		suspect = s.Result.Unexplained()[0]
		explanation = fingerprint.Explain(s.Result, &suspect)
	}
	identity := fingerprint.Identify(&suspect, s.Cluster)
	for i := range e.New {
		if f := &e.New[i]; f.Identity == identity {
			f.Count++
			return nil
		}
	}
	found := fmt.Sprintf("%s exhaustive --bound %d", e.options.Command, e.Bound)
	if e.options.Groups {
		found += " --groups"
	}
	path, err := corpus.Save(e.options.Dir, identity.Case(explanation, fmt.Sprintf("%s, class %d", found, s.Class), found, s.Cluster))
	if err != nil {
		return fmt.Errorf("saving class %d of bound %d: %w", s.Class, e.Bound, err)
	}
	e.New = append(e.New, Finding{identity, 1, explanation, path, e.options.Command + " check " + path})
	return nil
}

// WriteText prints what was found, and what was checked.
func (e *Run) WriteText(w io.Writer) {
	for _, f := range e.New {
		fmt.Fprintf(w, "%s\n  %s; classes like it: %d\n  reproduce: %s\n\n", f.Explanation, f.Identity, f.Count, f.Reproduce)
	}
	for _, b := range e.Bounds {
		fmt.Fprintln(w, b)
	}
	fmt.Fprintln(w)
	if e.Sweep.Gap.Measured > 0 { // with pod groups nothing is
		e.Sweep.Gap.WriteTable(w)
		fmt.Fprintln(w)
	}
	stats := &e.Sweep.Stats
	fmt.Fprintf(w, "%d preempt, %d of them with several candidates; %d no help\n\n",
		stats.Preempted, stats.SeveralCandidates, stats.NotHelpful)
	table.WriteCounts(w, "KNOWN FINDING", "CLASSES", ledger.Named(table.Sorted(stats.Known)))
	if !e.IsComplete() {
		fmt.Fprintf(w, "interrupted: %d of %d classes\n", e.Sweep.Classes, e.Classes)
		return
	}
	fmt.Fprintf(w, "complete to bound %d: %d clusters, %d classes, %d unexplained, %d not checked (%.0f s)\n",
		e.Bound, e.Clusters, e.Classes, stats.Findings, e.Sweep.Errors, e.Seconds)
}
