package realcluster

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"runtime"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
)

// Programs are the directories of the programs that a cluster is made of.
type Programs struct {
	// Kubernetes holds etcd, and all programs of Kubernetes.
	Kubernetes string
	// Storage is the program that serves object storage.
	Storage string
}

// Build builds the programs, unless the user's cache has them already. The first time it takes some
// ten minutes of CPU. It needs the source of this package.
func Build(ctx context.Context, log io.Writer) (p Programs, err error) {
	if p.Kubernetes, err = controlplane.Build(ctx, log, "kube-controller-manager", "kube-scheduler", "kubelet"); err != nil {
		return p, err
	}
	_, file, _, ok := runtime.Caller(0)
	if !ok {
		return p, errors.New("where the source of this package is, is not known")
	}
	module := controlplane.Module{Dir: filepath.Join(filepath.Dir(file), "_storage"), Flags: []string{"-ldflags", "-s -w"}}
	dir, err := module.Build(ctx, log, map[string]string{"storage": "."})
	p.Storage = filepath.Join(dir, "storage")
	return p, err
}
