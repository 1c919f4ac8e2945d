// Command run shows that the tests of internal/upstreamtests fail in the
// scheduler's own packages, as they have to while the findings are not fixed.
// With arguments it runs only the tests of these findings.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	tests := upstreamtests.Tests()
	if ids := os.Args[1:]; len(ids) > 0 {
		tests = nil
		for _, id := range ids {
			t, ok := upstreamtests.LookUp(id)
			if !ok {
				fmt.Fprintf(os.Stderr, "finding %q has no test\n", id)
				os.Exit(2)
			}
			tests = append(tests, t)
		}
	}
	if err := upstreamtests.Run(ctx, os.Stdout, tests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
