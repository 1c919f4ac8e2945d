package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/observation"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/life"
	"github.com/preemptcheck/preemptcheck/reference/patience"
)

// mortal ends its process over a cluster with two pods or more.
type mortal struct{ reference.System }

func newMortal() reference.System { return mortal{inprocess.New()} }

func (m mortal) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	if len(c.Pods) > 1 {
		tell(ctx, &model.Observation{Eligible: &model.Eligibility{OK: true}, PotentialNodes: []string{"node-9"}})
		m.die()
	}
	return m.System.Observe(ctx, c)
}

func (mortal) die() {
	fmt.Fprint(os.Stderr, "fatal error: concurrent map writes\n\ngoroutine 1 [running]:\n"+
		"k8s.io/kubernetes/pkg/scheduler/plugin.(*Plugin).Filter(0xc000)\n\t/go/plugin.go:12 +0x1\n")
	os.Exit(2)
}

// Live ends it over a timeline in which a pod is tried.
func (m mortal) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	told := timeline.Teller(ctx)
	return life.Run(timeline.Telling(ctx, func(part *timeline.Trace) {
		told(part)
		if len(part.Entries) > 0 && part.Entries[0].What == timeline.Popped {
			m.die()
		}
	}), t)
}

// silent never answers.
type silent struct{ reference.System }

func newSilent() reference.System { return silent{inprocess.New()} }

func (silent) Observe(context.Context, *model.Cluster) (*model.Observation, error) { select {} }

// spinning comes to a standstill over a cluster with two pods or more, after it has shown a part of
// its cycle, and takes a processor for ever.
type spinning struct{ reference.System }

func newSpinning() reference.System { return spinning{inprocess.New()} }

func (s spinning) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	o, err := s.System.Observe(ctx, c)
	if err != nil || len(c.Pods) < 2 {
		return o, err
	}
	go func() {
		for n := 0; ; n++ {
			spun = n
		}
	}()
	time.Sleep(patience.Of(ctx, 2*time.Second))
	seen := &model.Observation{Filters: o.Filters, Eligible: o.Eligible, Group: o.Group}
	seen.Crash = &model.Crash{Kind: model.Hang, Where: "plugin.(*Plugin).Filter (plugin.go:12)", Message: "nothing happened"}
	return seen, nil
}

var spun int

// tell tells what is seen of a cycle, as far as somebody wants to know.
func tell(ctx context.Context, part *model.Observation) {
	if told := observation.Teller(ctx); told != nil {
		told(part)
	}
}

const deadly = "../../../corpus/cases/finding-unlabelled-pod.yaml"

