// Upstreammutants plants bugs in a copy of the scheduler's own preemption source, and
// finds out how long a campaign takes to notice each. A campaign that finds nothing
// means something only if it finds these. With arguments it plants only the mutants
// of these names. With -witnesses it runs no campaign, and shows that the timelines which tell
// the stories of known bugs pass without them and fail with them. With -feature-gates and -workers its campaigns have
// these, as those of "preemptcheck fuzz" have.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	witnesses := flag.Bool("witnesses", false, "show that the timelines of known bugs fail with these, and run no campaign")
	gates := flag.String("feature-gates", "", "feature gates of the scheduler in all campaigns, as GenericWorkload=true")
	workers := flag.Int("workers", 0, "how many clusters a campaign checks at once if not 0, as \"preemptcheck fuzz\" has it")
	flag.Parse()
	mutants := All
	do := func(ctx context.Context, out, log io.Writer, mutants []Mutant) error {
		return run(ctx, out, log, mutants, *gates, *workers)
	}
	if *witnesses {
		mutants, do = witnessed(), runWitnesses
	}
	if names := flag.Args(); len(names) > 0 {
		if mutants = named(names); mutants == nil {
			fmt.Fprintf(os.Stderr, "one of %q is no mutant\n", names)
			os.Exit(2)
		}
	}
	if err := do(ctx, os.Stdout, os.Stderr, mutants); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
