package releases

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/model/release"
)

func TestAll(t *testing.T) {
	all := All()
	require.Contains(t, all, "v1.25.16")
	require.Contains(t, all, "v1.37.0")
	require.Contains(t, all, "v1.37.1")
	require.True(t, slices.IsSortedFunc(all, func(a, b string) int {
		return mustParse(a).Compare(mustParse(b))
	}), "the oldest first: %v", all)
	for _, version := range all {
		require.True(t, Known(version))
		mod, err := fs.ReadFile(sources, modFile(version))
		require.NoError(t, err)
		require.Contains(t, string(mod), "k8s.io/kubernetes "+version+"\n", version)
		sum, err := fs.ReadFile(sources, strings.TrimSuffix(modFile(version), ".mod")+".sum")
		require.NoError(t, err)
		require.Contains(t, string(sum), "k8s.io/kubernetes "+version+" h1:", version)
	}
	require.False(t, Known("v1.24.0"))
}

// As with Go's own tags, there is one for each release up to the one that is built.
func TestTags(t *testing.T) {
	dir, tags := driverOf(release.Release{Minor: 16, Patch: 15})
	require.Equal(t, "generic", dir)
	require.Equal(t, []string{"k1.13", "k1.14", "k1.15", "k1.16"}, tags)
	dir, tags = driverOf(release.Release{Minor: 27, Patch: 16})
	require.Equal(t, "evaluator", dir)
	require.Len(t, tags, 15)
}

// inCache makes the user's cache a directory of the test, and the go command the
// fake.
func inCache(t *testing.T) (cache, note string) {
	if runtime.GOOS == "windows" {
		t.Fatal("a fake go command takes symbolic links")
	}
	cache = t.TempDir()
	t.Setenv("HOME", cache)
	t.Setenv("XDG_CACHE_HOME", cache)
	bin := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "go")))
	t.Setenv("PATH", bin)
	note = filepath.Join(t.TempDir(), "note")
	t.Setenv(fakeGo, note)
	return cache, note
}

func TestBuild(t *testing.T) {
	_, note := inCache(t)
	_, err := New("v1.31.0")
	require.EqualError(t, err, `the scheduler of v1.31.0 is not built: run "preemptcheck references --build v1.31.0"`)
	_, ok := Built("v1.31.0")
	require.False(t, ok)

	var log bytes.Buffer
	binary, err := Build(t.Context(), "v1.31.0", &log)
	require.NoError(t, err)
	require.FileExists(t, binary)
	require.Contains(t, log.String(), "building the kube-scheduler of v1.31.0")
	how, err := os.ReadFile(note)
	require.NoError(t, err)
	require.Contains(t, string(how), "build -mod=readonly -tags=k1.13,k1.14,k1.15,k1.16,k1.17,k1.18,k1.19,k1.20,k1.21,k1.22,k1.23,k1.24,k1.25,k1.26,k1.27,k1.28,k1.29,k1.30,k1.31 -ldflags=-s -w -X main.release=v1.31.0 -o ")
	for _, file := range []string{"go.mod", "go.sum", "main.go", "reference/releases/wire/wire.go", "reference/releases/wire/gated.go", "model/settings.go", "reference/releases/standin/client.go", "reference/releases/standin/extender.go", "model/observation/observation.go"} {
		require.Contains(t, strings.Split(string(how), "\n"), filepath.FromSlash(file))
	}
	left, err := os.ReadDir(filepath.Dir(binary))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing but the driver is kept")

	// It is built once, and the release that is next to it is another.
	require.NoError(t, os.Remove(note))
	again, err := Build(t.Context(), "v1.31.0", &log)
	require.NoError(t, err)
	require.Equal(t, binary, again)
	require.NoFileExists(t, note)
	found, ok := Built("v1.31.0")
	require.True(t, ok)
	require.Equal(t, binary, found)
	s, err := New("v1.31.0")
	require.NoError(t, err)
	require.Equal(t, "v1.31.0", s.Name())
	other, err := Build(t.Context(), "v1.31.14", &log)
	require.NoError(t, err)
	require.NotEqual(t, binary, other)
}

func TestBuildFails(t *testing.T) {
	cache, _ := inCache(t)
	var log bytes.Buffer
	_, err := Build(t.Context(), "v1.27.16", &log) // which the fake does not like
	require.ErrorContains(t, err, "building the kube-scheduler of v1.27.16: exit status 1\n./main.go:1:1: syntax error")
	left, err := os.ReadDir(filepath.Join(cache, "preemptcheck", "releases"))
	require.NoError(t, err)
	require.Empty(t, left)

	_, err = Build(t.Context(), "v1.24.0", &log)
	require.ErrorContains(t, err, "the scheduler of v1.24.0 cannot be driven: v1.")
	_, err = Build(t.Context(), "latest", &log)
	require.ErrorContains(t, err, `"latest" is no release`)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Build(ctx, "v1.31.0", &log)
	require.ErrorIs(t, err, context.Canceled)
	t.Setenv("PATH", "")
	_, err = Build(t.Context(), "v1.31.0", &log)
	require.ErrorContains(t, err, "takes the go command")
}