// asUser runs a command line as a process, with standard input.
func asUser(t *testing.T, in string, args ...string) (status int, out, errOut string) {
	var stdout, stderr strings.Builder
	cmd := apptest.Process(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// A scheduler that ends its process is a finding of all commands, and takes none of them with it.
func TestProcessDies(t *testing.T) {
	const told = "exit in plugin.(*Plugin).Filter (plugin.go:12): fatal error: concurrent map writes"
	const stack = "stack:\n    plugin.(*Plugin).Filter (plugin.go:12)\n"
	text, err := os.ReadFile(deadly)
	require.NoError(t, err)
	for _, command := range [][]string{{"check"}, {"explain"}} {
		for _, file := range []string{deadly, "-"} {
			status, out, errOut := asUser(t, string(text), append(command, "--reference", "mortal", file)...)
			require.Equal(t, terminal.Found, status, errOut)
			require.Contains(t, out, told)
			require.Contains(t, out, stack)
			require.Contains(t, out, "seen until then:\n    eligible: it may preempt\n    potential nodes: node-9\n")
			require.Empty(t, errOut)
		}
	}
}

// It is minimised like others, by minimize and by a campaign.
func TestProcessThatDiesIsMinimised(t *testing.T) {
	const saved = "\nstack:\n- \"plugin.(*Plugin).Filter (plugin.go:12)\"\n"
	status, out, errOut := asUser(t, "", "minimize", "--reference", "mortal", "--workers", "1", "--classes", "0", deadly)
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Contains(t, out, `kind: "exit in plugin.(*Plugin).Filter (plugin.go:`)
	require.Contains(t, errOut, "to   1 node, 2 pods")
	require.Contains(t, errOut, "\nstack:\n  plugin.(*Plugin).Filter (plugin.go:12)\n")
	require.Contains(t, out, saved)

	dir := filepath.Join(t.TempDir(), "campaign")
	status, _, errOut = asUser(t, "", "fuzz", "--reference", "mortal", "--timelines", "0", "--seed", "1", "--cases", "20", "--workers", "1", "--filters", "0", "--relations", "0", "--out", dir)
	require.Equal(t, terminal.Found, status, errOut)
	s, err := record.Load(dir)
	require.NoError(t, err)
	require.Len(t, s.Findings, 1)
	require.Equal(t, properties.GetsThrough().Name, s.Findings[0].Identity.Property)
	require.True(t, s.Findings[0].Minimised.Minimal)
	require.Greater(t, s.Findings[0].Count, 5)
	require.Equal(t, []string{"plugin.(*Plugin).Filter (plugin.go:12)"}, s.Findings[0].Stack)
	file, err := os.ReadFile(filepath.Join(dir, s.Findings[0].File))
	require.NoError(t, err)
	require.Contains(t, string(file), saved)
}

// A scheduler that spins is minimised wholly, by all commands: each try has a process of its own, which
// is killed, and little patience.
func TestSchedulerSpins(t *testing.T) {
	for _, command := range []string{"check", "explain"} {
		status, out, errOut := asUser(t, "", command, "--reference", "spinning", deadly)
		require.Equal(t, terminal.Found, status, errOut)
		require.Contains(t, out, "hang in plugin.(*Plugin).Filter (plugin.go:12): nothing happened")
		require.Contains(t, out, "seen until then:\n    filter: it does not fit on node-1")
		require.Contains(t, out, "    eligible: it may preempt\n")
	}
	status, out, errOut := asUser(t, "", "check", "--reference", "spinning", "../../../corpus/cases/finding-group-keeps-lower-nominations.yaml")
	require.Equal(t, terminal.Found, status, errOut)
	require.Contains(t, out, `seen until then:
    first pass, members that were tried: default/a (fits nowhere)
    eligible: it may preempt, and its potential victims are taken away
    second pass, members that were tried: default/a (node1)
    units that were given back, or tried to be: default/v (not beside default/a)
`)
	start := time.Now()
	status, out, errOut = asUser(t, "", "minimize", "--reference", "spinning", "--workers", "1", "--classes", "0", deadly)
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Contains(t, out, "kind: \"hang in plugin.(*Plugin).Filter\"")
	require.Contains(t, errOut, "to   1 node, 2 pods")
	require.Contains(t, errOut, "minimal: none of the ")
	require.Less(t, time.Since(start), time.Minute)

	// It is interrupted soon.
	cmd := apptest.Process("minimize", "--reference", "spinning", "--workers", "1", deadly)
	require.NoError(t, cmd.Start())
	time.Sleep(4 * time.Second)
	start = time.Now()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	_ = cmd.Wait()
	require.Less(t, time.Since(start), tolerance+3*time.Second)
}

// So is one that does so in the middle of a timeline.
func TestProcessDiesInTimeline(t *testing.T) {
	const deadly = "../../../corpus/timelines/preempted-and-bound.yaml"
	for _, command := range []string{"check", "explain"} {
		status, out, errOut := asUser(t, "", command, "--reference", "mortal", deadly)
		require.Equal(t, terminal.Found, status, errOut)
		flat := strings.Join(strings.Fields(out), " ")
		require.Contains(t, flat, "exit in plugin.(*Plugin).Filter (plugin.go:12): fatal error: concurrent map writes")
		require.Empty(t, errOut)
		require.Contains(t, out, "stack:\n")
		require.Contains(t, flat, "stack: plugin.(*Plugin).Filter (plugin.go:12)")
		if command == "explain" { // what it has told before it died
			require.Contains(t, flat, "0.000s 1 default/p is created: priority 10, requests cpu 1. 0.000s The scheduler tries default/p. "+
				"0.000s Here the scheduler ends its process in plugin.(*Plugin).Filter (plugin.go:12): fatal error: concurrent map writes.")
		}
	}
	status, out, errOut := asUser(t, "", "minimize", "--reference", "mortal", deadly)
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Contains(t, out, "\nkind: Timeline\n")
	require.Contains(t, out, "\nstack:\n- \"plugin.(*Plugin).Filter (plugin.go:12)\"\n")
	require.Contains(t, strings.Join(strings.Fields(errOut), " "), "to 0 nodes, 1 pod, 0 budgets, 1 step")

	dir := filepath.Join(t.TempDir(), "campaign")
	status, _, errOut = asUser(t, "", "fuzz", "--reference", "mortal", "--timelines", "100", "--seed", "1", "--cases", "4", "--workers", "1", "--filters", "0", "--relations", "0", "--out", dir)
	require.Equal(t, terminal.Found, status, errOut)
	s, err := record.Load(dir)
	require.NoError(t, err)
	i := slices.IndexFunc(s.Findings, func(f *record.Finding) bool { return f.Timeline })
	require.GreaterOrEqual(t, i, 0)
	require.True(t, s.Findings[i].Minimised.Minimal)
	require.Equal(t, 1, s.Findings[i].Minimised.To.Steps)
}

// TestIsolatedTimeline: a timeline is the same in a process of its own, as is all that is
// seen of it.
func TestIsolatedTimeline(t *testing.T) {
	pool, err := checkers.NewIsolatedPool(inprocess.Version, 1)
	require.NoError(t, err)
	defer pool.Close()
	alone := pool.(reference.LifeSystem)
	all, err := corpus.Load(timelines)
	require.NoError(t, err)
	for _, c := range all.Cases {
		want, err := life.Run(t.Context(), c.Timeline)
		require.NoError(t, err)
		got, err := alone.Live(t.Context(), c.Timeline)
		require.NoError(t, err)
		require.Equal(t, want.String(), got.String())
		for _, crash := range []*model.Crash{want.Crash, got.Crash} {
			if crash != nil { // its stack has addresses
				crash.Stack = ""
			}
		}
		require.True(t, equality.Semantic.DeepEqual(want, got), "%s: %s", c.Name, cmp.Diff(want, got))
	}
}

// TestSpareCollector: the collector of a child is off from a large file on, unless the user has
// said how it is to run.
func TestSpareCollector(t *testing.T) {
	file := func(size int64) string {
		path := filepath.Join(t.TempDir(), "dump.json")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, size)) // sparse: it takes no room
		return path
	}
	large, small := file(largeInput), file(largeInput-1)
	for _, test := range []struct {
		path  string
		child string
		user  map[string]string
		off   bool
	}{
		{path: large, child: "1", off: true},
		{path: small, child: "1"},
		{path: large},
		{path: large, child: "1", user: map[string]string{"GOGC": "50"}},
		{path: large, child: "1", user: map[string]string{"GOMEMLIMIT": "1GiB"}},
		{path: filepath.Join(t.TempDir(), "none.json"), child: "1"},
	} {
		t.Setenv("GOGC", test.user["GOGC"])
		t.Setenv("GOMEMLIMIT", test.user["GOMEMLIMIT"])
		t.Setenv("PREEMPTCHECK_CHILD", test.child)
		before := debug.SetGCPercent(100)
		spareCollector(test.path)
		now := debug.SetGCPercent(before)
		if test.off {
			require.Equal(t, -1, now, test)
		} else {
			require.Equal(t, 100, now, test)
		}
	}
}

