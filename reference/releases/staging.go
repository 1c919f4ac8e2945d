package releases

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// Before 1.15 the parts of Kubernetes that are modules of their own had no go.mod,
// and the versions that a release goes with are not served. They are in the
// release's own source, below staging/src: go.mod replaces such a module by a copy
// in ./staging.
var stagedModule = regexp.MustCompile(`(?m)^replace (\S+) => \./staging/`)

// stage copies those modules into the driver's module in dir, and tells whether
// there are any.
func stage(ctx context.Context, release, dir string) (staged bool, err error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return false, err
	}
	modules := stagedModule.FindAllSubmatch(mod, -1)
	if modules == nil {
		return false, nil
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+release)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	if err != nil {
		return false, fmt.Errorf("downloading Kubernetes %s: %w\n%s", release, err, out)
	}
	var kubernetes struct{ Dir string }
	if err := json.Unmarshal(out, &kubernetes); err != nil {
		return false, fmt.Errorf("downloading Kubernetes %s: %w", release, err)
	}
	for _, m := range modules {
		path := string(m[1])
		to := filepath.Join(dir, "staging", filepath.FromSlash(path))
		if err := copySource(filepath.Join(kubernetes.Dir, "staging", "src", filepath.FromSlash(path)), to); err != nil {
			return false, err
		}
		if err := os.WriteFile(filepath.Join(to, "go.mod"), []byte("module "+path+"\n"), 0o644); err != nil {
			return false, err
		}
	}
	return true, nil
}

// copySource copies the Go files of a module that are no tests.
func copySource(from, to string) error {
	return filepath.WalkDir(from, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		copied := filepath.Join(to, rel)
		if err := os.MkdirAll(filepath.Dir(copied), 0o755); err != nil {
			return err
		}
		return os.WriteFile(copied, content, 0o644)
	})
}
