// Package campaigns are the commands that check generated clusters, on one machine or many, and tell what came of it.
package campaigns

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	adorning "github.com/preemptcheck/preemptcheck/generators/outside"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	modelled "github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/bubble"
	"github.com/preemptcheck/preemptcheck/reference/outside"
	"github.com/preemptcheck/preemptcheck/reference/systems"
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

// Fuzz makes the command that checks generated clusters.
func Fuzz() *cobra.Command {
	c := &campaignCommand{}
	cmd := &cobra.Command{
		Use:   "fuzz",
		Short: "Check generated clusters, and save those on which something is found",
		Long: `Fuzz generates clusters and checks each, until --for or --cases is reached or it
is interrupted, and reports what was tried and what was found. Each cause of
findings is saved once, made small, as a case in --out, which "preemptcheck check"
reproduces. Known findings are only counted.

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
	flags.Contracts(cmd, &c.config.Contracts, 1024)
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

// runCampaign runs a campaign in worker processes, and shows its progress.
func runCampaign(cmd *cobra.Command, config record.Config, o campaign.Options) (*record.State, error) {
	if err := equip(cmd, &config, &o); err != nil {
		return nil, err
	}
	defer o.Checker.System.Close()
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.Finish()
	start := time.Now()
	o.Progress = func(s *record.State) {
		share := float64(terminal.Unknown)
		if o.For > 0 {
			share = min(1, float64(time.Since(start))/float64(o.For))
		}
		if o.Cases > 0 {
			share = max(share, min(1, float64(s.Next)/float64(o.Cases)))
		}
		progress.Show(share, s.Summary)
	}
	return campaign.Run(cmd.Context(), config, o)
}

// equip adds to options who checks: the checker is to be closed. It completes the configuration.
func equip(cmd *cobra.Command, config *record.Config, o *campaign.Options) (err error) {
	if o.Checker, err = checkers.New(config.Reference, o.Workers, cheap(*config)...); err != nil {
		return err
	}
	if config.Outside = o.Checker.Outside != nil; config.Outside {
		variant := o.Checker.Outside.Model
		adorn(config.Reference, variant)
		if variant != nil {
			config.Modelled = variant.Plugin
		}
	}
	// A worker may die of a cluster. Whoever looks at it again, or minimises it, may not.
	if o.Checker.System, err = checkers.NewIsolatedPool(config.Reference, o.Workers); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			o.Checker.System.Close()
		}
	}()
	if config.FeatureGates == "" && !o.Checker.Release.In(release.WithGroups) {
		config.FeatureGates = record.Ungrouped
	}
	o.Checker.Sample = all.Sample(shares(*config))
	if config.Timelines > 0 {
		if why := cannotLive(config.Reference); why == "" {
			o.Life = o.Checker.System.(reference.LifeSystem)
		} else if cmd.Flags().Changed("timelines") || o.Resume {
			return fmt.Errorf("--timelines: %s", why)
		} else {
			fmt.Fprintf(cmd.ErrOrStderr(), "no timelines: %s\n", why)
			config.Timelines = 0
		}
	}
	executable, err := os.Executable()
	if err != nil {
		return err
	}
	o.Launch = campaign.Process(func() *exec.Cmd {
		cmd := exec.Command(executable, "fuzz-worker", "--reference", config.Reference, "--relations", strconv.Itoa(config.Relations), "--filters", strconv.Itoa(config.Filters),
			"--contracts", strconv.Itoa(config.Contracts), "--plugins-alone="+strconv.FormatBool(config.PluginsAlone), "--plugin-names", config.Plugins)
		// A worker does one thing at a time, and leaves much garbage in little
		// memory: this nearly doubles the clusters per second. It keeps 30 to 130 MB; the limit
		// is for what is garbage.
		cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=800", "GOMEMLIMIT=400MiB")
		return cmd
	})
	return nil
}

// shares are those of a campaign.
func shares(config record.Config) all.Shares {
	s := all.Shares{Relations: config.Relations, Filters: config.Filters, Contracts: config.Contracts, Repeating: all.RepeatingOneIn}
	if config.PluginsAlone {
		s.Repeating = 0
	}
	if config.Plugins != "" {
		s.Plugins = strings.Split(config.Plugins, ",")
	}
	return s
}

// cheap are the promises that a campaign checks of each of its clusters.
func cheap(config record.Config) []properties.Property {
	if config.PluginsAlone {
		return []properties.Property{properties.GetsThrough()}
	}
	return all.Cheap()
}

// cannotLive says why the scheduler of that name runs no timelines; "" if it does.
func cannotLive(name string) string {
	switch life, err := systems.NewLife(name); {
	case err != nil:
		return err.Error()
	case life == nil:
		return name + " cannot be run through timelines"
	default:
		life.Close()
		return ""
	}
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
			checker.Sample = all.Sample(shares(config))
			bubble.DeepStacks = true
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

// adorn has generated clusters hold what the plugins of a file look at, and only what their Kubernetes has. variant is
// the model of the plugins, if there is one.
func adorn(file string, variant *modelled.Variant) {
	f, err := outside.Read(file)
	if err != nil {
		return // who makes the checker says so
	}
	r, err := outside.Release(f)
	if err != nil {
		return
	}
	campaign.Adorn = func(c *model.Cluster, seed uint64) {
		r.Stored(c)
		c.Settings.NoDefaultConstraints = false // drivers cannot have it
		if err := f.Adorn(c, seed); err != nil {
			panic(err) // the objects were read before
		}
		if variant != nil {
			adorning.Adorn(variant.Plugin, c, seed)
		}
	}
}
