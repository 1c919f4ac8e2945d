// Command run starts a real Kubernetes with nodes and object storage on loopback, and prints how it is
// reached, until it is interrupted. With -clean it only removes what one has left that was killed:
//
//	go run ./internal/realcluster/run [-nodes N] [-clean] [IMAGE.tar …]
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/preemptcheck/preemptcheck/internal/controlplane"
	"github.com/preemptcheck/preemptcheck/internal/realcluster"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	nodes := flag.Int("nodes", 2, "how many nodes there are, up to 9")
	clean := flag.Bool("clean", false, "remove what a cluster has left that was killed")
	flag.Parse()
	if err := run(ctx, *nodes, *clean, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

func run(ctx context.Context, nodes int, clean bool, images []string) error {
	if clean {
		return realcluster.Clean()
	}
	if err := realcluster.Check(); err != nil {
		return err
	}
	programs, err := realcluster.Build(ctx, os.Stderr)
	if err != nil {
		return err
	}
	c, err := realcluster.Start(ctx, programs, realcluster.Options{Nodes: nodes, Images: images, Log: os.Stderr})
	if err != nil {
		return err
	}
	file, err := c.Kubeconfig(controlplane.Admin)
	if err == nil {
		fmt.Printf("export KUBECONFIG=%s AWS_ACCESS_KEY_ID=%s AWS_SECRET_ACCESS_KEY=%s\n# storage: %s\n", file, c.Storage.Key, c.Storage.Secret, c.Storage.URL("campaign"))
		<-ctx.Done()
	}
	if stopped := c.Stop(); err == nil {
		err = stopped
	}
	return err
}
