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

	"github.com/preemptcheck/preemptcheck/internal/harness"
)

const kubernetes = "k8s.io/kubernetes"

// event is a line of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// goTest runs tests of the packages, with these added to those to which they belong
// and the change made, and returns what happened. That tests fail is no error.
func goTest(ctx context.Context, upstream *harness.Source, tests []Test, c *change, packages []string, args ...string) ([]event, error) {
	temp, err := os.MkdirTemp("", "upstreamtests-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	modFile := filepath.Join(temp, "go.mod") // this module's, but for using the copy
	if err := upstream.WriteModFile(ctx, modFile); err != nil {
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
		file := filepath.Join(temp, t.SourceName()+"_test.go")
		if err := os.WriteFile(file, source, 0o644); err != nil {
			return nil, err
		}
		dir := filepath.FromSlash(path.Dir(t.File))
		overlay.Replace[filepath.Join(upstream.Dir, dir, "preemptcheck-"+t.SourceName()+"_test.go")] = file
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
