package controlplane

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Version is the release of the API server.
const Version = "v1.37.1"

// etcd is the name that the go command gives the program of etcd.
const etcd = "server"

// packages are those of the programs of Version, by the names that the go command gives them.
var packages = map[string]string{
	etcd:                      "go.etcd.io/etcd/server/v3",
	"kube-apiserver":          "k8s.io/kubernetes/cmd/kube-apiserver",
	"kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
	"kube-scheduler":          "k8s.io/kubernetes/cmd/kube-scheduler",
	"kubelet":                 "k8s.io/kubernetes/cmd/kubelet",
}

// Build builds etcd, kube-apiserver, and the other programs of Kubernetes that are named, unless the
// user's cache has them already, and returns the directory they are in. The first time, etcd and
// kube-apiserver take some five minutes of CPU. It needs the source of this package.
func Build(ctx context.Context, log io.Writer, more ...string) (dir string, err error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("where the source of this package is, is not known")
	}
	wanted := map[string]string{}
	for _, name := range append([]string{etcd, "kube-apiserver"}, more...) {
		if packages[name] == "" {
			return "", fmt.Errorf("%s is no program that can be built", name)
		}
		wanted[name] = packages[name]
	}
	module := Module{Dir: filepath.Join(filepath.Dir(file), "_build"), Flags: []string{"-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + Version}}
	return module.Build(ctx, log, wanted)
}

// Module is a Go module that pins programs of others.
type Module struct {
	// Dir holds its go.mod.
	Dir string
	// Flags are those of "go build", besides -trimpath.
	Flags []string
}

// Build builds the packages of programs, unless the user's cache has them already, without cgo. The
// keys are the names that the go command gives the binaries. It returns the directory they are in.
func (m Module) Build(ctx context.Context, log io.Writer, programs map[string]string) (dir string, err error) {
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(m.Dir, name))
		if err != nil {
			return "", err
		}
		hash.Write(data)
	}
	fmt.Fprintln(hash, m.Flags, runtime.Version())
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "preemptcheck", "controlplane", fmt.Sprintf("%x", hash.Sum(nil))[:16])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock") // of two that build, one waits
	if _, err := lock.TryLockContext(ctx, time.Second); err != nil {
		return "", err
	}
	defer lock.Unlock()
	var names []string
	for name := range programs {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return dir, nil
	}
	slices.Sort(names)
	temp, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	start := time.Now()
	args := append([]string{"build", "-trimpath"}, m.Flags...)
	args = append(args, "-o", temp+string(filepath.Separator))
	for _, name := range names {
		args = append(args, programs[name])
	}
	what := strings.ReplaceAll(", "+strings.Join(names, ", "), ", "+etcd, ", etcd")[2:]
	fmt.Fprintf(log, "building %s, which takes minutes the first time\n", what)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = m.Dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"), log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building %s: %w", what, err)
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(temp, name), filepath.Join(dir, name)); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(log, "built in %s\n", time.Since(start).Round(time.Second))
	return dir, nil
}
