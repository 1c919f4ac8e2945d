package campaigns

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"
	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/checkers"
	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/corpus/minimize"
	"github.com/preemptcheck/preemptcheck/generators"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/calls"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Plugins makes the command that checks whether plugins keep their contract.
func Plugins() *cobra.Command {
	const name = "plugins-"
	c := &campaignCommand{}
	cmd := &cobra.Command{
		Use:   "plugins [NAME…]",
		Short: "Check whether the scheduler's plugins keep their contract",
		Long: `Plugins asks the scheduler's plugins, one by one, whether they keep the contract that
the doc comments of the scheduling framework write down, and on which preemption
rests: first on the clusters of the known findings, then on generated ones, until
--for or --cases is reached. No model of a plugin is needed.

  INCREMENTAL   after AddPod and RemovePod, Filter says what it says of a cluster
                that is like that
  PURE          asking changes nothing: neither the order of the questions, nor many
                at once, nor what becomes of a clone of the state
  SKIP          a plugin that skips would not reject the pod in any dry run
  LEAVES OUT    a PreFilterResult leaves out only nodes that Filter rejects
  UNRESOLVABLE  where a plugin says so, no preemption on the node helps
  HINTS         an event that turns a rejection into a pass wakes the pod
  NO ERRORS     valid objects are judged: no Error, no panic
  REASONS       a rejection says why
  UNDONE        after Unreserve all is as before, also after a PreBind that fails
  KEPT          volumes and devices that Reserve took are gone for another pod

Three more are measured: whether removing pods can turn a pass into a rejection
(MONOTONE: no), which share of the events that change nothing wakes the pod all the
same, and how often a plugin says Unschedulable although no preemption helps.

What is found is minimised and saved as by "preemptcheck fuzz", in --out. For a
plugin that is not monotone, a smallest counterexample is saved, too.

Exit status: 1 if something new was found; else 0.`,
		Example: `  preemptcheck plugins --for 60s
  preemptcheck plugins NodePorts VolumeBinding --for 10m`,
	}
	c.flags(cmd, name)
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		c.config.Contracts, c.config.PluginsAlone, c.config.Plugins = 1, true, strings.Join(names, ",")
		if address.IsBucket(c.o.Dir) {
			return fmt.Errorf("--out: %s: it takes a directory: only fuzz shares a campaign by a bucket", c.o.Dir)
		}
		if err := c.begin(cmd, name); err != nil {
			return err
		}
		if err := knownPlugins(cmd.Context(), c.config, names); err != nil {
			return err
		}
		onCorpus, err := checkWitnesses(cmd, c.config)
		if err != nil {
			return err
		}
		s, err := runCampaign(cmd, c.config, c.o)
		if err != nil {
			return err
		}
		if err := saveCounterexamples(cmd, c.o.Dir, s); err != nil {
			return err
		}
		err = writeReport(cmd, c.o.Dir, s, c.reported)
		if err == nil && onCorpus > 0 {
			return terminal.Exit(terminal.Found)
		}
		return err
	}
	return cmd
}

// knownPlugins refuses names of which the scheduler has no plugin.
func knownPlugins(ctx context.Context, config record.Config, plugins []string) error {
	name := config.Reference
	checker, err := checkers.New(name, 1)
	if err != nil {
		return err
	}
	defer checker.System.Close()
	system, ok := checker.System.(reference.PluginSystem)
	if !ok {
		return fmt.Errorf("--reference: the plugins of %s cannot be asked", name)
	}
	witness, err := corpus.Witness(ledger.Linked()[0].Witness)
	if err != nil {
		return err
	}
	answers, err := system.Ask(ctx, configured(witness.Cluster, config), []calls.Call{{Op: calls.List}})
	if err != nil {
		return fmt.Errorf("--reference: the plugins of %s cannot be asked: %w", name, err)
	}
	var all []string
	for _, p := range answers[0].Plugins {
		all = append(all, p.Name)
	}
	for _, plugin := range plugins {
		if !slices.Contains(all, plugin) {
			return fmt.Errorf("%s has no plugin %q: it has %s", name, plugin, strings.Join(all, ", "))
		}
	}
	return nil
}

