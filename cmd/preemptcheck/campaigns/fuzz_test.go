package campaigns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/app"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/probe"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
)

func TestFuzzFindsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "campaign")
	status, out, errOut := preemptcheck(t, "", "fuzz", "--seed", "5", "--cases", "200", "--out", dir)
	require.Equal(t, terminal.CouldNot, status, "so few clusters tell nothing")
	require.Contains(t, out, "INCONCLUSIVE")
	require.Contains(t, errOut, "seed 5, in "+dir)
	s, err := record.Load(dir)
	require.NoError(t, err)
	require.Equal(t, 200, s.Stats.Clusters)
	require.Equal(t, 1, s.Canary.Caught)

	status, _, errOut = preemptcheck(t, "", "fuzz", "--seed", "5", "--out", dir)
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "holds a campaign already")
	status, _, errOut = preemptcheck(t, "", "fuzz", "--resume")
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "Give its directory as --out")
	status, _, errOut = preemptcheck(t, "", "fuzz", "--resume", "--out", t.TempDir())
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "there is no campaign in it")
}

// What fuzz finds is small, and check finds it again.
func TestFuzzSavesWhatCheckReproduces(t *testing.T) {
	dir := t.TempDir()
	status, out, errOut := preemptcheck(t, "", "fuzz", "--reference", "careless", "--seed", "2", "--for", "0", "--timelines", "0", "--stop-after", "2", "--out", dir)
	require.Equal(t, terminal.Found, status, errOut)
	s, err := record.Load(dir)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(s.Findings), 2, "it stops at the end of the block that has the second one")
	require.Contains(t, out, fmt.Sprintf("FOUND %d", len(s.Findings)))
	stream, err := corpus.Load(dir)
	require.NoError(t, err)
	require.Len(t, stream.Cases, len(s.Findings))
	for _, c := range stream.Cases {
		require.Len(t, c.Cluster.Nodes, 1)
		status, out, _ = preemptcheck(t, "", "check", "--reference", "careless", c.File)
		require.Equal(t, terminal.Found, status)
		require.Contains(t, out, c.Finding.Stage)
		status, out, _ = preemptcheck(t, "", "check", c.File)
		require.Equal(t, terminal.Agrees, status)
		require.Contains(t, out, "no longer reproduces")

		// The command that the case names finds it on the cluster as generated.
		command := strings.Fields(strings.Split(c.Finding.Found, " | ")[0])[1:]
		_, generated, _ := preemptcheck(t, "", command...)
		status, _, _ = preemptcheck(t, generated, "check", "--reference", "careless", "-")
		require.Equal(t, terminal.Found, status)
	}
}

// uncounted counts no victim in its metrics.
type uncounted struct{ *inprocess.System }

func (u uncounted) ObserveUnder(ctx context.Context, c *model.Cluster, under reference.Circumstances) (*model.Observation, error) {
	o, err := u.System.ObserveUnder(ctx, c, under)
	if err == nil && under.Metrics && o.Aftermath != nil {
		o.Aftermath.Metrics.Victims = 0
	}
	return o, err
}

// What shows only when a cycle is run again, under other circumstances, is minimised
// like all else.
func TestFuzzMinimisesWhatShowsUnderCircumstances(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "campaign")
	status, out, errOut := preemptcheck(t, "", "fuzz", "--reference", "uncounted", "--seed", "1", "--cases", "64", "--out", dir)
	require.Equal(t, terminal.Found, status, out+errOut)
	s, err := record.Load(dir)
	require.NoError(t, err)
	require.Len(t, s.Findings, 1)
	f := s.Findings[0]
	require.Equal(t, "metrics-count", f.Identity.Property)
	require.True(t, f.Minimised.Minimal)
	require.Equal(t, minimize.Size{Nodes: 1, Pods: 1}, f.Minimised.To)
}

func TestFuzzStopsWhenInterrupted(t *testing.T) {
	dir := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	done := make(chan int)
	go func() {
		done <- app.Run(ctx, []string{"fuzz", "--for", "0", "--out", dir}, nil, &bytes.Buffer{}, &bytes.Buffer{})
	}()
	require.Eventually(t, func() bool {
		s, err := record.Load(dir)
		return err == nil && s.Stats.Clusters > 0
	}, time.Minute, 10*time.Millisecond)
	interrupt()
	<-done
	s, err := record.Load(dir)
	require.NoError(t, err)
	require.Positive(t, s.Stats.Clusters)
}

