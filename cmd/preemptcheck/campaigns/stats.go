package campaigns

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// Stats makes the command that counts what generated clusters have the scheduler decide.
func Stats() *cobra.Command {
	o := campaign.Options{MinimiseFor: campaign.MinimiseFor}
	var config record.Config
	var output terminal.Format
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count which of the scheduler's decisions generated clusters come to",
		Long: `Stats generates clusters and checks them as fuzz does, saves nothing, and tells how
often each probe was exercised: a decision of the scheduler that has to be seen
taken before the absence of findings says anything. The floors are for campaigns
of about ten thousand clusters or more.

Besides a share of the clusters a timeline is run, as fuzz does, and counted is into
which situations it leads the scheduler: which place something goes on at, or dies,
or fails, while what. The floors of these are for 2000 timelines or more.

Of one in --filters clusters, each filter plugin is also asked by itself about every
pod on every node (a pair), about the node as it is and after each of its pods was
removed, added again, or deleted (changes).

Exit status: 1 if a probe is below its floor, or something new was found; else 2 if
a scheduler that lies was not found out; else 0.`,
		Example: `  preemptcheck stats --for 2m
  preemptcheck stats --seed 42 --cases 10000 -o json`,
		Args: cobra.NoArgs,
	}
	flags.Limits(cmd, &o.For, "how long", &o.Cases, "how many clusters in all")
	flags.Workers(cmd, &o.Workers)
	flags.Seed(cmd, &config.Seed)
	flags.Gates(cmd, &config.FeatureGates)
	var configuration source.Configuration
	flags.Config(cmd, &configuration)
	flags.Reference(cmd, &config.Reference)
	flags.Relations(cmd, &config.Relations)
	flags.Filters(cmd, &config.Filters, 8)
	flags.Timelines(cmd, &config.Timelines, 10)
	terminal.OutputFlag(cmd, &output)
	cmd.RunE = func(cmd *cobra.Command, _ []string) (err error) {
		config.Version, config.Command, config.Shard = program.Version(), program.Command(), record.Shard{Index: 1, Of: 1}
		config.Configuration, config.ConfigurationFile = string(configuration.JSON), configuration.File
		if o.Dir, err = os.MkdirTemp("", "preemptcheck-stats-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.Dir)
		fmt.Fprintf(cmd.ErrOrStderr(), "seed %d\n", config.Seed)
		s, err := runCampaign(cmd, config, o)
		if err != nil {
			return err
		}
		for _, f := range s.Findings {
			f.File = "" // it goes with the directory
		}
		r := s.Report(o.Dir)
		if inWorkflow() {
			r = r.Public("the clusters of the seed")
		}
		return output.Conclude(cmd, r, r.WriteProbes, r.Verdict == record.Found || r.Short() > 0, r.Verdict == record.Broken)
	}
	return cmd
}
