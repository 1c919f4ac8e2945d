package campaigns_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/apptest"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// jobIndex is the variable in which the pods of an Indexed Job find their index.
const jobIndex = "JOB_COMPLETION_INDEX"

// comparable is what is the same of two campaigns over the same clusters.
func comparable(t *testing.T, dir string) string {
	s, err := record.Load(dir)
	require.NoError(t, err)
	text, err := json.MarshalIndent(s.Certain(), "", " ")
	require.NoError(t, err)
	return string(text)
}

// Two machines share a campaign, one of them is killed at once, and another time one of its index comes again: what comes out is what one
// machine finds.
func TestFleetFindsWhatOneMachineFinds(t *testing.T) {
	temp := t.TempDir()
	alone, shared, merged := filepath.Join(temp, "alone"), "file://"+filepath.Join(temp, "shared"), "file://"+filepath.Join(temp, "merged")
	campaign := []string{"--reference", "careless", "--seed", "2", "--cases", "1300", "--timelines", "2", "--workers", "1"}
	status, _, errOut := preemptcheck(t, "", append([]string{"fuzz", "--out", alone}, campaign...)...)
	require.Equal(t, terminal.Found, status, errOut)

	fleet := append([]string{"fuzz", "--out", shared, "--block", "1024"}, campaign...)
	killed := apptest.Process(fleet...)
	killed.Env = append(os.Environ(), jobIndex+"=0")
	require.NoError(t, killed.Start())
	require.Eventually(t, func() bool { // it has said which block it works on
		workers, _ := filepath.Glob(filepath.Join(temp, "shared", "workers", "*.json"))
		if len(workers) == 0 {
			return false
		}
		said, _ := os.ReadFile(workers[0])
		return strings.Contains(string(said), `"working":{"block":0,`)
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, killed.Process.Kill())
	_ = killed.Wait()
	_, out, _ := preemptcheck(t, "", "report", shared)
	require.Contains(t, out, "seed 2, 0 of 1300 clusters")
	require.Contains(t, out, "1 worker at work")

	status, _, errOut = preemptcheck(t, "", "merge", shared, "--out", merged)
	require.Equal(t, terminal.CouldNot, status, "it may live")
	require.Contains(t, errOut, "1 worker at work")

	var all []*exec.Cmd
	for _, index := range []string{"0", "1"} {
		cmd := apptest.Process(fleet...)
		cmd.Env = append(os.Environ(), jobIndex+"="+index)
		cmd.Stderr = os.Stderr
		require.NoError(t, cmd.Start())
		all = append(all, cmd)
	}
	for _, cmd := range all {
		require.NoError(t, cmd.Wait(), "a finding is no failure")
	}
	status, _, errOut = preemptcheck(t, "", "fuzz", "--out", shared)
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "holds another campaign", "its scheduler is another one")
	status, out, errOut = preemptcheck(t, "", "fuzz", "--out", shared, "--reference", "careless")
	require.Equal(t, terminal.Agrees, status, errOut)
	require.Contains(t, errOut, "seed 2, in ", "it takes over what no flag says otherwise")
	require.Contains(t, out, "0 clusters in 0 blocks")
	// The killed one would be silent by and by.
	lost, err := filepath.Glob(filepath.Join(temp, "shared", "workers", "*"))
	require.NoError(t, err)
	require.Len(t, lost, 1)
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(lost[0], long, long))
	_, out, _ = preemptcheck(t, "", "report", shared)
	require.Contains(t, out, "seed 2, 1300 of 1300 clusters")
	require.Regexp(t, `1 silent, 3 ended; [1-9] blocks? taken over`, out)
	require.Contains(t, out, "Not explained by known findings, not minimised yet:")

	repository := filepath.Join(temp, "cases.git")
	for _, args := range [][]string{{"init", "--bare", "-b", "main", repository}, {"clone", repository, filepath.Join(temp, "work")},
		{"-C", filepath.Join(temp, "work"), "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--allow-empty", "-m", "Begin"},
		{"-C", filepath.Join(temp, "work"), "push", "origin", "HEAD:main"}} {
		text, err := exec.Command("git", args...).CombinedOutput()
		require.NoError(t, err, string(text))
	}
	status, _, errOut = preemptcheck(t, "", "merge", shared, "--out", merged, "--wait", "2", "--push", repository, "--push-dir", "cases")
	require.Equal(t, terminal.Found, status, errOut)
	local := filepath.Join(temp, "merged")
	require.Empty(t, cmp.Diff(comparable(t, alone), comparable(t, local)))
	for _, file := range []string{"report.txt", "report.html", "junit.xml"} {
		require.FileExists(t, filepath.Join(local, file))
	}
	text, err := exec.Command("git", "-C", repository, "log", "--stat", "-1", "preemptcheck/seed-2").CombinedOutput()
	require.NoError(t, err, string(text))
	require.Contains(t, string(text), "that preemptcheck found")
	s, err := record.Load(local)
	require.NoError(t, err)
	for _, f := range s.Findings {
		require.Equal(t, !f.GoesToContact(), strings.Contains(string(text), " "+f.File+":"), "%s\n%s", f.File, text)
	}

	// What is merged may be asked for again, and replayed.
	status, _, errOut = preemptcheck(t, "", "merge", shared, "--out", merged, "--exit-zero")
	require.Equal(t, terminal.Agrees, status, errOut)
	status, out, errOut = preemptcheck(t, "", "report", merged)
	require.Equal(t, terminal.Found, status, errOut)
	require.Contains(t, out, merged+"/"+s.Findings[0].File)
	written, err := os.ReadFile(filepath.Join(local, "report.txt"))
	require.NoError(t, err)
	require.Contains(t, string(written), "preemptcheck check --reference careless "+merged+"/"+s.Findings[0].File)
	for _, path := range []string{merged, merged + "/" + s.Findings[0].File} {
		status, out, errOut = preemptcheck(t, "", "check", "--reference", "careless", path)
		require.Equal(t, terminal.Found, status, errOut)
		require.Contains(t, out, s.Findings[0].Identity.Stage)
	}
	status, _, errOut = preemptcheck(t, "", "merge", alone, "--out", merged)
	require.Equal(t, terminal.CouldNot, status)
	require.Contains(t, errOut, "is there already")
}

