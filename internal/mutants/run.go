// Package mutants looks for mutants: it builds what they are planted in, and finds out which tests, cases and campaigns notice them.
package mutants

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
)

// Column is who may kill mutants.
type Column string

// The columns: upstream's own tests of the package, the cases and timelines of the corpus, and a campaign.
const (
	Tests    Column = "tests"
	Corpus   Column = "corpus"
	Campaign Column = "campaign"
)

// Columns are all, in the order in which they are shown.
var Columns = []Column{Tests, Corpus, Campaign}

// How a mutant was killed.
const (
	ByFinding = "finding" // something was found, or a test failed
	ByCrash   = "crash"   // the process ended of itself
	ByHang    = "hang"    // it did not end in time
)

// Outcome is what became of a mutant in one column.
type Outcome struct {
	// Killed is how; "" if the mutant survived.
	Killed string `json:"killed,omitempty"`
	// Seconds is how long it took, of time that passed, from the start of the process.
	Seconds float64 `json:"seconds"`
	// CPUSeconds are those of the process and of those that it waited for.
	CPUSeconds float64 `json:"cpuSeconds"`
	// Detail is what was found.
	Detail string `json:"detail,omitempty"`
}

// Options say how mutants are looked for.
type Options struct {
	// For is how long a campaign lasts, Seed what it generates from, Gates its feature gates, Workers how many clusters it checks at once,
	// Flags further flags of "fuzz", with spaces between them.
	For     time.Duration
	Seed    uint64
	Gates   string
	Workers int
	Flags   string `json:",omitempty"`
}

// Runner looks for mutants of a tree.
type Runner struct {
	*Tree
	Options
	// Baseline are the seconds of each command without a mutant.
	Baseline map[string]float64
}

// command is what a column runs for the mutants of a package, with the race detector or without; nil if that has no tests. A campaign
// lasts so long.
func (r *Runner) command(ctx context.Context, c Column, dir, temp string, raced bool, lasts time.Duration) *exec.Cmd {
	binary, tests := r.Binary, r.Tests
	if raced {
		binary, tests = r.Raced.Binary, r.Raced.Tests
	}
	switch c {
	case Tests:
		test, ok := tests[dir]
		if !ok {
			return nil
		}
		cmd := exec.CommandContext(ctx, test.Binary, "-test.failfast", "-test.short")
		cmd.Dir = test.Dir
		return cmd
	case Corpus:
		cmd := exec.CommandContext(ctx, binary, "check", "--quiet", "--fail-fast", "-o", "name", "corpus/timelines", "corpus/cases")
		cmd.Dir = r.Own
		return cmd
	default:
		args := []string{"fuzz", "--quiet", "--seed", fmt.Sprint(r.Seed), "--for", lasts.String(), "--stop-after", "1", "--minimise-for", "0", "--feature-gates", r.Gates,
			"--workers", fmt.Sprint(r.Workers), "--out", filepath.Join(temp, "campaign"), "-o", "json"}
		if raced { // most goroutines of the scheduler are in timelines, or ask about nodes for the contract
			args = append(args, "--config", filepath.Join(temp, "parallel.yaml"), "--timelines", "50", "--contracts", "4")
		}
		return exec.CommandContext(ctx, binary, append(args, strings.Fields(r.Flags)...)...)
	}
}

// key names a command of which there is one baseline.
func key(c Column, dir string, raced bool) string {
	name := string(c)
	if c == Tests {
		name = dir
	}
	if raced {
		name += ", race detector"
	}
	return name
}

// Measure runs all commands without a mutant, and notes how long each takes. They have to pass, tests of upstream at the second try. It returns which mutants each column comes by:
// of a column of tests, those in its own package.
func (r *Runner) Measure(ctx context.Context, columns []Column, progress func(what string)) (reached map[Column][]int, err error) {
	r.Baseline, reached = map[string]float64{}, map[Column][]int{}
	for _, c := range columns {
		dirs := []string{""}
		if c == Tests {
			dirs = r.packages()
		}
		for _, dir := range dirs {
			progress(strings.TrimSpace(string(c) + " " + path.Base(dir)))
			ids, err := r.measureTwice(ctx, c, dir, false)
			if err != nil {
				return nil, err
			}
			for _, s := range r.Sites {
				if ids[s.ID] && (c != Tests || path.Dir(s.File) == dir) {
					reached[c] = append(reached[c], s.ID)
				}
			}
			if r.Raced == nil || c == Corpus {
				continue
			}
			if _, err := r.measureTwice(ctx, c, dir, true); err != nil {
				return nil, err
			}
		}
	}
	return reached, nil
}

// measures is how many times longer than others the campaign lasts by which it is known what campaigns come by.
const measures = 6

// baselineError is that something is found without a mutant.
type baselineError struct {
	command, killed, detail, said string
}

func (e *baselineError) Error() string {
	return fmt.Sprintf("%s: without a mutant there is a %s: %s\n%s", e.command, e.killed, e.detail, e.said)
}

// measureTwice runs one command without a mutant, and upstream's tests once more if they fail: some of them wait for so long, and fail on
// a busy machine.
func (r *Runner) measureTwice(ctx context.Context, c Column, dir string, raced bool) (reached map[int]bool, err error) {
	reached, err = r.measure(ctx, c, dir, raced)
	if failed := (*baselineError)(nil); c == Tests && errors.As(err, &failed) {
		return r.measure(ctx, c, dir, raced)
	}
	return reached, err
}

