package releases

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStage(t *testing.T) {
	dir, kubernetes := t.TempDir(), t.TempDir()
	inCache(t)
	t.Setenv(fakeModules, kubernetes)
	write := func(file, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	write(filepath.Join(dir, "go.mod"), "module m\n\nreplace vbom.ml/util => ./stub\n")
	staged, err := stage(t.Context(), "v1.19.16", dir)
	require.NoError(t, err)
	require.False(t, staged)
	require.NoDirExists(t, filepath.Join(dir, "staging"))

	write(filepath.Join(dir, "go.mod"), "module m\n\nreplace k8s.io/api => ./staging/k8s.io/api\n")
	api := filepath.Join(kubernetes, "staging", "src", "k8s.io", "api")
	write(filepath.Join(api, "core", "v1", "types.go"), "package v1")
	write(filepath.Join(api, "core", "v1", "types_test.go"), "package v1")
	write(filepath.Join(api, "core", "v1", "BUILD"), "go_library()")
	staged, err = stage(t.Context(), "v1.13.0", dir)
	require.NoError(t, err)
	require.True(t, staged)
	copied, err := os.ReadFile(filepath.Join(dir, "staging", "k8s.io", "api", "core", "v1", "types.go"))
	require.NoError(t, err)
	require.Equal(t, "package v1", string(copied))
	mod, err := os.ReadFile(filepath.Join(dir, "staging", "k8s.io", "api", "go.mod"))
	require.NoError(t, err)
	require.Equal(t, "module k8s.io/api\n", string(mod))
	left, err := os.ReadDir(filepath.Join(dir, "staging", "k8s.io", "api", "core", "v1"))
	require.NoError(t, err)
	require.Len(t, left, 1)

	t.Setenv(fakeModules, t.TempDir())
	_, err = stage(t.Context(), "v1.13.0", dir)
	require.ErrorIs(t, err, os.ErrNotExist)
}
