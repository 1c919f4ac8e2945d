package upstreamtests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/harness"
)

const kubernetes = "k8s.io/kubernetes"

// upstream is the source of the linked Kubernetes, as a module that may be
// built with files added.
type upstream struct{ *harness.Source }

// prepare copies Kubernetes out of the module cache. All other modules stay those
// of this one, so most of what has been built for it is used again.
func prepare(ctx context.Context) (*upstream, error) {
	source, _, err := harness.Copy(ctx, "upstream")
	return &upstream{source}, err
}

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// run adds the tests to the packages to which they belong, runs only them, and
// returns what happened. That tests fail is no error.
func (u *upstream) run(ctx context.Context, tests []Test) ([]event, error) {
	packages := map[string]bool{}
	var names []string
	for _, t := range tests {
		packages[t.Package()] = true
		names = append(names, t.Name)
	}
	return u.goTest(ctx, tests, &change{}, slices.Sorted(maps.Keys(packages)), "-run", "^("+strings.Join(names, "|")+")$")
}

// goTest runs tests of the packages, with these added and the change made.
func (u *upstream) goTest(ctx context.Context, tests []Test, c *change, packages []string, args ...string) ([]event, error) {
	temp, err := os.MkdirTemp("", "upstreamtests-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	modFile := filepath.Join(temp, "go.mod") // this module's, but for using the copy
	if err := u.WriteModFile(ctx, modFile); err != nil {
		return nil, err
	}
	for _, module := range c.modules {
		if out, err := exec.CommandContext(ctx, "go", "mod", "edit", "-replace", module, modFile).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go mod edit: %w\n%s", err, out)
		}
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	maps.Copy(overlay.Replace, c.files)
	for _, t := range tests {
		source, err := t.Source()
		if err != nil {
			return nil, err
		}
		file := filepath.Join(temp, t.Finding+"_test.go")
		if err := os.WriteFile(file, source, 0o644); err != nil {
			return nil, err
		}
		dir := filepath.FromSlash(path.Dir(t.File))
		overlay.Replace[filepath.Join(u.Dir, dir, "preemptcheck-"+t.Finding+"_test.go")] = file
	}
	content, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	overlayFile := filepath.Join(temp, "overlay.json")
	if err := os.WriteFile(overlayFile, content, 0o644); err != nil {
		return nil, err
	}

	args = slices.Concat([]string{"test", "-json", "-p", "2", "-modfile", modFile, "-mod", "mod", "-overlay", overlayFile}, args, packages)
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
