package campaigns_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
)

// withPlugin in the environment has the program be one to which somebody has added the plugin Absolute.
const withPlugin = "PREEMPTCHECK_TEST_WITH_PLUGIN"

// absolute says of nodes with pods that nothing helps, which is not true.
type absolute struct{}

func (absolute) Name() string { return "Absolute" }

func (absolute) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	if len(node.GetPods()) > 0 {
		return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, "the node is taken")
	}
	return nil
}

func newAbsolute(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
	return absolute{}, nil
}

// TestWithPlugin: a program to which a plugin was added finds what it breaks, saves that as a case, which it reproduces, and
// says what is not modelled.
func TestWithPlugin(t *testing.T) {
	binary, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	program := func(args ...string) (string, int) {
		cmd := exec.Command(binary, args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), withPlugin+"=1")
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, status := program("plugins", "Absolute", "--cases", "256", "--seed", "3", "--workers", "1", "--stop-after", "1", "--out", "c")
	require.Equal(t, 1, status, out)
	require.Contains(t, out, "FOUND")
	require.Contains(t, out, "Absolute says of node-1: UnschedulableAndUnresolvable (the node is taken). Without default/a, which the pod may preempt, it passes")
	files, err := filepath.Glob(filepath.Join(dir, "c", "contract-unresolvable*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files, out)

	out, status = program("check", files[0])
	require.Equal(t, 1, status, out)
	require.Contains(t, out, "Absolute is no plugin of kube-scheduler")

	out, status = program("plugins", "Nothing")
	require.Equal(t, 2, status, out)
	require.Contains(t, out, `has no plugin "Nothing": it has Absolute, `)
}
