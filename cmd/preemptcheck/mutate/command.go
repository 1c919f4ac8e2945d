// Package mutate is the command that plants bugs in upstream by rule, and finds out who notices them.
package mutate

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/mutants"
	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// command is what the flags say.
type command struct {
	options    mutants.Options
	gates      record.Gates
	out, shard string
	resume     bool
	model      bool
	sample     int
	workers    int
	columns    []string
	only       []string
	output     terminal.Format
}

// markdown is a page for docs/.
const markdown terminal.Format = "markdown"

// New is the command.
func New() *cobra.Command {
	c := &command{}
	cmd := &cobra.Command{
		Use:   "mutate [DIR…]",
		Short: "Plant small bugs in upstream by rule, and tell who finds them",
		Long: `Mutate plants bugs in a copy of kube-scheduler's preemption, its filters and their queueing
hints, by rule: conditions negated, comparisons shifted, calls left out, constants off
by one, and so on. All of them cost one build: each is a switch that is read at run time.
Then each is looked for in three ways: by upstream's own tests of its package, by the
corpus, and by a campaign of --for. A mutant that crashes or hangs is found, too. For
mutants that drop a lock, or change when it is taken, tests and campaign are built with
the race detector besides.

Which mutants neither corpus nor campaign come by is found out first: nobody there can
find them. What is done is kept in --out; with --resume it goes on, and with a longer
--for it looks again for those that campaigns have not found. Mutants come in an
order that --seed draws, so that a part is a sample. With directories as arguments it
tells what is in them, together, and runs nothing.

It takes the go command, and the source of this program as working directory. The first
build takes minutes.

Exit status: 1 if corpus or campaign come by a mutant that neither kills, or nobody kills a
mutant of the model, and nobody has argued why; else 0.`,
		Example: `  preemptcheck mutate --sample 300
  preemptcheck mutate --out night --shard 1/4
  preemptcheck mutate night-1 night-2 -o markdown`,
	}
	set := cmd.Flags()
	set.BoolVar(&c.model, "model", false, "plant them in the model, not in upstream: its own tests take the place of upstream's")
	set.StringVar(&c.out, "out", "mutants", "directory of the results")
	set.BoolVar(&c.resume, "resume", false, "go on with what is in --out")
	set.StringVar(&c.shard, "shard", "", "look for a part of the mutants: 2/4 is the second of four")
	set.IntVar(&c.sample, "sample", 0, "how many mutants; 0 is all")
	flags.NotNegative(cmd, "sample", &c.sample)
	set.DurationVar(&c.options.For, "for", 20*time.Second, "how long each campaign lasts")
	set.Uint64Var(&c.options.Seed, "seed", 1, "draws the order of the mutants, and the clusters of campaigns")
	set.StringVar(&c.options.Flags, "fuzz-flags", "", "further flags of each campaign, as \"--contracts=16 --timelines=30\": what another share of them kills")
	flags.Gates(cmd, &c.gates)
	set.StringSliceVar(&c.columns, "columns", []string{string(mutants.Tests), string(mutants.Corpus), string(mutants.Campaign)}, "who looks for them")
	set.StringArrayVar(&c.only, "only", nil, "only mutants whose name begins with this, such as pkg/scheduler/backend/queue/nominator.go:57")
	flags.Workers(cmd, &c.workers)
	cmd.Flag("workers").Usage = "how many mutants to look for at once"
	terminal.OutputFlag(cmd, &c.output, markdown)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		logs, err := c.logs(cmd, args)
		if err != nil {
			return err
		}
		m, err := mutants.NewMatrix(logs)
		if err != nil {
			return err
		}
		if c.output == markdown {
			m.WriteMarkdown(cmd.OutOrStdout())
		} else if err := c.output.Print(cmd.OutOrStdout(), m, m.WriteText); err != nil {
			return err
		}
		return terminal.Status(m.Unexplained > 0, false)
	}
	return cmd
}

