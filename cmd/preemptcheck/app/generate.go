package app

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/source"
)

func newGenerate() *cobra.Command {
	var seed, first, count uint64
	var dir string
	var timeline bool
	var gates record.Gates
	var configuration source.Configuration
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Write generated clusters as YAML cases",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if count > 1 && dir == "" {
				return errors.New("-n: more than one case needs --out, because a stream holds just one")
			}
			for n := first; n-first < count && cmd.Context().Err() == nil; n++ {
				c, err := generated(seed, n, timeline, gates, configuration)
				if err != nil {
					return err
				}
				if dir == "" {
					return c.Write(cmd.OutOrStdout())
				}
				path, err := corpus.Save(dir, c)
				if err != nil {
					return err
				}
				fmt.Fprintln(cmd.OutOrStdout(), path)
			}
			return nil
		},
	}
	cmd.Flags().Uint64VarP(&count, "count", "n", 1, "how many clusters")
	cmd.Flags().Uint64Var(&first, "first", 0, "number of the first cluster of the seed")
	cmd.Flags().StringVar(&dir, "out", "", "directory to write one file each to, instead of standard output")
	cmd.Flags().BoolVar(&timeline, "timeline", false, "generate timelines: clusters, and what happens to them")
	flags.Seed(cmd, &seed)
	flags.Gates(cmd, &gates)
	flags.Config(cmd, &configuration)
	return cmd
}

// generated is the cluster, or the timeline, of a number.
func generated(seed, n uint64, timeline bool, gates record.Gates, configuration source.Configuration) (*corpus.Case, error) {
	c := &corpus.Case{
		Name:   fmt.Sprintf("generated-%d-%d", seed, n),
		Origin: fmt.Sprintf("preemptcheck generate --seed %d --first %d%s", seed, n, gates.Flag()+configuration.Flag()),
	}
	if !timeline {
		c.Cluster = campaign.Generate(seed, n, gates, string(configuration.JSON))
		return c, nil
	}
	t, err := campaign.GenerateTimeline(seed, n, gates, string(configuration.JSON))
	if err != nil {
		return nil, err
	}
	c.Origin = fmt.Sprintf("preemptcheck generate --timeline --seed %d --first %d%s", seed, n, gates.Flag()+configuration.Flag())
	c.Cluster, c.Timeline = t.Cluster, t
	return c, nil
}
