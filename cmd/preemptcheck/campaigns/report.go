package campaigns

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/campaign/fleet"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/source"
	"github.com/preemptcheck/preemptcheck/internal/store/address"
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

// isMerged tells whether a directory or a bucket holds a campaign that is no fleet's any more.
func isMerged(cmd *cobra.Command, name string) (bool, error) {
	if !address.IsBucket(name) {
		return true, nil
	}
	s, err := source.OpenBucket(cmd, name)
	if err != nil {
		return false, err
	}
	defer s.Close()
	return s.Exists(cmd.Context(), record.StateFile)
}

// loadState reads what a campaign has done, from a directory or a bucket.
func loadState(cmd *cobra.Command, name string) (*record.State, error) {
	if !address.IsBucket(name) {
		return record.Load(name)
	}
	s, err := source.OpenBucket(cmd, name)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	data, err := s.Get(cmd.Context(), record.StateFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there is no campaign in it", name)
	}
	if err != nil {
		return nil, err
	}
	return record.Decode(data, address.Join(name, record.StateFile))
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

// reportFleet reports on the fleet that works by a bucket.
func reportFleet(cmd *cobra.Command, name string, o reportOptions) error {
	s, err := source.OpenBucket(cmd, name)
	if err != nil {
		return err
	}
	defer s.Close()
	st, err := fleet.Look(cmd.Context(), s, fleet.Silence)
	if err != nil {
		return err
	}
	if o.output == terminal.HTML || o.junit != "" {
		return fmt.Errorf("%s: the fleet is not merged yet: there is no page and no JUnit report of it", name)
	}
	if inWorkflow() {
		st = st.Public()
	}
	return o.output.Print(cmd.OutOrStdout(), st, st.WriteText)
}
