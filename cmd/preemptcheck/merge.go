package main

import (
	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
)

func newMerge() *cobra.Command {
	var dir string
	var reported reportOptions
	cmd := &cobra.Command{
		Use:   "merge DIR… --out DIR",
		Short: "Unite campaigns that checked different clusters",
		Long: `Merge unites campaigns of "preemptcheck fuzz", such as the shards of one seed, in
a new directory, and reports on all of them. What was found by several is one
finding there. The directories are left as they are.

It refuses campaigns that have clusters in common, which would be counted twice, or
that were run by different programs.

Exit status: as of fuzz.`,
		Example: `  preemptcheck merge shard-1 shard-2 --out merged`,
		Args:    cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&dir, "out", "", "directory to unite them in; it must not be there yet")
	cmd.MarkFlagRequired("out")
	reportFlags(cmd, &reported)
	cmd.RunE = func(cmd *cobra.Command, dirs []string) error {
		s, err := campaign.Merge(dir, dirs)
		if err != nil {
			return err
		}
		return writeReport(cmd, dir, s, reported)
	}
	return cmd
}