// configured is a cluster whose scheduler has the configuration of a campaign.
func configured(c *model.Cluster, config record.Config) *model.Cluster {
	c = c.DeepCopy()
	generators.Configure(c, json.RawMessage(config.Configuration))
	return c
}

// checkWitnesses asks the plugins on the clusters of the known findings, prints what is new there, and is how often that was.
func checkWitnesses(cmd *cobra.Command, config record.Config) (found int, err error) {
	checker, err := checkers.New(config.Reference, 1, contract.All(shares(config).Plugins...)...)
	if err != nil {
		return 0, err
	}
	if checker.System, err = checkers.NewIsolatedPool(config.Reference, 1); err != nil {
		return 0, err
	}
	defer checker.System.Close()
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.Finish()
	entries := ledger.Linked()
	for i, e := range entries {
		progress.Show(float64(i)/float64(len(entries)), func() string { return "on the clusters of the known findings" })
		c, err := corpus.Witness(e.Witness)
		if err != nil {
			return found, err
		}
		if c.Timeline != nil || c.Cluster.Preemptor == nil {
			continue
		}
		r, err := checker.Check(cmd.Context(), configured(c.Cluster, config))
		if err != nil {
			return found, fmt.Errorf("%s: %w", e.Witness, err)
		}
		for _, f := range r.Unexplained() {
			if contract.Is(f.Property) {
				found++
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", e.Witness, f)
			}
		}
	}
	return found, nil
}

// maxCounterexample is how long one is made small.
const maxCounterexample = 20 * time.Second

// saveCounterexamples saves small clusters in which plugins are not monotone.
func saveCounterexamples(cmd *cobra.Command, dir string, s *record.State) error {
	for _, plugin := range slices.Sorted(maps.Keys(s.Stats.Counterexamples)) {
		if s.Examples[plugin] != "" || cmd.Context().Err() != nil {
			continue
		}
		cluster := campaign.Generate(s.Config.Seed, s.Stats.Counterexamples[plugin].Number, s.Config.FeatureGates, s.Config.Configuration)
		small, err := smallest(cmd.Context(), s.Config.Reference, plugin, cluster)
		if err != nil {
			return fmt.Errorf("a counterexample of %s: %w", plugin, err)
		}
		file := words.Slug("not monotone "+plugin) + ".yaml"
		text := &strings.Builder{}
		example := &corpus.Case{Name: words.Slug("not monotone " + plugin), Description: small.Finding.Detail, Cluster: small.Cluster,
			Origin: fmt.Sprintf("preemptcheck plugins --seed %d, cluster %d", s.Config.Seed, s.Stats.Counterexamples[plugin].Number)}
		if err := example.Write(text); err != nil {
			return err
		}
		if err := atomicwriter.WriteFile(filepath.Join(dir, file), []byte(text.String()), 0o644); err != nil {
			return err
		}
		if s.Examples == nil {
			s.Examples = map[string]string{}
		}
		s.Examples[plugin] = filepath.Join(dir, file)
		if err := s.Save(dir); err != nil {
			return err
		}
	}
	return nil
}

// smallest makes a cluster small in which a plugin is not monotone.
func smallest(ctx context.Context, name, plugin string, c *model.Cluster) (*minimize.Result, error) {
	checker, err := checkers.New(name, 1, contract.Monotone(plugin))
	if err != nil {
		return nil, err
	}
	defer checker.System.Close()
	ctx, cancel := context.WithTimeout(ctx, maxCounterexample)
	defer cancel()
	want := fingerprint.OfFinding(&properties.Finding{Property: "contract-monotone", Stage: model.StageFilter, Kind: plugin + ": not monotone"})
	return minimize.Minimise(ctx, checker, c, want, minimize.Options{})
}
