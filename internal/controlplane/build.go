// Package controlplane runs a real etcd and a real kube-apiserver on loopback, for tests of what
// reads a live cluster. There are no kubelets and no controllers: objects are as they were written.
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
	"time"

	"github.com/gofrs/flock"
)

// Version is the release of the API server.
const Version = "v1.37.1"

// programs are the packages that are built, and the names that the go command gives their binaries.
var programs = map[string]string{"server": "go.etcd.io/etcd/server/v3", "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver"}

// Build builds the programs, unless the user's cache has them already, and returns the directory
// they are in. The first time it takes some five minutes of CPU. It needs the source of this package.
func Build(ctx context.Context, log io.Writer) (dir string, err error) {
	_, file, _, ok := runtime.Caller(0)
	module := filepath.Join(filepath.Dir(file), "_build")
	if !ok {
		return "", errors.New("where the source of this package is, is not known")
	}
	hash := sha256.New()
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if err != nil {
			return "", err
		}
		hash.Write(data)
	}
	fmt.Fprintln(hash, Version, runtime.Version())
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(cache, "preemptcheck", "controlplane", fmt.Sprintf("%x", hash.Sum(nil))[:16])
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	lock := flock.New(dir + ".lock") // of two that build, one waits
	if _, err := lock.TryLockContext(ctx, time.Second); err != nil {
		return "", err
	}
	defer lock.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), "build-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	start := time.Now()
	fmt.Fprintf(log, "building etcd and kube-apiserver %s, which takes minutes the first time\n", Version)
	args := []string{"build", "-trimpath", "-ldflags", "-s -w -X k8s.io/component-base/version.gitVersion=" + Version, "-o", temp + string(filepath.Separator)}
	for _, path := range programs {
		args = append(args, path)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env, cmd.Stderr = module, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off"), log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("building etcd and kube-apiserver: %w", err)
	}
	fmt.Fprintf(log, "built in %s\n", time.Since(start).Round(time.Second))
	return dir, os.Rename(temp, dir)
}