// What makes no sense with a bucket is told.
func TestBadBuckets(t *testing.T) {
	bucket := "file://" + t.TempDir()
	for _, test := range []struct {
		want string
		args []string
	}{
		{"--shard: leave it out with a bucket", []string{"fuzz", "--out", bucket, "--shard", "1/2"}},
		{"--stop-after: leave it out with a bucket", []string{"fuzz", "--out", bucket, "--stop-after", "1"}},
		{"it takes a multiple of 1024", []string{"fuzz", "--out", bucket, "--block", "1000"}},
		{`--out: ftp://x: there are no buckets of "ftp"`, []string{"fuzz", "--out", "ftp://x"}},
		{"only fuzz shares a campaign by a bucket", []string{"plugins", "--out", bucket}},
		{"there is no campaign in it", []string{"report", bucket}},
		{"there is no campaign in it", []string{"merge", bucket, "--out", t.TempDir() + "/x"}},
		{"there are no cases in it", []string{"check", bucket}},
		{`the environment has JOB_COMPLETION_INDEX="": it takes 0 to 3`, []string{"fuzz", "--shards", "4", "--out", t.TempDir()}},
		{"is no bucket: pods on many machines share no directory", []string{"job", "--image", "x", "--out", "dir"}},
		{"--shards: 0: it takes 1 to 100000", []string{"job", "--image", "x", "--out", bucket, "--shards", "0"}},
		{"--for: how long? A Job has to end", []string{"job", "--image", "x", "--out", bucket, "--for", "0"}},
		{"--memory: ", []string{"job", "--image", "x", "--out", bucket, "--memory", "much"}},
		{"--name: ", []string{"job", "--image", "x", "--out", bucket, "--name", "A b"}},
	} {
		status, _, errOut := preemptcheck(t, "", test.args...)
		require.Equal(t, terminal.CouldNot, status, test.args)
		require.Contains(t, errOut, test.want)
	}
}

// A pod of an Indexed Job with a directory takes the part of its index.
func TestShardOfIndex(t *testing.T) {
	t.Setenv(jobIndex, "3")
	dir := filepath.Join(t.TempDir(), "campaign")
	_, _, errOut := preemptcheck(t, "", "fuzz", "--shards", "4", "--seed", "1", "--cases", "64", "--timelines", "0", "--out", dir)
	s, err := record.Load(dir)
	require.NoError(t, err, errOut)
	require.Equal(t, record.Shard{Index: 4, Of: 4}, s.Config.Shard)
}

// Metrics are served on loopback while a worker works.
func TestMetrics(t *testing.T) {
	cmd := apptest.Process("fuzz", "--seed", "1", "--for", "10m", "--timelines", "0", "--workers", "1", "--block", "1024", "--out", "file://"+t.TempDir(), "--metrics", "0")
	errs, err := cmd.StderrPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		var exit *exec.ExitError
		require.ErrorAs(t, cmd.Wait(), &exit)
		require.Equal(t, 75, exit.ExitCode())
	}()
	said := make([]byte, 4096)
	var text string
	for !strings.Contains(text, "/metrics\n") {
		n, err := errs.Read(said)
		require.NoError(t, err, text)
		text += string(said[:n])
	}
	_, address, _ := strings.Cut(text, "metrics at ")
	address, _, _ = strings.Cut(address, "\n")
	require.True(t, strings.HasPrefix(address, "http://127.0.0.1:"), address)
	go io.Copy(io.Discard, errs) //nolint:errcheck // it ends with the process
	require.Eventually(t, func() bool {
		answer, err := http.Get(address)
		require.NoError(t, err)
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		_, checked, _ := strings.Cut(string(body), "\npreemptcheck_clusters_checked_total ")
		checked, _, _ = strings.Cut(checked, "\n")
		n, err := strconv.Atoi(checked)
		return err == nil && n > 0 && n%1024 == 0 // whole blocks
	}, 5*time.Minute, 100*time.Millisecond)
}