// measure runs one command without a mutant.
func (r *Runner) measure(ctx context.Context, c Column, dir string, raced bool) (reached map[int]bool, err error) {
	temp, err := workspace()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	file := filepath.Join(temp, "reached")
	if err := os.WriteFile(file, make([]byte, r.Sites[len(r.Sites)-1].ID+1), 0o600); err != nil {
		return nil, err
	}
	lasts, env := measures*r.For, plant.ReachedVariable+"="+file
	if raced {
		lasts, env = 2*r.For, "" // it is known already who comes by what
	}
	cmd := r.command(ctx, c, dir, temp, raced, lasts)
	if cmd == nil {
		return nil, nil
	}
	o, said, err := r.do(ctx, c, cmd, temp, &plant.Site{}, env)
	if err != nil {
		return nil, err
	}
	if o.Killed != "" {
		return nil, &baselineError{key(c, dir, raced), o.Killed, o.Detail, said}
	}
	r.Baseline[key(c, dir, raced)] = o.Seconds
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	reached = map[int]bool{}
	for id, is := range data {
		if is != 0 {
			reached[id] = true
		}
	}
	return reached, nil
}

// Look looks for one mutant in one column. The outcome is nil if the column has nothing to look with.
func (r *Runner) Look(ctx context.Context, s *plant.Site, c Column) (*Outcome, error) {
	raced := r.Raced != nil && isRaced(s, c)
	if s.Operator != plant.DropLock { // more than the race detector may tell
		first, err := r.look(ctx, s, c, false)
		if first == nil || err != nil || first.Killed != "" || !raced {
			return first, err
		}
		o, err := r.look(ctx, s, c, true)
		if o != nil {
			o.CPUSeconds += first.CPUSeconds
		}
		return o, err
	}
	return r.look(ctx, s, c, raced)
}

// look is Look with the race detector, or without.
func (r *Runner) look(ctx context.Context, s *plant.Site, c Column, raced bool) (*Outcome, error) {
	temp, err := workspace()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	dir := path.Dir(s.File)
	usual := r.Baseline[key(c, dir, false)]
	if raced { // which was not measured, where results of others are gone on with
		usual = cmp.Or(r.Baseline[key(c, dir, true)], 10*usual)
	}
	limit := time.Duration(3*usual)*time.Second + 20*time.Second
	if c == Campaign {
		limit = r.For + 40*time.Second
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := r.command(limited, c, dir, temp, raced, r.For)
	if cmd == nil {
		return nil, nil
	}
	o, _, err := r.do(limited, c, cmd, temp, s, fmt.Sprintf("%s=%d", plant.ActiveVariable, s.ID))
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return &Outcome{Killed: ByHang, Seconds: limit.Seconds(), Detail: fmt.Sprintf("it did not end within %s", limit.Round(time.Second))}, nil
	}
	return o, err
}

// do runs a command for a mutant, which may leave files in a directory, and says what became of it.
func (r *Runner) do(ctx context.Context, c Column, cmd *exec.Cmd, temp string, of *plant.Site, env string) (*Outcome, string, error) {
	var out, errOut bytes.Buffer
	cmd.Env = append(os.Environ(), reports(temp), env)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd) }
	cmd.WaitDelay = 5 * time.Second
	start := time.Now()
	err := cmd.Run()
	o := &Outcome{Seconds: time.Since(start).Seconds()}
	if cmd.ProcessState != nil {
		o.CPUSeconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, "", err
	}
	_ = killGroup(cmd) // what it has left
	said := out.String() + errOut.String()
	line, report, here, err := race(temp, of)
	switch {
	case report != "" && (here || of.ID == 0):
		o.Killed, o.Detail, said = ByRace, line, report
	case report != "": // which ends the process, and is not the mutant's
		o.Detail, said = "a race elsewhere: "+line, report
	default:
		o.judge(c, cmd.ProcessState.ExitCode(), out.Bytes(), said)
	}
	return o, said, err
}

// judge says how a mutant was killed.
func (o *Outcome) judge(c Column, status int, out []byte, said string) {
	switch c {
	case Tests:
		if status != 0 {
			o.Killed, o.Detail = ByFinding, firstOf(said, "--- FAIL", "panic:", "fatal error:")
			if strings.HasPrefix(o.Detail, "panic:") || strings.HasPrefix(o.Detail, "fatal error:") {
				o.Killed = ByCrash
			}
		}
	case Corpus:
		switch status {
		case 0:
		case 1:
			o.Killed, o.Detail = ByFinding, lastOf(string(out)) // it ended there
		default:
			o.Killed, o.Detail = ByCrash, firstOf(said, "panic:", "fatal error:", "error:")
		}
	case Campaign:
		var report record.Report
		if err := json.Unmarshal(out, &report); err != nil {
			o.Killed, o.Detail = ByCrash, firstOf(said, "panic:", "fatal error:", "error:")
			return
		}
		if len(report.Findings) > 0 {
			o.Killed, o.Detail = ByFinding, plant.OneLine(report.Findings[0].Identity)
		}
	}
}

// lastOf is the last line that is not empty.
func lastOf(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return plant.OneLine(lines[len(lines)-1])
}

// firstOf is the first line that begins with one of these, or the first one at all.
func firstOf(text string, begins ...string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	for _, b := range begins {
		for _, l := range lines {
			if strings.HasPrefix(strings.TrimSpace(l), b) {
				return plant.OneLine(l)
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return plant.OneLine(lines[0])
}
