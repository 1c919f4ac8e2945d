// Package built keeps what is built once for all in the user's cache: the drivers of other releases, and those of
// plugins that are not Kubernetes' own.
package built

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// Dir is the directory of the cache of that name, and tells whether it is there: then it is whole.
func Dir(name string) (dir string, exists bool, err error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", false, err
	}
	dir = filepath.Join(cache, "preemptcheck", "releases", name)
	_, err = os.Stat(dir)
	return dir, err == nil, nil
}

// Make makes that directory, if it is not there. It has build fill another one, which gets the name when it is whole:
// another build may be under way, and this one may be killed. It says on log what is built, and how long it took.
func Make(ctx context.Context, name, what string, log io.Writer, build func(ctx context.Context, temp string) error) error {
	dir, exists, err := Dir(name)
	if err != nil || exists {
		return err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("building %s takes the go command: %w", what, err)
	}
	fmt.Fprintf(log, "building %s, which takes minutes the first time\n", what)
	start := time.Now()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	removeOld(filepath.Dir(dir), start)
	temp, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := build(ctx, temp); err != nil {
		return fmt.Errorf("building %s: %w", what, err)
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, exists, _ := Dir(name); !exists {
			return err
		}
	}
	fmt.Fprintf(log, "built %s in %.0f s\n", what, time.Since(start).Seconds())
	return nil
}

// Go runs the go command in a directory, and returns what it prints. The error has what it says.
func Go(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it has files to remove
	cmd.WaitDelay = 10 * time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		said := downloading.ReplaceAll(said.Bytes(), nil)
		return nil, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(append(out.Bytes(), said...)))
	}
	return out.Bytes(), nil
}

// downloading is what the go command says although nothing is wrong.
var downloading = regexp.MustCompile(`(?m)^go: downloading .*\n?`)

// WriteFile writes a file of a module, and the directories that it is in.
func WriteFile(dir, name string, content []byte) error {
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// keepFor is how long something is kept after it was built, if another has taken
// its place.
const keepFor = 30 * 24 * time.Hour

// removeOld removes what is old, and what builds that died have left.
func removeOld(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > keepFor {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