// TestKilledCampaign kills a campaign at random moments. When it is resumed, the
// result is that of a campaign that was left alone: nothing is lost, nothing is
// there twice, and no file is half written.
func TestKilledCampaign(t *testing.T) {
	kills := 2
	if more, err := strconv.Atoi(os.Getenv("PREEMPTCHECK_KILLS")); err == nil {
		kills = more
	}
	cases := uint64(64 + 64*kills) // so that it is under way at the last of them
	fuzz := func(dir string, more ...string) *exec.Cmd {
		return apptest.Process(append([]string{"fuzz", "--reference", "careless", "--seed", "11", "--cases", fmt.Sprint(cases), "--relations", "0", "--timelines", "50", "--out", dir}, more...)...)
	}
	alone := filepath.Join(t.TempDir(), "alone")
	start := time.Now()
	out, err := fuzz(alone).CombinedOutput()
	require.Equal(t, terminal.Found, exitStatus(err), string(out))
	took := time.Since(start)

	killed := filepath.Join(t.TempDir(), "killed")
	underWay := 0
	for kill := range kills {
		cmd := fuzz(killed)
		if _, err := record.Load(killed); err == nil {
			cmd = fuzz(killed, "--resume")
		}
		require.NoError(t, cmd.Start())
		if kill%2 == 0 { // however busy the machine is, some hit a campaign under way
			require.Eventually(t, func() bool { _, err := record.Load(killed); return err == nil }, time.Minute, time.Millisecond)
		} else {
			time.Sleep(rand.N(3 * took / time.Duration(2*kills)))
		}
		before, _ := record.Load(killed)
		cmd.Process.Kill() // an error if it has come to its end
		require.Error(t, cmd.Wait())
		if before != nil && before.Next < cases && cmd.ProcessState.ExitCode() == -1 {
			underWay++
		}
		if _, err := os.Stat(killed); err == nil {
			_, err = corpus.Load(killed)
			if err != nil {
				require.ErrorContains(t, err, "there is no .yaml", "no file is half written")
			}
		}
	}
	t.Logf("%d of %d kills hit a campaign under way", underWay, kills)
	require.Positive(t, underWay)
	cmd := fuzz(killed, "--resume")
	if _, err := record.Load(killed); err != nil {
		cmd = fuzz(killed)
	}
	out, err = cmd.CombinedOutput()
	require.Equal(t, terminal.Found, exitStatus(err), string(out))
	require.Empty(t, cmp.Diff(result(t, alone), result(t, killed)))
}

func exitStatus(err error) int {
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode()
	}
	return 0
}

// result is all that is in a campaign's directory, but for times and chance.
func result(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		if strings.HasPrefix(e.Name(), ".") {
			continue // of a process that was killed: ignored
		}
		files[e.Name()] = string(content)
	}
	s, err := record.Load(dir)
	require.NoError(t, err)
	s.Sessions, s.Samples, s.Deaths = nil, nil, 0
	// The rest of the counts depends on which of equally good nodes was picked.
	s.Stats = probe.Stats{Clusters: s.Stats.Clusters, Preempted: s.Stats.Preempted, DecidedBy: s.Stats.DecidedBy, Findings: s.Stats.Findings}
	for _, f := range append(s.Findings, s.Canary.Findings...) {
		f.FoundAfter, f.Minimised.Seconds = 0, 0
	}
	text, err := json.MarshalIndent(s, "", " ")
	require.NoError(t, err)
	files["campaign.state"] = string(text)
	return files
}

func TestMergeShards(t *testing.T) {
	dir := t.TempDir()
	shard := func(i string) string { return filepath.Join(dir, "shard-"+i) }
	for _, i := range []string{"1", "2"} {
		status, _, errOut := preemptcheck(t, "", "fuzz", "--seed", "3", "--cases", "100", "--shard", i+"/2", "--out", shard(i))
		require.Equal(t, terminal.CouldNot, status, errOut) // inconclusive
	}
	merged := filepath.Join(dir, "merged")
	status, out, errOut := preemptcheck(t, "", "merge", shard("1"), shard("2"), "--out", merged)
	require.Equal(t, terminal.CouldNot, status, errOut)
	require.Contains(t, out, "200 clusters")
	status, again, _ := preemptcheck(t, "", "report", merged)
	require.Equal(t, terminal.CouldNot, status)
	require.Equal(t, out, again)
	status, _, errOut = preemptcheck(t, "", "merge", shard("1"), shard("1"), "--out", filepath.Join(dir, "twice"))
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "checked some of the same clusters")
}

// TestTimelinesOfOthers: a campaign that was to have timelines does not begin with a scheduler that runs none.
func TestTimelinesOfOthers(t *testing.T) {
	apptest.AsModelled(t, nil, "v1.31.0")
	status, _, errOut := preemptcheck(t, "", "fuzz", "--reference", "v1.31.0", "--cases", "5", "--timelines", "5", "--out", t.TempDir())
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "error: --timelines: v1.31.0 cannot be run through timelines")
}
