package realcluster

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
)

// Programs are those that a cluster is made of, and is used by.
type Programs struct {
	// Kubernetes holds etcd, and all programs of Kubernetes.
	Kubernetes string
	// Storage is the program that serves object storage.
	Storage string
	// Kubectl is kubectl of that release.
	Kubectl string
}

// Build builds the programs, unless the user's cache has them already. The first time it takes some
// ten minutes of CPU. It needs the source of this package.
func Build(ctx context.Context, log io.Writer) (p Programs, err error) {
	if p.Kubernetes, err = controlplane.Build(ctx, log, "kube-controller-manager", "kube-scheduler", "kubelet"); err != nil {
		return p, err
	}
	if p.Storage, err = build(ctx, log, "storage"); err != nil {
		return p, err
	}
	p.Kubectl, err = build(ctx, log, "kubectl")
	return p, err
}

// build builds the module of that name below this directory, and returns its program.
func build(ctx context.Context, log io.Writer, name string) (program string, err error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return "", errors.New("where the source of this package is, is not known")
	}
	module := controlplane.Module{Dir: filepath.Join(filepath.Dir(file), "_"+name), Flags: []string{"-ldflags", "-s -w"}}
	dir, err := module.Build(ctx, log, map[string]string{name: "."})
	return filepath.Join(dir, name), err
}
