package harness

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake copies the fakes of testdata: this module, and a source of Kubernetes of
// that directory name, with its staging modules or without.
func fake(t *testing.T, name string, staging bool) (own, kubernetes string) {
	t.Helper()
	dir := t.TempDir()
	own, kubernetes = filepath.Join(dir, "own"), filepath.Join(dir, name)
	require.NoError(t, os.CopyFS(own, os.DirFS("testdata/own")))
	require.NoError(t, os.CopyFS(kubernetes, os.DirFS("testdata/kubernetes")))
	if staging {
		require.NoError(t, os.CopyFS(filepath.Join(kubernetes, "staging"), os.DirFS("testdata/staging")))
	}
	return own, kubernetes
}

func write(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "git %v: %s", args, out)
}

func TestVersion(t *testing.T) {
	const base = "staging/src/k8s.io/component-base/version/base.go"
	repository := func(tags ...string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			git(t, dir, "init", "-q")
			for _, tag := range tags {
				git(t, dir, "add", ".")
				git(t, dir, "commit", "-q", "--allow-empty", "-m", "x")
				git(t, dir, "tag", tag)
			}
		}
	}
	for _, test := range []struct {
		name, dir string
		change    func(t *testing.T, dir string)
		want, how string
	}{
		{"module cache", "kubernetes@v1.35.0", nil, "v1.35.0", "by the name of the directory"},
		{"copy", "v1.38.0-alpha.1", nil, "v1.38.0-alpha.1", "by the name of the directory"},
		{"other name", "my-v1.35.0", nil, "v1.36.2", "its changelog ends with v1.36.2: taken as v1.36.2"},
		{"changelog lags", "k", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, "CHANGELOG/CHANGELOG-1.37.md"), "- [v1.37.0](#v1370)\n")
		}, "v1.37.1", "its changelog ends with v1.37.0: taken as v1.37.1"},
		{"staging", "k", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, base), "\tDefaultKubeBinaryVersion = \"1.38\"\n")
		}, "v1.38.0", "component-base says 1.38: taken as v1.38.0"},
		{"staging of this release", "k", func(t *testing.T, dir string) {
			write(t, filepath.Join(dir, base), "\tDefaultKubeBinaryVersion = \"1.37\"\n")
		}, "v1.37.1", "component-base says 1.37: taken as v1.37.1"},
		{"nothing", "k", func(t *testing.T, dir string) {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "CHANGELOG")))
		}, "v1.37.1", "of a version that is not known: taken as v1.37.1"},
		{"tag", "kubernetes@v1.35.0", repository("v1.38.0-alpha.1"), "v1.38.0-alpha.1", "git describe v1.38.0-alpha.1"},
		{"changed after tag", "k", func(t *testing.T, dir string) {
			repository("v1.38.0-rc.0")(t, dir)
			write(t, filepath.Join(dir, "go.sum"), "")
		}, "v1.38.0-rc.0", "git describe v1.38.0-rc.0-dirty"},
		{"repository without releases", "k", repository("other"), "v1.36.2", "its changelog ends with v1.36.2: taken as v1.36.2"},
		{"repository around it", "k", func(t *testing.T, dir string) {
			repository("v1.20.0")(t, filepath.Dir(dir))
		}, "v1.36.2", "its changelog ends with v1.36.2: taken as v1.36.2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, dir := fake(t, test.dir, false)
			if test.change != nil {
				test.change(t, dir)
			}
			got, how := version(t.Context(), dir, "v1.37.1")
			require.Equal(t, test.want, got)
			require.Equal(t, test.how, how)
		})
	}
}

// TestModFile: what a build against a source replaces.
func TestModFile(t *testing.T) {
	for _, test := range []struct {
		name    string
		staging bool
		change  func(t *testing.T, dir string)
		api     string
		detail  string
	}{
		{"working tree", true, nil, "DIR/staging/src/k8s.io/api", "by the name of the directory; with its staging modules"},
		{"copy of the module", false, nil, "k8s.io/api@v0.36.2", "by the name of the directory; with the staging modules v0.36.2"},
		{"incomplete tree", true, func(t *testing.T, dir string) {
			_, err := goCommand(t.Context(), dir, "mod", "edit", "-replace", "k8s.io/gone=./staging/src/k8s.io/gone", filepath.Join(dir, "go.mod"))
			require.NoError(t, err)
		}, "DIR/staging/src/k8s.io/api",
			"by the name of the directory; with its staging modules, 1 of 2 of them missing and taken as v0.36.2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			own, dir := fake(t, "kubernetes@v1.36.2", test.staging)
			if test.change != nil {
				test.change(t, dir)
			}
			t.Chdir(own)
			s, err := Open(t.Context(), dir)
			require.NoError(t, err)
			require.Equal(t, test.detail, s.Detail)
			file := filepath.Join(t.TempDir(), "go.mod")
			require.NoError(t, os.WriteFile(file, []byte(strings.Repeat("an older and longer file\n", 1000)), 0o600))
			require.NoError(t, s.WriteModFile(t.Context(), file))

			out, err := goCommand(t.Context(), own, "mod", "edit", "-json", file)
			require.NoError(t, err)
			var mod goMod
			require.NoError(t, json.Unmarshal([]byte(out), &mod))
			require.Equal(t, ours, mod.Module.Path)
			got := map[string]string{}
			for _, r := range mod.Replace {
				got[at(r.Old.Path, r.Old.Version)] = at(r.New.Path, r.New.Version)
			}
			want := map[string]string{
				kubernetes:                  dir,
				"k8s.io/api":                test.api,
				"example.com/pinned@v1.2.3": "example.com/fork@v1.2.4",
			}
			if test.api[0] == 'D' {
				want["k8s.io/api"] = dir + test.api[len("DIR"):]
			}
			if test.change != nil {
				want["k8s.io/gone"] = "k8s.io/gone@v0.36.2"
			}
			require.Equal(t, want, got)
			sum, err := os.ReadFile(filepath.Join(filepath.Dir(file), "go.sum"))
			require.NoError(t, err)
			require.Contains(t, string(sum), "example.com/fork v1.2.4/go.mod")
		})
	}
}

func TestNoSource(t *testing.T) {
	own, kubernetes := fake(t, "kubernetes", true)
	require.NoError(t, os.RemoveAll(filepath.Join(kubernetes, "pkg")))
	broken := t.TempDir()
	write(t, filepath.Join(broken, "go.mod"), "nonsense")
	for dir, message := range map[string]string{
		"nowhere":  "nowhere is no source of Kubernetes: there is no go.mod in it",
		own:        own + " is no source of Kubernetes: its go.mod is of the module github.com/preemptcheck/preemptcheck",
		kubernetes: kubernetes + " is no complete source of Kubernetes: ",
		broken:     "unknown directive: nonsense",
	} {
		_, err := Open(t.Context(), dir)
		require.ErrorContains(t, err, message)
	}
}

func TestStamp(t *testing.T) {
	s := Source{Dir: `/a dir/with=every&thing'"%`, Version: "v1.38.0-alpha.1", Detail: "git describe v1.38.0-alpha.1-2-g0-dirty; ü"}
	require.NotRegexp(t, `[\s'"]`, s.stamp())
	require.Equal(t, s, readStamp(s.stamp()))
	require.Zero(t, BuiltFrom(), "a test is built without --kubernetes")
}