// logs are the results: those that the arguments name, or those that are made.
func (c *command) logs(cmd *cobra.Command, dirs []string) (logs []*mutants.Log, err error) {
	for _, dir := range dirs {
		l, err := mutants.ReadLog(dir)
		if err != nil {
			return nil, err
		}
		logs = append(logs, l)
	}
	if len(dirs) > 0 {
		return logs, c.leaveOut(cmd.Context(), logs)
	}
	l, err := c.run(cmd)
	if l == nil {
		return nil, err
	}
	return []*mutants.Log{l}, errors.Join(err, l.Close())
}

// leaveOut leaves out the results of what the rules make no mutant of any more. Whether they are of the model, the results tell.
func (c *command) leaveOut(ctx context.Context, logs []*mutants.Log) error {
	ofModel := slices.ContainsFunc(logs, func(l *mutants.Log) bool {
		return slices.ContainsFunc(l.Results, func(r *mutants.Result) bool { return r.OfModel() })
	})
	sites, err := mutants.Sites(ctx, ofModel)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, s := range sites {
		names[s.Name()] = true
	}
	left, all := 0, 0
	for _, l := range logs {
		all += len(l.Results)
		l.Begun.Mutants = len(sites)
		l.Results = slices.DeleteFunc(l.Results, func(r *mutants.Result) bool { return !names[r.Name()] })
		left += len(l.Results)
	}
	if left == 0 && all > 0 {
		return fmt.Errorf("of %s none is of a mutant of this source: another one was looked at", words.Plural(all, "result"))
	}
	return nil
}

// run looks for mutants.
func (c *command) run(cmd *cobra.Command) (*mutants.Log, error) {
	shard, err := record.ParseShard(c.shard)
	if err != nil {
		return nil, fmt.Errorf("--shard: %w", err)
	}
	var columns []mutants.Column
	for _, name := range c.columns {
		if !slices.Contains(mutants.Columns, mutants.Column(name)) {
			return nil, fmt.Errorf("--columns: %q is none of %v", name, mutants.Columns)
		}
		columns = append(columns, mutants.Column(name))
	}
	c.options.Gates, c.options.Workers = string(c.gates), 1
	switch there, err := mutants.ReadLog(c.out); {
	case err != nil && c.resume:
		return nil, fmt.Errorf("--resume: %w", err)
	case err == nil && !c.resume:
		return nil, fmt.Errorf("%s holds results already (%s): go on with --resume, or choose another --out", c.out, words.Plural(len(there.Results), "mutant"))
	}
	build := mutants.BuildUpstream
	if c.model {
		build = mutants.BuildModel
	}
	tree, err := build(cmd.Context(), cmd.ErrOrStderr(), slices.Contains(columns, mutants.Tests))
	if err != nil {
		return nil, err
	}
	chosen := c.chosen(tree.Sites, shard)
	if len(chosen) == 0 {
		return nil, errors.New("no mutant is left: see --only and --shard")
	}
	if err := tree.Race(cmd.Context(), cmd.ErrOrStderr(), chosen, columns); err != nil {
		return nil, err
	}
	r := &mutants.Runner{Tree: tree, Options: c.options}
	l, err := c.log(cmd, r, columns)
	if err != nil {
		return nil, err
	}
	return l, c.lookForAll(cmd, r, l, chosen)
}

// log begins results, or goes on with those that there are.
func (c *command) log(cmd *cobra.Command, r *mutants.Runner, columns []mutants.Column) (*mutants.Log, error) {
	if c.resume {
		l, err := mutants.ReadLog(c.out)
		if err != nil {
			return nil, fmt.Errorf("--resume: %w", err)
		}
		options := r.Options
		if options.For > l.Begun.Options.For {
			options.For = l.Begun.Options.For // what survived is looked for again
		}
		if l.Begun.Hash != r.Hash || l.Begun.Options != options || !slices.Equal(l.Begun.Columns, columns) {
			return nil, fmt.Errorf("%s was begun with other mutants, another program or other flags", c.out)
		}
		if l, err = mutants.Resume(c.out, r.For); err != nil {
			return nil, fmt.Errorf("--resume: %w", err)
		}
		r.Baseline = l.Begun.Baseline
		return l, nil
	}
	start := time.Now()
	reached, err := r.Measure(cmd.Context(), columns, func(what string) { fmt.Fprintf(cmd.ErrOrStderr(), "without a mutant: %s\n", what) })
	if err != nil {
		return nil, err
	}
	return mutants.Begin(c.out, mutants.Begun{Hash: r.Hash, Options: r.Options, Columns: columns, Mutants: len(r.Sites), Built: r.Built.Seconds(), Measured: time.Since(start).Seconds(),
		Baseline: r.Baseline, Reached: reached}, r.Sites)
}

