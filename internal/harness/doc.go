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
	"errors"
	"fmt"
	"os"
	"os/exec"
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
