// Command preemptcheck tells how it was built and called.
package main

import (
	"fmt"
	"io"
	"os"

	"k8s.io/api"
	"k8s.io/kubernetes/pkg/scheduler"

	"github.com/preemptcheck/preemptcheck/internal/harness"
)

func main() {
	in, _ := io.ReadAll(os.Stdin)
	fmt.Printf("%s %s\nstamp %s\npid %d\nargs %q\nstdin %q\n",
		scheduler.Name, api.Name, harness.Stamp(), os.Getpid(), os.Args[1:], in)
	fmt.Fprintln(os.Stderr, "on standard error")
	os.Exit(7)
}