// chosen are the mutants to look for, in their order.
func (c *command) chosen(sites []*plant.Site, shard record.Shard) (chosen []*plant.Site) {
	order := rand.New(rand.NewPCG(c.options.Seed, 0)).Perm(len(sites))
	for i, at := range order {
		s := sites[at]
		isWanted := len(c.only) == 0 || slices.ContainsFunc(c.only, func(begin string) bool { return strings.HasPrefix(s.Name(), begin) })
		if isWanted && i%shard.Of == shard.Index-1 && (c.sample == 0 || len(chosen) < c.sample) {
			chosen = append(chosen, s)
		}
	}
	return chosen
}

// lookForAll looks for mutants, several at once.
func (c *command) lookForAll(cmd *cobra.Command, r *mutants.Runner, l *mutants.Log, chosen []*plant.Site) error {
	argued, err := mutants.AllArgued()
	if err != nil {
		return err
	}
	done, again := map[string]bool{}, map[string]*mutants.Result{}
	for _, result := range l.Results {
		if result.Survived(r.For) && !argued[result.Name()].Equivalent {
			again[result.Name()] = result
			continue
		}
		done[result.Name()] = true
	}
	todo := slices.DeleteFunc(slices.Clone(chosen), func(s *plant.Site) bool { return done[s.Name()] })
	reached := map[mutants.Column]map[int]bool{}
	for column, ids := range l.Begun.Reached {
		reached[column] = map[int]bool{}
		for _, id := range ids {
			reached[column][id] = true
		}
	}
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.Finish()
	var mu sync.Mutex
	looked, killed := len(chosen)-len(todo), 0
	group, ctx := errgroup.WithContext(cmd.Context())
	group.SetLimit(c.workers)
	for _, s := range todo {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			result, err := lookFor(ctx, r, s, l.Begun.Columns, reached, again[s.Name()])
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name(), err)
			}
			mu.Lock()
			defer mu.Unlock()
			if result.KilledBy(mutants.Campaign) {
				killed++
			}
			looked++
			progress.Show(float64(looked)/float64(len(chosen)), func() string {
				return fmt.Sprintf("%d of %d mutants, %d killed by a campaign", looked, len(chosen), killed)
			})
			return l.Add(result)
		})
	}
	err = group.Wait()
	if cmd.Context().Err() != nil {
		return fmt.Errorf("interrupted after %d of %s: go on with --resume", looked, words.Plural(len(chosen), "mutant"))
	}
	return err
}

// lookFor looks for one mutant in all columns that come by it; with a campaign only, if an earlier one was shorter.
func lookFor(ctx context.Context, r *mutants.Runner, s *plant.Site, columns []mutants.Column, reached map[mutants.Column]map[int]bool, before *mutants.Result) (*mutants.Result, error) {
	result := &mutants.Result{Site: *s, Reached: map[mutants.Column]bool{}, Outcomes: map[mutants.Column]*mutants.Outcome{}}
	for _, c := range columns {
		if result.Reached[c] = reached[c][s.ID]; !result.Reached[c] {
			continue
		}
		if before != nil && c != mutants.Campaign {
			if o := before.Outcomes[c]; o != nil {
				result.Outcomes[c] = o
			}
			continue
		}
		o, err := r.Look(ctx, s, c)
		if err != nil {
			return nil, err
		}
		if o != nil {
			result.Outcomes[c] = o
		}
	}
	return result, nil
}
