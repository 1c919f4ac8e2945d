package harness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Build builds this program against the source of Kubernetes in dir, and returns
// the path of the binary. What it does, it writes to log. Flags are further ones of
// "go build".
//
// The binary is kept in the user's cache, so that the next build is quicker, under
// a name made of what it holds: a running one is never replaced by another.
func Build(ctx context.Context, dir string, log io.Writer, flags ...string) (binary string, err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return "", fmt.Errorf("building against %s takes the go command: %w", dir, err)
	}
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("building preemptcheck against %s: %w", dir, context.Cause(ctx))
		}
	}()
	source, err := Open(ctx, dir)
	if err != nil {
		return "", err
	}
	cache, err := cacheDir("builds", fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(append([]string{source.own, source.Dir}, flags...), "\n"))))[:12])
	if err != nil {
		return "", err
	}
	last := kept(cache, time.Now())
	fmt.Fprintf(log, "building preemptcheck against kube-scheduler %s\n", source)
	if last == "" {
		fmt.Fprintln(log, "this takes minutes the first time")
	}
	start := time.Now()

	// Another build may be under way: what this one writes is its own until the
	// binary gets its name.
	temp, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	modFile := filepath.Join(temp, "go.mod")
	if err := source.WriteModFile(ctx, modFile); err != nil {
		return "", err
	}
	built := filepath.Join(temp, "preemptcheck")
	if last != "" {
		if content, err := os.ReadFile(last); err == nil { // if nothing changed, the go command leaves it
			_ = os.WriteFile(built, content, 0o755)
		}
	}
	args := []string{"build", "-modfile=" + modFile, "-mod=mod", "-ldflags=-s -w -X " + ours + "/internal/harness.stamp=" + source.stamp(), "-o", built}
	cmd := exec.CommandContext(ctx, "go", append(append(args, flags...), "./cmd/preemptcheck")...)
	cmd.Dir = source.own
	cmd.Env = append(os.Environ(), "GOWORK=off")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it has files to remove
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("building preemptcheck against %s failed: this is not a finding\n%s", source.Dir, bytes.TrimSpace(out))
	}
	if err != nil {
		return "", err
	}
	content, err := os.ReadFile(built)
	if err != nil {
		return "", err
	}
	binary = filepath.Join(cache, fmt.Sprintf("preemptcheck-%x", sha256.Sum256(content))[:len("preemptcheck-")+12])
	if err := os.Rename(built, binary); err != nil {
		return "", err
	}
	fmt.Fprintf(log, "built in %.1f s\n", time.Since(start).Seconds())
	return binary, os.Chtimes(binary, time.Time{}, time.Now())
}

// cacheDir is a directory in the user's cache.
func cacheDir(elem ...string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(slices.Concat([]string{cache, "preemptcheck"}, elem)...)
	return dir, os.MkdirAll(dir, 0o755)
}

// keepFor is how long a binary is kept after it was last asked for. A campaign
// starts its workers from it.
const keepFor = 7 * 24 * time.Hour

// kept removes what is old from a directory of builds, and returns the newest
// binary, or an empty string.
func kept(cache string, now time.Time) (newest string) {
	entries, _ := os.ReadDir(cache)
	var at time.Time
	for _, e := range entries {
		info, err := e.Info()
		path := filepath.Join(cache, e.Name())
		switch {
		case err != nil: // another build has removed it
		case now.Sub(info.ModTime()) > keepFor:
			os.RemoveAll(path)
		case info.Mode().IsRegular() && info.ModTime().After(at):
			newest, at = path, info.ModTime()
		}
	}
	return newest
}