// A command whose reader goes, as with "| head", ends without a word.
func TestReaderGoes(t *testing.T) {
	for _, command := range []string{"check", "explain"} {
		read, write, err := os.Pipe()
		require.NoError(t, err)
		require.NoError(t, read.Close())
		var errOut strings.Builder
		cmd := apptest.Process(command, "--quiet", deadly)
		cmd.Stdout, cmd.Stderr = write, &errOut
		_ = cmd.Run()
		require.NoError(t, write.Close())
		require.Empty(t, errOut.String())
		require.Equal(t, 128+int(syscall.SIGPIPE), cmd.ProcessState.ExitCode())
	}
}

// An interrupt ends a command soon, whatever the scheduler does.
func TestInterruptedByUser(t *testing.T) {
	for _, args := range [][]string{
		{"check", deadly}, {"explain", deadly}, {"minimize", deadly},
		{"fuzz", "--seed", "1", "--out", filepath.Join(t.TempDir(), "campaign")},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			cmd := apptest.Process(append(args, "--reference", "silent")...)
			require.NoError(t, cmd.Start())
			time.Sleep(2 * time.Second)
			start := time.Now()
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			_ = cmd.Wait()
			require.Less(t, time.Since(start), tolerance+3*time.Second)
			require.Equal(t, terminal.CouldNot, cmd.ProcessState.ExitCode())
		})
	}
}
