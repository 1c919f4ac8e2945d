package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

// mortal ends its process over a cluster with two pods or more.
type mortal struct{ reference.System }

func newMortal() reference.System { return mortal{inprocess.New()} }

func (m mortal) Observe(ctx context.Context, c *model.Cluster) (*model.Observation, error) {
	if len(c.Pods) > 1 {
		fmt.Fprint(os.Stderr, "fatal error: concurrent map writes\n\ngoroutine 1 [running]:\n"+
			"k8s.io/kubernetes/pkg/scheduler/plugin.(*Plugin).Filter(0xc000)\n\t/go/plugin.go:12 +0x1\n")
		os.Exit(2)
	}
	return m.System.Observe(ctx, c)
}

// silent never answers.
type silent struct{ reference.System }

func newSilent() reference.System { return silent{inprocess.New()} }

func (silent) Observe(context.Context, *model.Cluster) (*model.Observation, error) { select {} }

const deadly = "../../corpus/cases/finding-unlabelled-pod.yaml"

// asUser runs a command line as a process, with standard input.
func asUser(t *testing.T, in string, args ...string) (status int, out, errOut string) {
	var stdout, stderr strings.Builder
	cmd := asProcess(args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(in), &stdout, &stderr
	_ = cmd.Run()
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// A scheduler that ends its process is a finding of all commands, and takes none of
// them with it.
func TestProcessDies(t *testing.T) {
	const told = "exit in plugin.(*Plugin).Filter (plugin.go:12): fatal error: concurrent map writes"
	text, err := os.ReadFile(deadly)
	require.NoError(t, err)
	for _, command := range [][]string{{"check"}, {"explain"}} {
		for _, file := range []string{deadly, "-"} {
			status, out, errOut := asUser(t, string(text), append(command, "--reference", "mortal", file)...)
			require.Equal(t, statusFound, status, errOut)
			require.Contains(t, out, told)
			require.Empty(t, errOut)
		}
	}

	status, out, errOut := asUser(t, "", "minimize", "--reference", "mortal", "--workers", "1", "--classes", "0", deadly)
	require.Equal(t, statusAgrees, status, errOut)
	require.Contains(t, out, `kind: "exit in plugin.(*Plugin).Filter (plugin.go:`)
	require.Contains(t, errOut, "to   1 node, 2 pods")

	dir := filepath.Join(t.TempDir(), "campaign")
	status, _, errOut = asUser(t, "", "fuzz", "--reference", "mortal", "--seed", "1", "--cases", "20", "--workers", "1", "--filters", "0", "--relations", "0", "--out", dir)
	require.Equal(t, statusFound, status, errOut)
	s, err := campaign.Load(dir)
	require.NoError(t, err)
	require.Len(t, s.Findings, 1)
	require.Equal(t, properties.GetsThrough().Name, s.Findings[0].Identity.Property)
	require.True(t, s.Findings[0].Minimised.Minimal)
	require.Greater(t, s.Findings[0].Count, 5)
}

// An interrupt ends a command soon, whatever the scheduler does.
func TestInterruptedByUser(t *testing.T) {
	for _, args := range [][]string{
		{"check", deadly}, {"explain", deadly}, {"minimize", deadly},
		{"fuzz", "--seed", "1", "--out", filepath.Join(t.TempDir(), "campaign")},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			cmd := asProcess(append(args, "--reference", "silent")...)
			require.NoError(t, cmd.Start())
			time.Sleep(2 * time.Second)
			start := time.Now()
			require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
			_ = cmd.Wait()
			require.Less(t, time.Since(start), tolerance+3*time.Second)
			require.Equal(t, statusCouldNot, cmd.ProcessState.ExitCode())
		})
	}
}
