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
	"slices"

	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mend := flag.Bool("mends", false, "try the changes that mend findings")
	flag.Parse()
	if *mend {
		mends := upstreamtests.Mends()
		if ids := flag.Args(); len(ids) > 0 {
			mends = slices.DeleteFunc(mends, func(m upstreamtests.Mend) bool { return !slices.Contains(ids, m.Finding) })
		}
		exit(upstreamtests.TryMends(ctx, os.Stdout, mends))
	}
	tests := upstreamtests.Tests()
	if ids := flag.Args(); len(ids) > 0 {
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
	exit(upstreamtests.Run(ctx, os.Stdout, tests))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}
