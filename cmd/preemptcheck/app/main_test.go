package app

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/internal/golden"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

func TestMain(m *testing.M) {
	systems.Register("mortal", newMortal)
	systems.Register("silent", newSilent)
	systems.Register("spinning", newSpinning)
	apptest.Main(m, func() { Main() })
}

var preemptcheck = apptest.InProcess(Run)

// compare compares with testdata/NAME.golden.
func compare(t *testing.T, name, got string) {
	t.Helper()
	golden.Compare(t, filepath.Join("testdata", name+".golden"), got)
}

// TestOutput holds what the commands print against golden files: standard
// output, then standard error if there is any.
func TestOutput(t *testing.T) {
	emptyCache(t) // which releases are built there shows in "references"
	for _, test := range []struct {
		name   string
		status int
		args   []string
	}{
		{"help", 0, []string{"help"}},
		{"job", 0, []string{"job", "--image", "registry.example.com/preemptcheck:v1", "--shards", "500", "--parallelism", "100", "--for", "8h", "--seed", "7", "--secret", "bucket",
			"--out", "s3://nights/today?region=us-east-1&use_path_style=true&endpoint=http://127.0.0.1:9000"}},
		{"job-config", 0, []string{"job", "--image", "registry.example.com/preemptcheck:v1", "--shards", "2", "--cases", "100000", "--seed", "7", "--config", "testdata/job-config.yaml", "--out", "s3://nights/today?region=us-east-1"}},
		{"check", 1, []string{"check", "testdata/cases", "testdata/bad/truncated.yaml"}},
		{"check-json", 1, []string{"check", "-o", "json", "testdata/cases/preempts.yaml", "testdata/cases/unexpected.yaml"}},
		{"check-dump-pod", 0, []string{"check", "-f", "testdata/cases/dump.yaml", "--pod", "shop/web"}},
		{"explain-preempts", 0, []string{"explain", "testdata/cases/preempts.yaml"}},
		{"explain-yaml", 0, []string{"explain", "-o", "yaml", "testdata/cases/preempts.yaml"}},
		{"explain-one-node", 0, []string{"explain", "--nodes", "1", "testdata/cases/preempts.yaml"}},
		{"explain-known", 0, []string{"explain", "testdata/cases/known.yaml"}},
		{"explain-fits", 0, []string{"explain", "testdata/cases/fits.yaml"}},
		{"explain-no-help", 0, []string{"explain", "testdata/cases/no-help.yaml"}},
		{"explain-no-nodes", 0, []string{"explain", "testdata/cases/no-nodes.yaml"}},
		{"explain-not-eligible", 0, []string{"explain", "testdata/cases/not-eligible.yaml"}},
		{"explain-order", 0, []string{"explain", "testdata/cases/order-matters.yaml"}},
		{"explain-odds", 0, []string{"explain", "testdata/cases/odds.yaml"}},
		{"explain-odds-json", 0, []string{"explain", "-o", "json", "testdata/cases/odds.yaml"}},
		{"explain-not-modelled", 2, []string{"explain", "testdata/cases/dump.yaml", "--pod", "shop/stateful"}},
		{"explain-volumes", 0, []string{"explain", "../../../corpus/testdata/storage-dump.yaml", "--pod", "shop/db-0"}},
		{"explain-claim-in-use", 0, []string{"explain", "../../../corpus/testdata/storage-dump.yaml", "--pod", "shop/next-writer"}},
		{"explain-claim-not-bound", 0, []string{"explain", "../../../corpus/testdata/storage-dump.yaml", "--pod", "shop/slow"}},
		{"explain-which-pod", 2, []string{"explain", "testdata/cases/dump.yaml"}},
		{"check-timelines", 0, []string{"check", "../../../corpus/timelines"}},
		{"explain-timeline", 0, []string{"explain", "../../../corpus/timelines/kubernetes-141694.yaml"}},
		{"references", 0, []string{"references"}},
		{"finding", 0, []string{"findings", "empty-selector"}},
		{"findings-class", 0, []string{"findings", "--class", "inconsistency,unreachable"}},
		{"check-class", 0, []string{"check", "--class", "inconsistency,debatable", "testdata/cases/known.yaml", "../../../corpus/cases/finding-percentage-of-potential-nodes.yaml"}},
		{"explain-remark", 0, []string{"explain", "../../../corpus/cases/finding-percentage-of-potential-nodes.yaml"}},
		{"explain-group", 0, []string{"explain", "--nodes", "3", "testdata/training-job-makes-room.yaml"}},
		{"explain-gang", 0, []string{"explain", "testdata/groups/gang-makes-room.yaml"}},
		{"explain-gang-json", 0, []string{"explain", "-o", "json", "testdata/groups/gang-makes-room.yaml"}},
		{"explain-gang-in-one-rack", 0, []string{"explain", "../../../corpus/cases/group-in-one-rack.yaml"}},
		{"explain-gangs-in-racks", 0, []string{"explain", "../../../corpus/cases/composite-group-in-one-zone-and-racks.yaml"}},
		{"explain-gang-waits", 0, []string{"explain", "testdata/groups/waits.yaml"}},
		{"explain-gang-known", 0, []string{"explain", "../../../corpus/cases/finding-own-nominations-count.yaml"}},
		{"explain-gate-off", 0, []string{"explain", "testdata/groups/gate-off.yaml"}},
		{"explain-crash", 0, []string{"explain", "../../../corpus/cases/finding-unknown-capacity-crashes-score.yaml"}},
		{"explain-error", 0, []string{"explain", "../../../corpus/cases/finding-invalid-score-fails-cycle.yaml"}},
		{"explain-postfilter-error", 0, []string{"explain", "../../../corpus/cases/finding-prefilter-rejection-is-error.yaml"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, out, errOut := preemptcheck(t, "", test.args...)
			require.Equal(t, test.status, status, "exit status; %s", errOut)
			if errOut != "" {
				out += "--- standard error\n" + errOut
			}
			compare(t, test.name, timed.ReplaceAllString(out, "$1 ($2)"))
		})
	}
}

