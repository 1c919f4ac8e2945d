package harness

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// inOwn makes the fake own the current directory, and a new directory the user's
// cache, but for what the go command keeps there.
func inOwn(t *testing.T, own string) {
	t.Helper()
	goCache, err := goCommand(t.Context(), "", "env", "GOCACHE")
	require.NoError(t, err)
	t.Setenv("GOCACHE", goCache)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(own)
}

func TestBuild(t *testing.T) {
	own, kubernetes := fake(t, "kubernetes@v1.37.1", true)
	inOwn(t, own)
	build := func() string {
		var log bytes.Buffer
		binary, err := Build(t.Context(), kubernetes, &log)
		require.NoError(t, err)
		require.Contains(t, log.String(), "building preemptcheck against kube-scheduler v1.37.1 from "+kubernetes+" (")
		require.Contains(t, log.String(), "built in ")
		return binary
	}
	says := func(binary string) string {
		out, _ := exec.Command(binary).Output()
		return string(out)
	}
	first := build()
	require.Contains(t, says(first), "fake scheduler fake api\nstamp detail=")
	require.Equal(t, first, build(), "nothing has changed")

	// A change makes another binary, and leaves the first to those who run it.
	scheduler := filepath.Join(kubernetes, "pkg/scheduler/scheduler.go")
	write(t, scheduler, "package scheduler\n\nconst Name = \"changed\"\n")
	second := build()
	require.Contains(t, says(second), "changed fake api\n")
	require.Contains(t, says(first), "fake scheduler fake api\n")

	write(t, scheduler, "package scheduler\n\nconst Named = \"x\"\n")
	_, err := Build(t.Context(), kubernetes, &bytes.Buffer{})
	require.ErrorContains(t, err, "building preemptcheck against "+kubernetes+" failed: this is not a finding\n")
	require.ErrorContains(t, err, "undefined: scheduler.Name")

	left, err := os.ReadDir(filepath.Dir(first))
	require.NoError(t, err)
	require.Len(t, left, 2, "the two binaries and nothing else")
}

func TestBuildsAtOnce(t *testing.T) {
	own, kubernetes := fake(t, "kubernetes@v1.37.1", true)
	inOwn(t, own)
	var wg sync.WaitGroup
	binaries := make([]string, 4)
	errs := make([]error, len(binaries))
	for i := range binaries {
		wg.Go(func() { binaries[i], errs[i] = Build(t.Context(), kubernetes, &bytes.Buffer{}) })
	}
	wg.Wait()
	for i := range binaries {
		require.NoError(t, errs[i])
		require.Equal(t, binaries[0], binaries[i])
	}
}

func TestBuildRefuses(t *testing.T) {
	own, kubernetes := fake(t, "kubernetes@v1.37.1", true)
	inOwn(t, own)
	_, err := Build(t.Context(), own, &bytes.Buffer{})
	require.ErrorContains(t, err, "is no source of Kubernetes")

	ctx, cancel := context.WithCancel(t.Context())
	_, err = Build(ctx, kubernetes, writerFunc(cancel))
	require.EqualError(t, err, "building preemptcheck against "+kubernetes+": context canceled")

	t.Setenv("PATH", t.TempDir())
	_, err = Build(t.Context(), kubernetes, &bytes.Buffer{})
	require.ErrorContains(t, err, "building against "+kubernetes+" takes the go command")
}

// writerFunc is called when something is written.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// TestOwnSource: outside of the module it is what the program was compiled from.
func TestOwnSource(t *testing.T) {
	here, err := filepath.Abs("../..")
	require.NoError(t, err)
	for _, dir := range []string{"testdata", t.TempDir(), "testdata/kubernetes"} {
		t.Run(dir, func(t *testing.T) {
			t.Chdir(dir)
			got, err := ownSource(t.Context())
			require.NoError(t, err)
			require.Equal(t, here, got)
		})
	}
	own, _ := fake(t, "kubernetes", false)
	t.Chdir(filepath.Join(own, "cmd"))
	got, err := ownSource(t.Context())
	require.NoError(t, err)
	require.Equal(t, own, got)
}

func TestIsRelease(t *testing.T) {
	for version, want := range map[string]bool{
		"v0.1.0": true, "v0.0.0-20260721132016-d427ff9ee9ad": true,
		"": false, "(devel)": false, "v0.1.1-0.20260721132016-d427ff9ee9ad+dirty": false,
	} {
		require.Equal(t, want, isRelease(version), version)
	}
}

func TestKept(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	for name, age := range map[string]time.Duration{"new": time.Hour, "newer": time.Minute, "old": 8 * 24 * time.Hour} {
		write(t, filepath.Join(dir, name), "")
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), time.Time{}, now.Add(-age)))
	}
	require.Equal(t, filepath.Join(dir, "newer"), kept(dir, now))
	require.NoFileExists(t, filepath.Join(dir, "old"))
	require.FileExists(t, filepath.Join(dir, "new"))
	require.Empty(t, kept(t.TempDir(), now))
}
