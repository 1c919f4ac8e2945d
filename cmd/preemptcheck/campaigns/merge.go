package campaigns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"
	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/cmd/preemptcheck/program"
	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/fleet"
	"github.com/preemptcheck/preemptcheck/internal/campaign/push"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// Merge makes the command that unites campaigns, or what a fleet has found.
func Merge() *cobra.Command {
	m := &merging{}
	cmd := &cobra.Command{
		Use:   "merge DIR|BUCKET… --out DIR|BUCKET",
		Short: "Unite campaigns that checked different clusters, or the work of a fleet",
		Long: `Merge unites campaigns of "preemptcheck fuzz", such as the shards of one seed, in
a new directory, and reports on all of them. What was found by several is one
finding there. The directories are left as they are.

It refuses campaigns that have clusters in common, which would be counted twice, or
that were run by different programs.

Of a bucket by which a fleet has shared one campaign, it adds up the results in the
order of the clusters, and minimises what was found, once: the result is that of one
machine which checks as many clusters. What lost workers have left it checks itself.
With --wait it waits until so many indexes have done their work. Into --out it also
writes report.txt, report.html and junit.xml. It goes on where it was if it is killed
and called again with the same directory.

With --push the new cases become a branch of a git repository, by "git push". A
finding that goes to the Kubernetes security contact first is left out.

Exit status: as of fuzz.`,
		Example: `  preemptcheck merge shard-1 shard-2 --out merged
  preemptcheck merge s3://nights/today --wait 500 --out s3://nights/today/merged
  preemptcheck merge s3://nights/today --out merged --push git@example.com:us/cases.git`,
		Args: cobra.MinimumNArgs(1),
	}
	set := cmd.Flags()
	set.StringVar(&m.out, "out", "", "directory, or bucket, to unite them in; it must not be there yet")
	cmd.MarkFlagRequired("out")
	set.IntVar(&m.wait, "wait", 0, "of a fleet: wait for so many indexes to end")
	flags.NotNegative(cmd, "wait", &m.wait)
	set.DurationVar(&m.patience, "patience", 15*time.Minute, "of a fleet: how long nobody may be at work before --wait waits no longer")
	flags.NotNegative(cmd, "patience", &m.patience)
	flags.Workers(cmd, &m.workers)
	set.BoolVar(&m.exitZero, "exit-zero", false, "exit with 0 whatever was found: a finding is no failure")
	set.StringVar(&m.push.Repository, "push", "", "git repository to push the new cases to")
	set.StringVar(&m.push.Branch, "push-branch", "", "branch to push them as (default preemptcheck/seed-SEED)")
	set.StringVar(&m.push.Dir, "push-dir", ".", "directory for them in the repository")
	reportFlags(cmd, &m.reported)
	cmd.RunE = func(cmd *cobra.Command, names []string) error { return m.run(cmd, names) }
	return cmd
}

// merging is what "merge" is to do.
type merging struct {
	out      string
	wait     int
	patience time.Duration
	workers  int
	exitZero bool
	push     push.Target
	reported reportOptions
}

func (m *merging) run(cmd *cobra.Command, names []string) error {
	err := m.all(cmd, names)
	if m.exitZero && errors.As(err, new(terminal.Exit)) {
		return nil
	}
	return err
}

func (m *merging) all(cmd *cobra.Command, names []string) error {
	s, err := m.into(cmd, names)
	if err != nil {
		return err
	}
	if m.push.Repository != "" {
		done, err := m.push.Cases(cmd.Context(), s)
		if err != nil {
			return fmt.Errorf("--push: %w", err)
		}
		terminal.Note(cmd.ErrOrStderr(), done)
	}
	return writeReport(cmd, m.out, s, m.reported)
}

