// Package harness builds this program against another source of Kubernetes: a
// working tree, or a copy of the module k8s.io/kubernetes.
//
// The go.mod that it writes for that is this module's but for its replaces: of
// k8s.io/kubernetes by the source, and of the staging modules by those in the
// source, or if it has none, by the released ones.
package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
)

const (
	ours       = "github.com/preemptcheck/preemptcheck"
	kubernetes = "k8s.io/kubernetes"
)

// goCommand runs the go command in dir, and returns what it prints.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	return output(ctx, dir, "go", args...)
}

// output runs a command in dir, and returns what it prints. The error holds what
// the command wrote on standard error.
func output(ctx context.Context, dir, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off") // a workspace has replaces of its own
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		err = fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, bytes.TrimSpace(exit.Stderr))
	}
	return strings.TrimSpace(string(out)), err
}

// ownSource finds the source of this program: the module of the current
// directory, the files it was compiled from, or the version that it is of.
func ownSource(ctx context.Context) (dir string, err error) {
	if here, err := goCommand(ctx, "", "env", "GOMOD"); err == nil && isOurs(ctx, filepath.Dir(here)) {
		return filepath.Dir(here), nil
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) { // not with -trimpath
		if dir := filepath.Join(filepath.Dir(file), "..", ".."); isOurs(ctx, dir) {
			return dir, nil
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != ours || !isRelease(info.Main.Version) {
		return "", errors.New("the source of this program is not known: run it in the directory that holds it")
	}
	out, err := goCommand(ctx, os.TempDir(), "mod", "download", "-json", ours+"@"+info.Main.Version)
	if err != nil {
		return "", err
	}
	var module struct{ Dir string }
	return module.Dir, json.Unmarshal([]byte(out), &module)
}

// OwnSource is the directory of this program's source, as Source.Own.
func OwnSource(ctx context.Context) (string, error) { return ownSource(ctx) }

// isOurs: dir holds this module.
func isOurs(ctx context.Context, dir string) bool {
	mod, err := readGoMod(ctx, dir)
	return err == nil && mod.Module.Path == ours
}

// isRelease: the module proxy can have that version, which it does not have of
// changed files.
func isRelease(version string) bool {
	return strings.HasPrefix(version, "v") && !strings.HasSuffix(version, "+dirty")
}
