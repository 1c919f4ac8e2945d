//go:build realcluster

// Package realtest holds what is said of clusters, and of campaigns on many machines, against real ones.
package realtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
	"github.com/preemptcheck/preemptcheck/internal/realcluster"
)

// seed says which pods and faults are drawn: the variable PREEMPTCHECK_SEED, or 1.
var seed uint64 = 1

// reader has the role that "preemptcheck rbac" prints.
const reader = "reader"

var (
	cluster *realcluster.Cluster
	own     release // this program
	kubectl string  // a program
	temp    string  // a directory for all tests
)

// forgotten are the known findings that forgets does not know.
var forgotten = []string{"empty-selector", "unlabelled-pod"}

// release is this program, built as it is released: for this machine, and as an image that each node has.
type release struct{ program, image, tag string }

func TestMain(m *testing.M) {
	status, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		status = 2
	}
	os.Exit(status)
}

// run runs the tests in one cluster, and removes it whatever happens.
func run(m *testing.M) (status int, err error) {
	if text := os.Getenv("PREEMPTCHECK_SEED"); text != "" {
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return 0, fmt.Errorf("PREEMPTCHECK_SEED: %w", err)
		}
	}
	if err := realcluster.Check(); err != nil {
		return 0, err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	programs, err := realcluster.Build(ctx, os.Stderr)
	if err != nil {
		return 0, err
	}
	kubectl = programs.Kubectl
	if err := os.MkdirAll(realcluster.Scratch, 0o700); err != nil {
		return 0, err
	}
	if temp, err = os.MkdirTemp(realcluster.Scratch, ""); err != nil {
		return 0, err
	}
	defer os.RemoveAll(temp)
	if own, err = build(ctx, temp, "v0.0.0-own", ""); err != nil {
		return 0, err
	}
	cluster, err = realcluster.Start(ctx, programs, realcluster.Options{Nodes: 2, Images: []string{own.image}, Users: []controlplane.User{{Name: reader}}, Log: os.Stderr})
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { // interrupted
		_ = cluster.Stop()
		_ = os.RemoveAll(temp)
		os.Exit(130)
	})()
	status = m.Run()
	return status, cluster.Stop()
}

// build builds the program as it is released, into dir. The files that overlay names replace others.
func build(ctx context.Context, dir, version, overlay string) (r release, err error) {
	dir = filepath.Join(dir, version)
	platform := "linux/amd64"
	if out, err := exec.CommandContext(ctx, "go", "env", "GOARCH").Output(); err == nil {
		platform = "linux/" + string(bytes.TrimSpace(out))
	}
	cmd := exec.CommandContext(ctx, "go", "run", "./internal/dist", "-out", dir, "-version", version, "-platforms", platform, "-overlay", overlay)
	cmd.Dir, cmd.Stdout, cmd.Stderr = "../../..", os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("building what is released: %w", err)
	}
	r = release{program: filepath.Join(dir, "preemptcheck"), image: filepath.Join(dir, "preemptcheck_"+version+"_image.tar"), tag: realcluster.BaseName + ":" + version}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if err != nil || len(archives) != 1 {
		return r, fmt.Errorf("%s holds %d archives: %w", dir, len(archives), err)
	}
	out, err := exec.CommandContext(ctx, "tar", "xzf", archives[0], "-C", dir, "--strip-components=0", "preemptcheck").CombinedOutput()
	if err != nil {
		return r, fmt.Errorf("%s: %w: %s", archives[0], err, out)
	}
	return r, nil
}

// forget writes an overlay of the source in which the ledger lacks what is forgotten.
func forget(dir string) (overlay string, err error) {
	file, err := filepath.Abs("../../../properties/ledger/ledger.go")
	if err != nil {
		return "", err
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	const all = "slices.DeleteFunc(All(), func(e Entry) bool { return "
	if strings.Count(string(source), all) != 1 {
		return "", fmt.Errorf("%s has changed: where the entries of a release are chosen, is not found", file)
	}
	changed := filepath.Join(dir, "ledger.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(source), all, fmt.Sprintf("%sslices.Contains(%#v, e.ID) || ", all, forgotten), 1)), 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, data, 0o600)
}

// run runs the program that the image holds, on this machine.
func (r release) run(t *testing.T, args ...string) (status int, out, errOut string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), r.program, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	for name, value := range cluster.Storage.Environment() {
		cmd.Env = append(cmd.Environ(), name+"="+value)
	}
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}