// into unites what has the names in --out.
func (m *merging) into(cmd *cobra.Command, names []string) (*record.State, error) {
	if !address.IsBucket(m.out) {
		return m.merged(cmd, names, m.out)
	}
	out, err := source.OpenBucket(cmd, m.out)
	if err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	defer out.Close()
	if is, err := out.Exists(cmd.Context(), record.StateFile); err != nil {
		return nil, err
	} else if is {
		return m.again(cmd, names)
	}
	temp, err := os.MkdirTemp("", "merged-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	dir := filepath.Join(temp, "merged")
	s, err := m.merged(cmd, names, dir)
	if err != nil {
		return nil, err
	}
	return s, out.Upload(cmd.Context(), dir, record.StateFile)
}

// again is what is in --out already, if it is the fleet's of that name, as it is by now: whoever merged it may have been killed before it could
// say so.
func (m *merging) again(cmd *cobra.Command, names []string) (*record.State, error) {
	s, err := loadState(cmd, m.out)
	if err != nil {
		return nil, err
	}
	if len(names) == 1 && address.IsBucket(names[0]) && len(s.Parts) == 1 {
		from, err := source.OpenBucket(cmd, names[0])
		if err != nil {
			return nil, err
		}
		defer from.Close()
		if s.Parts[0].Dir == from.Name() {
			r, err := fleet.Read(cmd.Context(), from, fleet.Silence)
			if err != nil {
				return nil, err
			}
			if r.Clusters == s.Next {
				terminal.Note(cmd.ErrOrStderr(), m.out+" is merged already")
				return s, nil
			}
			return nil, fmt.Errorf("--out: %s is there already, of %d clusters: by now there are %d", m.out, s.Next, r.Clusters)
		}
	}
	return nil, fmt.Errorf("--out: %s is there already", m.out)
}

// merged unites what has the names in a directory.
func (m *merging) merged(cmd *cobra.Command, names []string, into string) (*record.State, error) {
	for _, name := range names {
		if !address.IsBucket(name) {
			continue
		}
		s, err := source.OpenBucket(cmd, name)
		if err != nil {
			return nil, err
		}
		defer s.Close()
		switch isFleet, err := fleet.IsFleet(cmd.Context(), s); {
		case err != nil:
			return nil, err
		case isFleet && len(names) > 1:
			return nil, fmt.Errorf("%s: merge the fleet alone, then what comes out with others", name)
		case isFleet, m.wait > 0 && len(names) == 1: // else the first worker begins it
			return m.fleet(cmd, s, into)
		}
	}
	if m.wait > 0 {
		return nil, errors.New("--wait: there is no fleet to wait for")
	}
	return record.Merge(into, names, func(name string) (*record.State, error) { return loadState(cmd, name) })
}

// fleet adds up and minimises what a fleet has found.
func (m *merging) fleet(cmd *cobra.Command, s *store.Store, dir string) (*record.State, error) {
	progress := terminal.NewProgress(cmd.ErrOrStderr())
	defer progress.Finish()
	r, err := m.await(cmd, s, progress)
	if err != nil {
		return nil, err
	}
	plan := r.Plan()
	there, err := record.Load(dir)
	begun := err == nil
	if begun && len(there.Parts) > 0 {
		return nil, fmt.Errorf("%s is there already", dir)
	}
	o := campaign.Options{Dir: dir, Resume: begun, Cases: r.Clusters, Workers: m.workers, Known: r.Known, MinimiseFor: campaign.MinimiseFor}
	config := plan.Config
	if err := equip(cmd, &config, &o); err != nil {
		return nil, err
	}
	defer o.Checker.System.Close()
	config.Version, config.Command = program.Version(), program.Command()
	if !config.Same(plan.Config) {
		return nil, fmt.Errorf("%s was not checked by this program:\nthere: %+v\nhere:  %+v", s.URL, plan.Config, config)
	}
	if r.Missing > 0 {
		progress.Finish()
		terminal.Note(cmd.ErrOrStderr(), fmt.Sprintf("%d of %d clusters have no result: they are checked here", r.Missing, r.Clusters))
		progress = terminal.NewProgress(cmd.ErrOrStderr())
	}
	o.Progress = func(s *record.State) { progress.Show(float64(s.Next)/float64(max(r.Clusters, 1)), s.Summary) }
	state, err := campaign.Run(cmd.Context(), config, o)
	if err != nil {
		return nil, err
	}
	if state.Next < r.Clusters {
		return nil, fmt.Errorf("interrupted after %s: call it again to go on", words.Plural(int(state.Next), "cluster"))
	}
	r.Conclude(state)
	return state, errors.Join(state.Save(dir), m.writeReports(dir, state))
}

// await reads the results of a fleet when those have ended who are waited for, and nobody is at work.
func (m *merging) await(cmd *cobra.Command, s *store.Store, progress *terminal.Progress) (*fleet.Results, error) {
	quiet := time.Now() // since when nobody was at work
	for {
		ended, working, err := m.look(cmd.Context(), s)
		if err != nil {
			return nil, err
		}
		if working > 0 {
			quiet = time.Now()
		}
		late := time.Since(quiet) > m.patience
		if ended >= m.wait || late {
			r, err := fleet.Read(cmd.Context(), s, fleet.Silence)
			if m.wait == 0 || !errors.As(err, new(*fleet.AtWork)) {
				if err == nil && ended < m.wait {
					terminal.Note(cmd.ErrOrStderr(), fmt.Sprintf("nobody has been at work for %s: what there is is merged", m.patience))
				}
				return r, err
			}
		}
		progress.Show(min(1, float64(ended)/float64(m.wait)), func() string { return fmt.Sprintf("%d of %d indexes ended", ended, m.wait) })
		select {
		case <-time.After(min(fleet.Pulse/2, m.patience)):
		case <-cmd.Context().Done():
			return nil, cmd.Context().Err()
		}
	}
}

// look counts the indexes that have ended, and the workers that are at work.
func (m *merging) look(ctx context.Context, s *store.Store) (ended, working int, err error) {
	if m.wait == 0 {
		return 0, 0, nil
	}
	st, err := fleet.Look(ctx, s, fleet.Silence)
	if errors.Is(err, fs.ErrNotExist) { // the first worker begins it
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	return st.IndexesDone(), st.Working, nil
}

// writeReports writes into a directory, which becomes --out, a report in all its forms.
func (m *merging) writeReports(dir string, s *record.State) error {
	r := s.Report(m.out)
	text, page := &strings.Builder{}, &strings.Builder{}
	r.WriteText(text)
	if err := reports.Campaign(page, r, s); err != nil {
		return err
	}
	return errors.Join(
		atomicwriter.WriteFile(filepath.Join(dir, "report.txt"), []byte(text.String()), 0o644),
		atomicwriter.WriteFile(filepath.Join(dir, "report.html"), []byte(page.String()), 0o644),
		r.Public(m.out).WriteJUnit(filepath.Join(dir, "junit.xml")))
}
