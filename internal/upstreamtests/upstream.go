package upstreamtests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
)

const kubernetes = "k8s.io/kubernetes"

// upstream is the source of the linked Kubernetes, as a module that may be
// built with files added.
type upstream struct {
	// dir is the copy, modFile a go.mod that is this module's but for using it.
	dir, modFile string
}

// prepare copies Kubernetes out of the module cache, into which no file may be
// added. All other modules stay those of this one, so most of what has been
// built for it is used again. The copy, some 120 MB, is kept.
func prepare(ctx context.Context) (*upstream, error) {
	out, err := goCommand(ctx, "list", "-m", "-f", "{{.Version}}\n{{.Dir}}", kubernetes)
	if err != nil {
		return nil, err
	}
	version, source, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	cache = filepath.Join(cache, "preemptcheck", "upstream")
	u := &upstream{dir: filepath.Join(cache, version), modFile: filepath.Join(cache, version+".mod")}
	if _, err := os.Stat(u.dir); os.IsNotExist(err) {
		// A copy under its name is complete: it gets the name at the end.
		if err := os.MkdirAll(cache, 0o755); err != nil {
			return nil, err
		}
		temp, err := os.MkdirTemp(cache, "copy-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(temp)
		if err := os.CopyFS(filepath.Join(temp, version), os.DirFS(source)); err != nil {
			return nil, err
		}
		if err := os.Rename(filepath.Join(temp, version), u.dir); err != nil {
			return nil, err
		}
	}

	goMod, err := goCommand(ctx, "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	ours := strings.TrimSpace(string(goMod))
	for from, to := range map[string]string{
		ours: u.modFile,
		strings.TrimSuffix(ours, ".mod") + ".sum": strings.TrimSuffix(u.modFile, ".mod") + ".sum",
	} {
		content, err := os.ReadFile(from)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, content, 0o644); err != nil {
			return nil, err
		}
	}
	_, err = goCommand(ctx, "mod", "edit", "-replace", kubernetes+"="+u.dir, u.modFile)
	return u, err
}

// event is a line of go test -json.
type event struct {
	Action, Test, Output string
}

// run adds the tests to the packages to which they belong, runs only them, and
// returns what happened. That tests fail is no error.
func (u *upstream) run(ctx context.Context, tests []Test) ([]event, error) {
	temp, err := os.MkdirTemp("", "upstreamtests-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	packages := map[string]bool{}
	var names []string
	for _, t := range tests {
		source, err := t.Source()
		if err != nil {
			return nil, err
		}
		file := filepath.Join(temp, t.Finding+"_test.go")
		if err := os.WriteFile(file, source, 0o644); err != nil {
			return nil, err
		}
		dir := path.Dir(t.File)
		overlay.Replace[filepath.Join(u.dir, filepath.FromSlash(dir), "preemptcheck-"+t.Finding+"_test.go")] = file
		packages[path.Join(kubernetes, dir)] = true
		names = append(names, t.Name)
	}
	content, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	overlayFile := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(overlayFile, content, 0o644); err != nil {
		return nil, err
	}

	args := []string{"test", "-json", "-p", "2", "-modfile", u.modFile, "-mod", "mod", "-overlay", overlayFile,
		"-run", "^(" + strings.Join(names, "|") + ")$"}
	for p := range packages {
		args = append(args, p)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var events []event
	for line := range bytes.Lines(out) {
		var e event
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("go test: %w\n%s", err, stderr.Bytes())
	}
	return events, nil
}

func goCommand(ctx context.Context, args ...string) ([]byte, error) {
	out, err := exec.CommandContext(ctx, "go", args...).Output()
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr)
	}
	return out, nil
}
