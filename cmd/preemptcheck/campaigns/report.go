package campaigns

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/flags"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
)

// Report makes the command that tells about a campaign, or a fleet.
func Report() *cobra.Command {
	var o reportOptions
	cmd := &cobra.Command{
		Use:   "report DIR|BUCKET",
		Short: "Tell what a campaign has tried and found, also while it runs",
		Long: `Report tells about the campaign in a directory, which "preemptcheck fuzz" or
"preemptcheck merge" wrote, as these do at their end. The verdict is the first of

  FOUND         something that no known finding explains
  BROKEN        a scheduler that lies was not found out, so nothing can be said
  INCONCLUSIVE  some of the scheduler's decisions were exercised too rarely
  PASSED        none of these

Of a bucket in which a fleet of workers is not merged yet, it tells how fast all are,
what they came upon, and who is silent.

In a GitHub workflow it annotates the run, and adds to its summary. What ends there,
or in --junit, tells of a finding that may let others end or starve the scheduler only
that there is one, and where it lies: it goes to the Kubernetes security contact first.

Exit status: 1 if something new was found; else 2 if the campaign is inconclusive
or broken; else 0.`,
		Example: `  preemptcheck report nightly
  preemptcheck report nightly -o json
  preemptcheck report nightly --junit report.xml
  preemptcheck report s3://nights/today`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if merged, err := isMerged(cmd, args[0]); err != nil {
				return err
			} else if !merged {
				return reportFleet(cmd, args[0], o)
			}
			s, err := loadState(cmd, args[0])
			if err != nil {
				return err
			}
			return writeReport(cmd, args[0], s, o)
		},
	}
	reportFlags(cmd, &o)
	return cmd
}

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

// reportOptions say where the report of a campaign goes.
type reportOptions struct {
	output terminal.Format
	junit  string
}

func reportFlags(cmd *cobra.Command, o *reportOptions) {
	terminal.OutputFlag(cmd, &o.output, terminal.HTML)
	cmd.Flags().StringVar(&o.junit, "junit", "", "file to write the report to as JUnit XML as well")
}

// inWorkflow tells whether what is printed ends in the log of a GitHub workflow, which
// everybody may read.
func inWorkflow() bool { return os.Getenv("GITHUB_ACTIONS") == "true" }

// writeReport tells about the campaign in dir wherever the options, or a GitHub
// workflow, ask for it. The error is also the exit status that the verdict asks
// for.
func writeReport(cmd *cobra.Command, dir string, s *record.State, o reportOptions) error {
	r := s.Report(dir)
	isPublic := inWorkflow()
	public := r.Public(dir)
	if isPublic {
		r = public
	}
	write := func() error { return o.output.Print(cmd.OutOrStdout(), r, r.WriteText) }
	if o.output == terminal.HTML {
		write = func() error { return reports.Campaign(cmd.OutOrStdout(), r, s) }
	}
	if err := write(); err != nil {
		return err
	}
	if o.junit != "" {
		if err := public.WriteJUnit(o.junit); err != nil {
			return fmt.Errorf("--junit: %w", err)
		}
	}
	if isPublic {
		w := cmd.OutOrStdout()
		if o.output != terminal.Text {
			w = cmd.ErrOrStderr() // standard output is for a program to read
		}
		r.WriteAnnotations(w)
		if file := os.Getenv("GITHUB_STEP_SUMMARY"); file != "" {
			if err := r.AppendSummary(file); err != nil {
				return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
			}
		}
	}
	return terminal.Status(r.Verdict == record.Found, r.Verdict != record.Passed)
}
