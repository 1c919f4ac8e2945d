// Package campaigns are the commands that check generated clusters, on one machine or many, and tell what came of it.
package campaigns

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
)

// campaignCommand is what the commands that run a campaign share.
type campaignCommand struct {
	o             campaign.Options
	config        record.Config
	shard         string
	configuration source.Configuration
	reported      reportOptions
	shared        sharing
}

// flags adds their flags to one of them, in whose directories name stands before the seed.
func (c *campaignCommand) flags(cmd *cobra.Command, name string) {
	set := cmd.Flags()
	flags.Limits(cmd, &c.o.For, "how long this time", &c.o.Cases, "how many clusters in all")
	set.IntVar(&c.o.StopAfter, "stop-after", 0, "how many new findings are enough; 0 is no limit")
	flags.NotNegative(cmd, "stop-after", &c.o.StopAfter)
	set.DurationVar(&c.o.MinimiseFor, "minimise-for", campaign.MinimiseFor, "how long to make each finding small; 0 leaves it as it was found")
	flags.NotNegative(cmd, "minimise-for", &c.o.MinimiseFor)
	set.StringVar(&c.o.Dir, "out", "", fmt.Sprintf("directory of the campaign and its cases (default findings/%sseed-SEED)", name))
	set.BoolVar(&c.o.Resume, "resume", false, "go on with the campaign in --out")
	set.StringVar(&c.shard, "shard", "", "check a part of the clusters: 2/4 is the second of four")
	flags.Workers(cmd, &c.o.Workers)
	flags.Seed(cmd, &c.config.Seed)
	flags.Gates(cmd, &c.config.FeatureGates)
	flags.Config(cmd, &c.configuration)
	flags.Reference(cmd, &c.config.Reference)
	reportFlags(cmd, &c.reported)
}

// begin completes what the flags say, and tells the seed and the directory.
func (c *campaignCommand) begin(cmd *cobra.Command, name string) (err error) {
	config := &c.config
	if !address.IsBucket(c.o.Dir) && c.shard == "" {
		if c.shard, err = c.shared.shard(); err != nil {
			return err
		}
	}
	if config.Shard, err = record.ParseShard(c.shard); err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	config.Version, config.Command, config.Flags = program.Version(), program.Command(), flags.ForReference(config.Reference)
	config.Configuration, config.ConfigurationFile = string(c.configuration.JSON), c.configuration.File
	if c.o.Resume && !address.IsBucket(c.o.Dir) {
		if c.o.Dir == "" {
			return errors.New("--resume: which campaign? Give its directory as --out")
		}
		s, err := record.Load(c.o.Dir)
		if err != nil {
			return fmt.Errorf("--resume: %w", err)
		}
		resumed(cmd, &s.Config, config)
	}
	if c.o.Dir == "" {
		c.o.Dir = filepath.Join("findings", fmt.Sprintf("%sseed-%d", name, config.Seed))
		if config.Shard.Of > 1 {
			c.o.Dir += fmt.Sprintf("-shard-%d-of-%d", config.Shard.Index, config.Shard.Of)
		}
	}
	if !address.IsBucket(c.o.Dir) { // else it may hold a campaign with another seed
		tellSeed(cmd, config.Seed, c.o.Dir)
	}
	return nil
}

// tellSeed tells which campaign it is, and where.
func tellSeed(cmd *cobra.Command, seed uint64, where string) {
	fmt.Fprintf(cmd.ErrOrStderr(), "seed %d, in %s\n", seed, where)
}

// resumed takes over what a campaign was begun with.
func resumed(cmd *cobra.Command, begun, config *record.Config) {
	for flag, take := range map[string]func(){
		"seed":      func() { config.Seed = begun.Seed },
		"shard":     func() { config.Shard = begun.Shard },
		"relations": func() { config.Relations = begun.Relations },
		"filters":   func() { config.Filters = begun.Filters },
		"contracts": func() { config.Contracts = begun.Contracts },
		"timelines": func() { config.Timelines = begun.Timelines },

		"config": func() {
			config.Configuration, config.ConfigurationFile = begun.Configuration, begun.ConfigurationFile
		},

		"feature-gates": func() { config.FeatureGates = begun.FeatureGates },
	} {
		if !cmd.Flags().Changed(flag) && !(flag == "shard" && cmd.Flags().Changed("shards")) {
			take()
		}
	}
}
