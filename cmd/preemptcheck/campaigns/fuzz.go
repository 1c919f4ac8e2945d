package campaigns

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
)

// Fuzz makes the command that checks generated clusters.
func Fuzz() *cobra.Command {
	c := &campaignCommand{}
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Check generated clusters, and save those on which something is found",
		Long: `Fuzz generates clusters and checks each, until --for or --cases is reached or it
is interrupted, and reports what was tried and what was found. A part of the
clusters are known cases, as they are or with a few changes. Each cause of findings is
saved once, made small, as a case in --out, which "preemptcheck check" reproduces.
Known findings are only counted.

What is found depends only on --seed and on how many clusters were checked. The
campaign in --out can be interrupted, or killed, at any time: with --resume it goes
on where it was. To use several machines, give each a --shard of one seed and
unite the directories with "preemptcheck merge", or give all the same bucket as
--out: s3://, gs://, azblob:// or file://. Then each claims blocks of clusters, goes
on with what lost ones have left, and joins or leaves at any time; "preemptcheck
report" tells of all of them, "preemptcheck merge" makes one campaign of it, and
"preemptcheck job" prints the Kubernetes manifests.

Now and then a scheduler that lies is checked as well, in every campaign: should
that not be found out, the campaign says that it is broken.

Exit status: 1 if something new was found; else 2 if the campaign was too short to
tell, or is broken; else 0. With a bucket it is 0 whatever was found, and 75 after
trouble that another try may not have.`,
		Example: `  preemptcheck fuzz --for 5m
  preemptcheck fuzz --for 8h --seed 42 --out nightly
  preemptcheck fuzz --for 8h --out nightly --resume
  preemptcheck fuzz --seed 42 --cases 1000000 --shard 2/4 --out shard-2
  preemptcheck fuzz --seed 42 --for 8h --out s3://nights/today`,
		Args: cobra.NoArgs,
	}
	c.flags(cmd, "")
	c.shared.flags(cmd)
	cmd.Flag("out").Usage += ", or a bucket to share it by"
	flags.Relations(cmd, &c.config.Relations)
	flags.Filters(cmd, &c.config.Filters, 128)
	flags.Contracts(cmd, &c.config.Contracts, 64)
	flags.Timelines(cmd, &c.config.Timelines, 10)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := c.begin(cmd, ""); err != nil {
			return err
		}
		if address.IsBucket(c.o.Dir) {
			return c.join(cmd)
		}
		s, err := runCampaign(cmd, c.config, c.o)
		if err != nil {
			return err
		}
		return writeReport(cmd, c.o.Dir, s, c.reported)
	}
	return cmd
}

// FuzzWorker makes the hidden command that the workers of a campaign run.
func FuzzWorker() *cobra.Command {
	var reference string
	var config record.Config
	cmd := &cobra.Command{
		Use:    "fuzz-worker",
		Short:  "Check the clusters that fuzz asks for on standard input",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			checker, err := checkers.New(reference, 1, cheap(config)...)
			if err != nil {
				return err
			}
			defer checker.System.Close()
			if checker.Outside != nil {
				adorn(reference, checker.Outside.Model)
			}
			sampled(checker, config)
			bubble.DeepStacks = true
			if err := atOnce(); err != nil {
				return err
			}
			// An interrupt of a terminal reaches all processes, but it is fuzz that
			// decides when a worker ends: by closing its input.
			return campaign.Work(context.WithoutCancel(cmd.Context()), checker, cmd.InOrStdin(), cmd.OutOrStdout())
		},
	}
	flags.Reference(cmd, &reference)
	flags.Relations(cmd, &config.Relations)
	flags.Filters(cmd, &config.Filters, 0)
	flags.Contracts(cmd, &config.Contracts, 0)
	cmd.Flags().BoolVar(&config.PluginsAlone, "plugins-alone", false, "ask plugins, and nothing else")
	cmd.Flags().StringVar(&config.Plugins, "plugin-names", "", "which")
	return cmd
}
