// Command run shows that the tests of internal/upstreamtests fail in the
// scheduler's own packages, as they have to while the findings are not fixed.
// With -mends it shows that the small changes of the reports mend their findings,
// and break no other test. With arguments it runs only those of these findings.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mend := flag.Bool("mends", false, "try the changes that mend findings")
	flag.Parse()
	var tests []upstreamtests.Test
	for _, id := range flag.Args() {
		t, ok := upstreamtests.LookUp(id)
		if !ok {
			fmt.Fprintf(os.Stderr, "finding %q has no test\n", id)
			os.Exit(2)
		}
		tests = append(tests, t)
	}
	if len(tests) == 0 {
		tests = upstreamtests.Tests
	}
	run := upstreamtests.Run
	if *mend {
		run = upstreamtests.TryMends
	}
	if err := run(ctx, os.Stdout, tests); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
