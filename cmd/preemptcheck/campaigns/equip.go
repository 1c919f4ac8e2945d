package campaigns

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	adorning "github.com/preemptcheck/preemptcheck/generators/outside"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/model"
	modelled "github.com/preemptcheck/preemptcheck/model/outside"
	"github.com/preemptcheck/preemptcheck/model/release/vocabulary"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/outside"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

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
	if config.FeatureGates == "" && !o.Checker.Release.In(vocabulary.WithGroups) {
		config.FeatureGates = record.Ungrouped
	}
	sampled(o.Checker, *config)
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
		cmd.Env = append(os.Environ(), "GOMAXPROCS="+processors, "GOGC=800", "GOMEMLIMIT=400MiB")
		return cmd
	})
	return nil
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
		vocabulary.Stored(r, c)
		c.Settings.NoDefaultConstraints = false // drivers cannot have it
		if err := f.Adorn(c, seed); err != nil {
			panic(err) // the objects were read before
		}
		if variant != nil {
			adorning.Adorn(variant.Plugin, c, seed)
		}
	}
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

// sampled has a checker draw the costly promises of a campaign.
func sampled(checker *properties.Checker, config record.Config) {
	s := shares(config)
	checker.Sample, checker.Looks = all.Sample(s), all.Looks(s)
	checker.HoldsCases = !config.PluginsAlone && len(s.Plugins) == 0 && min(s.Relations, s.Filters, s.Contracts) > 0
}

// cheap are the promises that a campaign checks of each of its clusters.
func cheap(config record.Config) []properties.Property {
	if config.PluginsAlone {
		return []properties.Property{properties.GetsThrough()}
	}
	return all.Cheap()
}
