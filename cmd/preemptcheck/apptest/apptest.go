// Package apptest runs preemptcheck in tests: in the process of the test, and as processes that a test may kill.
package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/preemptcheck/preemptcheck/internal/checktest"
	"github.com/preemptcheck/preemptcheck/internal/modelsystem"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/life"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

// asProgram in the environment makes the test binary the program: its workers, and those processes that a test kills.
const asProgram = "PREEMPTCHECK_TEST_AS_PROGRAM"

// Main runs the tests of a package, with the scheduler "careless" among the references. In a process that a test started, it runs the
// program instead.
func Main(m *testing.M, program func()) {
	systems.Register("careless", func() reference.System {
		return carelessLife{checktest.Liar{System: inprocess.New(), Tell: checktest.Careless}}
	})
	if os.Getenv(asProgram) != "" {
		program()
	}
	os.Setenv(asProgram, "1")
	// No test reads the cluster of whoever runs it.
	os.Setenv("KUBECONFIG", os.DevNull)
	os.Unsetenv("KUBERNETES_SERVICE_HOST")
	os.Exit(m.Run())
}

// carelessLife is careless in timelines as well: it takes over, and breaks.
type carelessLife struct{ checktest.Liar }

func (carelessLife) Live(ctx context.Context, t *timeline.Timeline) (*timeline.Trace, error) {
	trace, err := life.Run(ctx, t)
	if err == nil && slices.ContainsFunc(t.Steps, func(s timeline.Step) bool { return s.Takeover }) {
		trace.Crash = &model.Crash{Kind: model.Panic, Message: "nobody took over", Where: "takeover"}
	}
	return trace, err
}

// Process is a command line as a process.
func Process(args ...string) *exec.Cmd { return exec.Command(os.Args[0], args...) }

// A Command runs a command line with a text as its standard input. It returns the exit status, and what was written.
type Command func(t *testing.T, stdin string, args ...string) (status int, out, errOut string)

// InProcess has run execute command lines.
func InProcess(run func(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int) Command {
	return func(t *testing.T, stdin string, args ...string) (int, string, string) {
		t.Helper()
		var o, e bytes.Buffer
		status := run(t.Context(), args, strings.NewReader(stdin), &o, &e)
		return status, o.String(), e.String()
	}
}

// AsModelled has releases run as their models have them.
func AsModelled(t *testing.T, change func(*modelsystem.System), names ...string) {
	for _, name := range names {
		version, err := release.Parse(name)
		require.NoError(t, err)
		t.Cleanup(systems.Register(name, func() reference.System {
			s := modelsystem.New(version)
			if change != nil {
				change(s)
			}
			return s
		}))
	}
}

// DataOfPage is the JSON that a page holds. A page without it, or with several, fails the test.
func DataOfPage(t *testing.T, page string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	require.NoError(t, err)
	var all []string
	for n := range root.Descendants() {
		if n.Data == "script" && len(n.Attr) > 0 {
			all = append(all, n.FirstChild.Data)
		}
	}
	require.Len(t, all, 1)
	require.True(t, json.Valid([]byte(all[0])))
	return all[0]
}
