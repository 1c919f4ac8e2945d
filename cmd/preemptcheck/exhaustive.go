package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties"
)

func newExhaustiveCommand() *cobra.Command {
	var number, workers int
	var dir, state, reference string
	var output format
	cmd := &cobra.Command{
		Use:   "exhaustive",
		Short: "Check every small cluster, each once up to symmetry",
		Long: `Exhaustive checks every cluster within a bound on nodes, pods, priorities, sizes,
start times and budgets. Of clusters that differ only in what cannot matter, such
as the numbering of nodes, it checks one. The bounds 1 to 4 add to one another: 1
takes seconds, 2 half a minute, 3 some minutes and 4 up to half an hour.

With --state it can be interrupted, or killed, at any time: the same command goes
on where it was. The file is removed when the bound is complete.

The first cluster of each kind on which something new is found is written to --out
as a case: smaller clusters come first, so it is a small one.

Exit status: 1 if something new was found; else 2 if it was interrupted or a
cluster could not be checked; else 0.`,
		Example: `  preemptcheck exhaustive --bound 1
  preemptcheck exhaustive --state exhaustive.json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().IntVar(&number, "bound", generators.MaxBound, fmt.Sprintf("how far to go: 1 to %d", generators.MaxBound))
	workersFlag(cmd, &workers)
	cmd.Flags().StringVar(&dir, "out", "findings", "directory to save cases in; it is created when it is needed")
	cmd.Flags().StringVar(&state, "state", "", "file to keep the state in, to go on from it")
	referenceFlag(cmd, &reference)
	outputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if number < 1 || number > generators.MaxBound {
			return fmt.Errorf("--bound: must be 1 to %d", generators.MaxBound)
		}
		if workers < 1 {
			return errors.New("--workers: must be at least 1")
		}
		e := &exhaustive{Bound: number, Bounds: generators.Bounds(number), Version: version(), Reference: reference, dir: dir, state: state}
		if err := e.resume(); err != nil {
			return err
		}
		for range workers {
			checker, err := newChecker(reference, properties.Invariants()...)
			if err != nil {
				return err
			}
			defer checker.System.Close()
			checker.Relations = 1
			e.checks = append(e.checks, checker.Check)
		}
		if err := e.run(cmd.Context(), cmd.ErrOrStderr()); err != nil {
			return err
		}
		if err := output.print(cmd.OutOrStdout(), e, e.text); err != nil {
			return err
		}
		return status(len(e.New) > 0, !e.complete() || e.Sweep.Errors > 0)
	}
	return cmd
}

// exhaustive is the answer of the command, and what it keeps between runs.
type exhaustive struct {
	Bound     int                `json:"bound"`
	Bounds    []generators.Bound `json:"bounds"`
	Version   string             `json:"version"`
	Reference string             `json:"reference"`
	// Classes and Clusters are what the bounds hold; Sweep says how much of it
	// was checked.
	Classes  uint64           `json:"classes"`
	Clusters uint64           `json:"clusters"`
	Sweep    properties.Sweep `json:"sweep"`
	Seconds  float64          `json:"seconds"`
	New      []newFinding     `json:"new"`

	checks     []properties.Check
	dir, state string
}

func (e *exhaustive) complete() bool { return e.Sweep.Classes == e.Classes }

// resume takes up the state that an earlier run left, if there is one.
func (e *exhaustive) resume() error {
	if e.state == "" {
		return nil
	}
	data, err := os.ReadFile(e.state)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var left exhaustive
	if err := json.Unmarshal(data, &left); err != nil {
		return fmt.Errorf("--state: %s: %w", e.state, err)
	}
	if left.Bound != e.Bound || !reflect.DeepEqual(left.Bounds, e.Bounds) || left.Version != e.Version || left.Reference != e.Reference {
		return fmt.Errorf("--state: %s is of another run (bound %d, %s, reference %s): remove it to start anew", e.state, left.Bound, left.Version, left.Reference)
	}
	e.Sweep, e.Seconds, e.New = left.Sweep, left.Seconds, left.New
	return nil
}

// keep stores the state, or leaves what was there as it is.
func (e *exhaustive) keep() error {
	if e.state == "" {
		return nil
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(e.state), ".state-*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), e.state)
}

// run checks what is left, until the context is done.
func (e *exhaustive) run(ctx context.Context, log io.Writer) error {
	e.Classes, e.Clusters = generators.Count(e.Bounds...)
	start, before, from := time.Now(), e.Seconds, e.Sweep.Classes
	fmt.Fprintf(log, "bound %d: %d clusters, %d classes, of which %d are done\n", e.Bound, e.Clusters, e.Classes, from)
	const saveEvery, showEvery = 2 * time.Second, 10 * time.Second
	saved, shown := start, start
	err := e.Sweep.Run(ctx, generators.Exhaustive(e.Bounds...), e.checks, func(suspects []properties.Suspect) error {
		now := time.Now()
		e.Seconds = before + now.Sub(start).Seconds()
		for _, s := range suspects {
			if err := e.save(s); err != nil {
				return err
			}
		}
		if now.Sub(shown) >= showEvery {
			shown = now
			perSecond := float64(e.Sweep.Classes-from) / now.Sub(start).Seconds()
			eta := time.Duration(float64(e.Classes-e.Sweep.Classes) / perSecond * float64(time.Second))
			fmt.Fprintf(log, "%5.1f %%: %d classes, %.0f per second, %s to go, %s\n", words.Percent(int(e.Sweep.Classes), int(e.Classes)),
				e.Sweep.Classes, perSecond, eta.Round(time.Second), words.Plural(len(e.New), "new finding"))
		}
		if len(suspects) > 0 || now.Sub(saved) >= saveEvery {
			saved = now
			return e.keep()
		}
		return nil
	})
	if err != nil && ctx.Err() == nil {
		return err
	}
	if e.complete() && e.state != "" {
		if err := os.Remove(e.state); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return e.keep()
}

// newFinding is a finding that was saved, with its like.
type newFinding struct {
	Identity fingerprint.Identity `json:"identity"`
	// Count counts the classes with that identity.
	Count       int    `json:"count"`
	Explanation string `json:"explanation"`
	File        string `json:"file"`
	Reproduce   string `json:"reproduce"`
}

// save writes the class as a case, unless its like was.
func (e *exhaustive) save(s properties.Suspect) error {
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
	found := fmt.Sprintf("%s exhaustive --bound %d", program(), e.Bound)
	path, err := corpus.Save(e.dir, campaign.NewCase(identity, explanation, fmt.Sprintf("%s, class %d", found, s.Class), found, s.Cluster))
	if err != nil {
		return fmt.Errorf("saving class %d of bound %d: %w", s.Class, e.Bound, err)
	}
	e.New = append(e.New, newFinding{identity, 1, explanation, path, program() + " check " + path})
	return nil
}

func (e *exhaustive) text(w io.Writer) {
	for _, f := range e.New {
		fmt.Fprintf(w, "%s\n  %s; classes like it: %d\n  reproduce: %s\n\n", f.Explanation, f.Identity, f.Count, f.Reproduce)
	}
	for _, b := range e.Bounds {
		fmt.Fprintln(w, b)
	}
	fmt.Fprintln(w)
	e.Sweep.Gap.WriteTable(w)
	stats := &e.Sweep.Stats
	fmt.Fprintf(w, "\n%d preempt, %d of them with several candidates; %d no help\n\n",
		stats.Preempted, stats.SeveralCandidates, stats.NotHelpful)
	table.WriteCounts(w, "KNOWN FINDING", "CLASSES", table.Sorted(stats.Known))
	if !e.complete() {
		fmt.Fprintf(w, "interrupted: %d of %d classes\n", e.Sweep.Classes, e.Classes)
		return
	}
	fmt.Fprintf(w, "complete to bound %d: %d clusters, %d classes, %d unexplained, %d not checked (%.0f s)\n",
		e.Bound, e.Clusters, e.Classes, stats.Findings, e.Sweep.Errors, e.Seconds)
}
