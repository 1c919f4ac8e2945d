// Command run starts a control plane on loopback, loads the cluster of a case or a dump into it, and
// prints the kubeconfig, until it is interrupted:
//
//	go run ./internal/controlplane/run [FILE]
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/controlplane"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, files []string) error {
	s, err := corpus.Load(files...)
	if err != nil {
		return err
	}
	binaries, err := controlplane.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "preemptcheck-controlplane-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p, err := controlplane.Start(ctx, binaries, dir)
	if err != nil {
		return err
	}
	defer p.Stop()
	for _, c := range s.Cases[:min(1, len(s.Cases))] {
		if err := p.Load(ctx, c.Cluster.Objects()); err != nil {
			return err
		}
	}
	file, err := p.Kubeconfig(controlplane.Admin)
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", file)
	<-ctx.Done()
	return nil
}