// timed is a frame with the number of its line, which depends on whether the scheduler times its plugins: it draws one cycle of ten for
// that (schedule_one.go, pluginMetricsSamplePercent).
var timed = regexp.MustCompile(`(runScorePlugin) \((framework\.go):\d+\)`)

// emptyCache makes the user's cache an empty directory.
func emptyCache(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
}

func TestBadUse(t *testing.T) {
	emptyCache(t)
	for _, test := range []struct{ args, message string }{
		{"frobnicate", `error: unknown command "frobnicate"`},
		{"check", "error: which cluster? Give files, or - for standard input"},
		{"check --what x", "error: unknown flag: --what"},
		{"check -o xml x", "must be text, json, yaml, wide, name or html"},
		{"check --reference v1.2.3 x", `error: --reference: this binary cannot run "v1.2.3"`},
		{"references --build latest", `error: "latest" is no release: want v1.31.0, for example`},
		{"references --build v1.24.0", "error: the scheduler of v1.24.0 cannot be driven: v1."},
		{"check --reference v1.31.0 testdata/cases", `error: the scheduler of v1.31.0 is not built: run "preemptcheck references --build v1.31.0"`},
		{"check testdata/nowhere.yaml", "error: stat testdata/nowhere.yaml: no such file or directory"},
		{"check testdata/cases/dump.yaml --pod shop/gone", "error: --pod: no pod shop/gone waits"},
		{"explain testdata/cases/dump.yaml --pod shop/gone", "error: --pod: no pod shop/gone waits"},
		{"generate -n 2", "error: -n: more than one case needs --out"},
		{"findings --class sure", `error: --class: "sure" is none of crash, defect, inconsistency, debatable, unreachable`},
		{"check --class defect,bug testdata/cases", `error: --class: "bug" is none of crash, defect, inconsistency, debatable, unreachable`},
		{"findings nothing", `error: there is no known finding "nothing"`},
		{"fuzz --for soon", `invalid argument "soon" for "--for"`},
	} {
		t.Run(test.args, func(t *testing.T) {
			status, _, errOut := preemptcheck(t, "", strings.Fields(test.args)...)
			require.Equal(t, terminal.CouldNot, status)
			require.Contains(t, errOut, test.message)
		})
	}
}

// TestNegative: a number that cannot be is refused, and the flag named.
func TestNegative(t *testing.T) {
	for _, args := range []string{
		"fuzz --relations -1", "fuzz --filters -1", "fuzz --for -5s", "fuzz --stop-after -1", "stats --filters -1", "stats --relations -1",
		"stats --for -1s", "diff --from v1.31.0 --to v1.31.14 --for -1s", "minimize --for -1s -", "explain --nodes -3 -",
	} {
		status, out, errOut := preemptcheck(t, "", strings.Fields(args)...)
		require.Equal(t, terminal.CouldNot, status, args)
		require.Empty(t, out, args)
		_, flag, _ := strings.Cut(args, " --")
		for strings.Contains(flag, " --") { // the last is the one that is refused
			_, flag, _ = strings.Cut(flag, " --")
		}
		name, _, _ := strings.Cut(flag, " ")
		require.Contains(t, errOut, "error: --"+name+": must not be negative", args)
	}
}

// TestOnePodManyFiles: where cases are of pods of one name, --pod cannot choose.
func TestOnePodManyFiles(t *testing.T) {
	status, _, errOut := preemptcheck(t, "", "explain", "../../../corpus/cases")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "error: give one file: there are ")
	require.NotContains(t, errOut, "--pod")
}
