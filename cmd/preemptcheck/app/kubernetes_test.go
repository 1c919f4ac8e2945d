package app

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// fakes copies the fakes of internal/harness, a program in place of this one and
// a source of Kubernetes, and returns the command line as a process in the
// directory of the program.
func fakes(t *testing.T) (kubernetes string, process func(args ...string) *exec.Cmd) {
	t.Helper()
	const testdata = "../../../internal/harness/testdata/"
	dir := t.TempDir()
	own, kubernetes := filepath.Join(dir, "own"), filepath.Join(dir, "my kubernetes")
	require.NoError(t, os.CopyFS(own, os.DirFS(testdata+"own")))
	require.NoError(t, os.CopyFS(kubernetes, os.DirFS(testdata+"kubernetes")))
	require.NoError(t, os.CopyFS(filepath.Join(kubernetes, "staging"), os.DirFS(testdata+"staging")))
	goCache, err := exec.Command("go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	t.Setenv("GOCACHE", strings.TrimSpace(string(goCache)))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	return kubernetes, func(args ...string) *exec.Cmd {
		cmd := apptest.Process(args...)
		cmd.Dir = own
		return cmd
	}
}

// TestKubernetes: the program that was built against another source gets the rest
// of the command line, the standard streams, and the last word on the exit status.
func TestKubernetes(t *testing.T) {
	kubernetes, process := fakes(t)
	cmd := process("check", "--kubernetes", "../my kubernetes", "-f", "x.yaml", "--pod=a b")
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("a dump"), &out, &errOut
	var failed *exec.ExitError
	require.ErrorAs(t, cmd.Run(), &failed)
	require.Equal(t, 7, failed.ExitCode())
	require.Equal(t, fmt.Sprintf(`fake scheduler fake api
stamp detail=its+changelog+ends+with+v1.36.2%%3A+taken+as+v1.36.2%%3B+with+its+staging+modules&dir=%s&version=v1.36.2
pid %d
args ["check" "-f" "x.yaml" "--pod=a b"]
stdin "a dump"
`, strings.NewReplacer("/", "%2F", " ", "+").Replace(kubernetes), cmd.Process.Pid), out.String())
	require.Regexp(t, `^building preemptcheck against kube-scheduler v1\.36\.2 from .*
this takes minutes the first time
built in [\d.]+ s
on standard error
$`, errOut.String())
}

// TestKubernetesDoesNotBuild: a build failure is no finding, and bad use is told
// of before anything is built.
func TestKubernetesDoesNotBuild(t *testing.T) {
	kubernetes, process := fakes(t)
	require.NoError(t, os.WriteFile(filepath.Join(kubernetes, "pkg/scheduler/broken.go"), []byte("package scheduler\n\nvar x int = Name\n"), 0o644))
	for _, test := range []struct {
		args    []string
		message string
		builds  bool
	}{
		{[]string{"references", "--kubernetes=" + kubernetes},
			"error: building preemptcheck against " + kubernetes + " failed: this is not a finding\n  # k8s.io/kubernetes/pkg/scheduler\n", true},
		{[]string{"references", "--kubernetes", "nowhere"}, "error: nowhere is no source of Kubernetes: there is no go.mod in it\n", false},
		{[]string{"references", "--kubernetes="}, "error: --kubernetes: which directory?\n", false},
		{[]string{"references", "--kubernetes", kubernetes, "--what"}, "error: unknown flag: --what\n", false},
		{[]string{"--kubernetes", kubernetes, "frobnicate"}, "error: unknown command", false},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			cmd := process(test.args...)
			var out, errOut bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errOut
			var failed *exec.ExitError
			require.ErrorAs(t, cmd.Run(), &failed)
			require.Equal(t, terminal.CouldNot, failed.ExitCode())
			require.Empty(t, out.String())
			require.Contains(t, errOut.String(), test.message)
			require.Equal(t, test.builds, strings.Contains(errOut.String(), "building preemptcheck against kube-scheduler"), errOut.String())
		})
	}
}

func TestWithoutKubernetes(t *testing.T) {
	for line, want := range map[string]string{
		"--kubernetes DIR":                    "",
		"--kubernetes=DIR --version":          "--version",
		"fuzz --for 1m --kubernetes DIR -o x": "fuzz --for 1m -o x",
		"check --kubernetes= x":               "check x",
		"check x --kubernetes":                "check x",
		"check -- --kubernetes DIR":           "check -- --kubernetes DIR",
		"check --kubernetesx y":               "check --kubernetesx y",
	} {
		require.Equal(t, strings.Fields(want), append([]string{}, withoutKubernetes(strings.Fields(line))...), line)
	}
}
