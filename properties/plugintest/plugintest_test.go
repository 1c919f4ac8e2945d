package plugintest_test

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

	"github.com/preemptcheck/preemptcheck/corpus"
	_ "github.com/preemptcheck/preemptcheck/internal/testsize" // for its seed
	"github.com/preemptcheck/preemptcheck/properties/plugintest"
)

// asAuthor says to this binary that it is the test of an author's plugin, and what the plugin does.
const asAuthor = "PLUGINTEST_AUTHOR"

// TestAuthor is the test of an author.
func TestAuthor(t *testing.T) {
	p := plugintest.Plugin{Name: "Quiet", New: newQuiet}
	var options []plugintest.Option
	switch os.Getenv(asAuthor) {
	case "silent":
		p.New = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return silent{}, nil }
	case "lying":
		p.New = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return &quiet{fwk.UnschedulableAndUnresolvable}, nil
		}
		options = append(options, plugintest.Prepare(quieten))
	default:
		options = append(options, plugintest.Prepare(quieten))
	}
	plugintest.Test(t, p, options...)
}

// author runs TestAuthor in a directory, and is what it printed.
func author(t *testing.T, dir, plugin string) (string, error) {
	binary, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(binary, "-test.run=^TestAuthor$", "-test.v", "-rapid.checks=60", "-rapid.seed=7", "-rapid.nofailfile")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), asAuthor+"="+plugin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestFinds: a plugin that breaks its contract fails, its smallest cluster is saved, and fails again, until the plugin is mended.
func TestFinds(t *testing.T) {
	dir := t.TempDir()
	out, err := author(t, dir, "lying")
	require.Error(t, err)
	require.Contains(t, out, "UnschedulableAndUnresolvable (the node is quiet). Without")
	files, err := filepath.Glob(filepath.Join(dir, plugintest.Dir, "*.yaml"))
	require.NoError(t, err)
	require.Len(t, files, 1, out)
	s, err := corpus.Load(files[0])
	require.NoError(t, err)
	c := s.Cases[0].Cluster
	require.Len(t, c.Nodes, 1)
	require.Len(t, c.Pods, 1)
	require.Equal(t, "contract-unresolvable", s.Cases[0].Finding.Property)

	out, err = author(t, dir, "lying")
	require.Error(t, err)
	require.Contains(t, out, "--- FAIL: TestAuthor/contract-unresolvable")
	require.Contains(t, out, files[0][len(dir)+1:]+": finding")

	out, err = author(t, dir, "honest")
	require.NoError(t, err, out)
	require.Contains(t, out, "--- PASS: TestAuthor/contract-unresolvable")
}

// silent skips every pod.
type silent struct{}

func (silent) Name() string { return "Quiet" }

func (silent) PreFilter(context.Context, fwk.CycleState, *v1.Pod, []fwk.NodeInfo) (*fwk.PreFilterResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Skip)
}

func (silent) PreFilterExtensions() fwk.PreFilterExtensions { return nil }

// TestNothingToSay: a test in which the plugin was never asked about a node fails, as it shows nothing.
func TestNothingToSay(t *testing.T) {
	out, err := author(t, t.TempDir(), "silent")
	require.Error(t, err)
	require.Contains(t, out, "Quiet had nothing to say about any node of any cluster: nothing was checked")
}
