// Command run plants the mutants of internal/upstreammutants in a copy of the
// scheduler and shows that a campaign finds each. With arguments it plants only
// the mutants of these names.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"

	"github.com/preemptcheck/preemptcheck/internal/upstreammutants"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	mutants := upstreammutants.All()
	if names := os.Args[1:]; len(names) > 0 {
		mutants = slices.DeleteFunc(mutants, func(m upstreammutants.Mutant) bool { return !slices.Contains(names, m.Name) })
		if len(mutants) != len(names) {
			fmt.Fprintf(os.Stderr, "one of %q is no mutant\n", names)
			os.Exit(2)
		}
	}
	if err := upstreammutants.Run(ctx, os.Stdout, os.Stderr, mutants); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
