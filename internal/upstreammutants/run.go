package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/harness"
)

// What a campaign has to achieve: a finding in each mutant within maxSearch, half
// of them within maxMedian, and each made as small as maxNodes and maxPods within
// maxMinimising.
const (
	maxSearch     = time.Minute
	maxMedian     = 20 * time.Second
	maxMinimising = 30 * time.Second
	maxNodes      = 3
	maxPods       = 5 // and the preemptor
)

// controlFor is how long the scheduler without a mutant is checked.
const controlFor = 20 * time.Second

// run plants the mutants in a copy of upstream, one at a time, and looks for each
// with a campaign; before them, it looks at the copy as it is, where there must be
// nothing to find. All campaigns have the feature gates, and the workers. It writes a table to out, and what is going on to log. The
// error says what was not achieved.
func run(ctx context.Context, out, log io.Writer, mutants []Mutant, gates string, workers int) error {
	source, r, err := newRunner(ctx, log)
	if err != nil {
		return err
	}
	r.gates, r.workers = gates, workers
	control, err := r.campaign(ctx, controlFor)
	if err != nil {
		return fmt.Errorf("without a mutant: %w", err)
	}
	if len(control.Findings) > 0 || control.Verdict == record.Broken {
		return fmt.Errorf("without a mutant the campaign says %s, with %d findings", control.Verdict, len(control.Findings))
	}
	fmt.Fprintf(out, "%s without a mutant: %d clusters, nothing found\n\n", source.Version, control.Clusters)

	var results []*result
	for i := range mutants {
		result, err := r.find(ctx, &mutants[i])
		if err != nil {
			return fmt.Errorf("%s: %w", mutants[i].Name, err)
		}
		fmt.Fprintln(log, result)
		results = append(results, result)
	}
	writeTable(out, results)
	return judge(results)
}

// newRunner makes a copy of upstream, without mutants.
func newRunner(ctx context.Context, log io.Writer) (*harness.Source, *runner, error) {
	source, original, err := harness.Copy(ctx, "mutants")
	if err != nil {
		return nil, nil, err
	}
	r := &runner{dir: source.Dir, original: original, log: log}
	for _, m := range every() { // an earlier run may have been killed
		if err := r.write(&m, false); err != nil {
			return nil, nil, err
		}
	}
	return source, r, nil
}

// runner has a copy of upstream to change.
type runner struct {
	dir, original string
	gates         string
	workers       int // 0: as many as there are by default
	log           io.Writer
	// binary is the last one built, building how long that took, and running how
	// long the campaign took.
	binary            string
	building, running time.Duration
}

// write writes the file of a mutant, with it or as it was.
func (r *runner) write(m *Mutant, planted bool) error {
	source, err := os.ReadFile(filepath.Join(r.original, m.File))
	if err == nil && planted {
		source, err = m.Plant(source)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.dir, m.File), source, 0o644)
}

// find looks for the mutant.
func (r *runner) find(ctx context.Context, m *Mutant) (_ *result, err error) {
	defer func() { err = errors.Join(err, r.write(m, false)) }()
	if err := r.write(m, true); err != nil {
		return nil, err
	}
	report, err := r.campaign(ctx, maxSearch, "--stop-after", "1")
	if err != nil {
		return nil, err
	}
	os.Remove(r.binary) // nobody asks for it again
	found := &result{Mutant: m, building: r.building}
	if len(report.Findings) > 0 {
		found.ReportedFinding = &report.Findings[0]
		found.after = r.running.Seconds() - found.Minimised.Seconds
		if begin := "preemptcheck --kubernetes "; !strings.HasPrefix(found.Reproduce, begin) {
			return nil, fmt.Errorf("the line that reproduces it does not begin with %q: %s", begin, found.Reproduce)
		}
	}
	return found, nil
}

// build builds the program against the copy as it is.
func (r *runner) build(ctx context.Context) error {
	start := time.Now()
	binary, err := harness.Build(ctx, r.dir, r.log)
	r.binary, r.building = binary, time.Since(start)
	return err
}

// campaign runs the same as "preemptcheck fuzz --kubernetes", with the build by
// itself, so that the time it takes is known.
func (r *runner) campaign(ctx context.Context, limit time.Duration, args ...string) (*record.Report, error) {
	if err := r.build(ctx); err != nil {
		return nil, err
	}
	temp, err := os.MkdirTemp("", "upstreammutants-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	if r.workers > 0 {
		args = append(args, "--workers", strconv.Itoa(r.workers))
	}
	cmd := exec.CommandContext(ctx, r.binary, append([]string{"fuzz", "--seed", "1", "--for", limit.String(), "--feature-gates", r.gates, "--out", temp, "-o", "json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	start := time.Now()
	out, err := cmd.Output()
	r.running = time.Since(start)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	// The exit status only repeats the verdict, if there is a report.
	var report record.Report
	if bad := json.Unmarshal(out, &report); bad != nil {
		return nil, fmt.Errorf("the campaign gave no report: %w, %w\n%s", err, bad, stderr.Bytes())
	}
	return &report, nil
}
