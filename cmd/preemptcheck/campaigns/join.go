package campaigns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/job"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/fleet"
	"github.com/preemptcheck/preemptcheck/internal/campaign/fleet/metrics"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/shell"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// sharing is how a campaign is shared among machines.
type sharing struct {
	shards  int
	block   uint64
	metrics string
}

func (s *sharing) flags(cmd *cobra.Command) {
	cmd.Flags().IntVar(&s.shards, "shards", 0, "in a pod of an Indexed Job, with a directory as --out: check the part of its index, of so many")
	flags.NotNegative(cmd, "shards", &s.shards)
	cmd.Flags().Uint64Var(&s.block, "block", fleet.DefaultBlock, "with a bucket as --out: how many clusters to claim at once")
	cmd.Flags().StringVar(&s.metrics, "metrics", "", "with a bucket as --out: serve Prometheus metrics at this address: a port is one of 127.0.0.1")
}

// jobIndex is the variable in which the pods of an Indexed Job find their index.
const jobIndex = "JOB_COMPLETION_INDEX"

// shard is the shard of a pod of an Indexed Job, as --shard has it; "" if --shards does not ask for one.
func (s *sharing) shard() (string, error) {
	if s.shards == 0 {
		return "", nil
	}
	text := os.Getenv(jobIndex)
	index, err := strconv.Atoi(text)
	if err != nil || index < 0 || index >= s.shards {
		return "", fmt.Errorf("--shards %d: the environment has %s=%q: it takes 0 to %d", s.shards, jobIndex, text, s.shards-1)
	}
	return fmt.Sprintf("%d/%d", index+1, s.shards), nil
}

// Exit statuses of the pods of a Job, from sysexits.h. After tryAgain, another try goes on where it was. In a pod, bad input is badInput: 2 is
// also what a Go program ends with that panics or has no memory, and another try may not.
const (
	tryAgain = 75 // EX_TEMPFAIL
	badInput = job.BadInput
)

// CouldNot returns the exit status of a command that could not be done. In a pod of a Job it says whether another try may help: that is
// so if this one was interrupted.
func CouldNot(ctx context.Context) int {
	switch {
	case os.Getenv(jobIndex) == "":
		return terminal.CouldNot
	case ctx.Err() != nil:
		return tryAgain
	}
	return badInput
}

// join has this machine check blocks of the campaign in a bucket, which it begins if there is none.
func (c *campaignCommand) join(cmd *cobra.Command) error {
	for flag, why := range map[string]string{
		"shards":       "the machines that share a bucket claim blocks of one campaign",
		"shard":        "the machines that share a bucket claim blocks of one campaign",
		"stop-after":   "nothing is minimised before the campaign is merged",
		"minimise-for": "nothing is minimised before the campaign is merged",
		"junit":        "there is nothing to report before the campaign is merged",
		"output":       "there is nothing to report before the campaign is merged",
	} {
		if cmd.Flags().Changed(flag) {
			return fmt.Errorf("--%s: leave it out with a bucket as --out: %s", flag, why)
		}
	}
	s, err := source.OpenBucket(cmd, c.o.Dir)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer s.Close()
	plan, err := c.plan(cmd, s)
	if err != nil {
		return failed(cmd, err)
	}
	if err := equip(cmd, &plan.Config, &c.o); err != nil {
		return failed(cmd, err)
	}
	defer c.o.Checker.System.Close()
	if err := fleet.Join(cmd.Context(), s, *plan); err != nil {
		return failed(cmd, err)
	}
	tellSeed(cmd, plan.Config.Seed, s.URL)
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	crew := campaign.NewCrew(context.WithoutCancel(ctx), plan.Config, &c.o)
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.Finish()
	o := fleet.Options{Store: s, Plan: *plan, Index: os.Getenv(jobIndex), For: c.o.For, Workers: c.o.Workers, Checker: crew}
	exported := metrics.New()
	start := time.Now()
	o.Progress = func(w fleet.Worker) {
		exported.Set(w)
		share := float64(terminal.Unknown)
		if o.For > 0 {
			share = min(1, float64(time.Since(start))/float64(o.For))
		}
		progress.Show(share, w.Summary)
	}
	if c.shared.metrics != "" {
		server, err := exported.Serve(c.shared.metrics)
		if err != nil {
			return fmt.Errorf("--metrics: %w", err)
		}
		defer server.Close()
		terminal.Note(cmd.ErrOrStderr(), "metrics at "+server.URL)
	}
	done, err := fleet.Work(ctx, o)
	err = errors.Join(err, crew.Close())
	if err != nil {
		if cmd.Context().Err() != nil {
			err = errors.New("interrupted: what was claimed is left to others")
		}
		terminal.PrintErrors(cmd.ErrOrStderr(), err)
		return terminal.Exit(tryAgain)
	}
	progress.Finish()
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s.\nThe whole campaign: %s\nIts findings:       %s\n", done.Summary(), c.config.Command+" report "+shell.Quote(c.o.Dir), c.config.Command+" merge "+shell.Quote(c.o.Dir)+" --out DIR")
	return err
}

// failed is the exit status for an error of the bucket.
func failed(cmd *cobra.Command, err error) error {
	if store.Trouble(err) || cmd.Context().Err() != nil {
		terminal.PrintErrors(cmd.ErrOrStderr(), err)
		return terminal.Exit(tryAgain)
	}
	return err
}

// plan is that in the bucket, for all that no flag says otherwise, or a new one.
func (c *campaignCommand) plan(cmd *cobra.Command, s *store.Store) (*fleet.Plan, error) {
	p := &fleet.Plan{Config: c.config, Block: c.shared.block, Cases: c.o.Cases}
	there, err := fleet.Load(cmd.Context(), s)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, err
	}
	resumed(cmd, &there.Config, &p.Config)
	if !cmd.Flags().Changed("block") {
		p.Block = there.Block
	}
	if !cmd.Flags().Changed("cases") {
		if p.Cases = there.Cases; p.Cases > 0 && !cmd.Flags().Changed("for") {
			c.o.For = 0
		}
	}
	return p, nil
}
