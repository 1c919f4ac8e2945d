// Upstreammutants plants bugs in a copy of the scheduler's own preemption source, and
// finds out how long a campaign takes to notice each. A campaign that finds nothing
// means something only if it finds these. With arguments it plants only the mutants
// of these names.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mutants := All
	if names := os.Args[1:]; len(names) > 0 {
		mutants = slices.DeleteFunc(slices.Concat(All, escaped), func(m Mutant) bool { return !slices.Contains(names, m.Name) })
		if len(mutants) != len(names) {
			fmt.Fprintf(os.Stderr, "one of %q is no mutant\n", names)
			os.Exit(2)
		}
	}
	if err := run(ctx, os.Stdout, os.Stderr, mutants); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
