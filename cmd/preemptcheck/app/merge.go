package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"
	"github.com/spf13/cobra"

	"github.com/preemptcheck/preemptcheck/internal/campaign"
	"github.com/preemptcheck/preemptcheck/internal/campaign/fleet"
	"github.com/preemptcheck/preemptcheck/internal/campaign/record"
	"github.com/preemptcheck/preemptcheck/internal/page/reports"
	"github.com/preemptcheck/preemptcheck/internal/store"
	"github.com/preemptcheck/preemptcheck/internal/terminal"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// merging is what "merge" is to do.
type merging struct {
	out      string
	wait     int
	patience time.Duration
	workers  int
	exitZero bool
	push     push
	reported reportOptions
}

func (m *merging) run(cmd *cobra.Command, names []string) error {
	err := m.all(cmd, names)
	if m.exitZero && errors.As(err, new(terminal.Exit)) {
		return nil
	}
	return err
}

func (m *merging) all(cmd *cobra.Command, names []string) (err error) {
	dir, upload := m.out, func() error { return nil }
	if store.IsBucket(m.out) {
		into, err := openStore(cmd, m.out)
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		defer into.Close()
		if is, err := into.Exists(cmd.Context(), record.StateFile); err != nil {
			return err
		} else if is {
			return m.again(cmd, into, names)
		}
		temp, err := os.MkdirTemp("", "merged-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		dir = filepath.Join(temp, "merged")
		upload = func() error { return into.Upload(cmd.Context(), dir, record.StateFile) }
	}
	s, err := m.merged(cmd, names, dir)
	if err != nil {
		return err
	}
	if err := upload(); err != nil {
		return err
	}
	if err := m.push.cases(cmd, dir, s); err != nil {
		return fmt.Errorf("--push: %w", err)
	}
	return writeReport(cmd, dir, s, m.reported)
}

// again reports on what is merged in a bucket already, if it is the same: whoever merged it may have been killed before it could say so.
func (m *merging) again(cmd *cobra.Command, into *store.Store, names []string) error {
	dir, done, err := download(cmd.Context(), into, "")
	if err != nil {
		return err
	}
	defer done()
	s, err := record.Load(dir)
	if err != nil {
		return err
	}
	if len(names) == 1 && store.IsBucket(names[0]) && len(s.Parts) == 1 {
		from, err := openStore(cmd, names[0])
		if err != nil {
			return err
		}
		defer from.Close()
		if s.Parts[0].Dir == from.URL {
			terminal.Note(cmd.ErrOrStderr(), m.out+" is merged already")
			return writeReport(cmd, strings.TrimSuffix(into.URL, "/"), s, m.reported)
		}
	}
	return fmt.Errorf("--out: %s is there already", m.out)
}

// merged unites what has the names in a directory.
func (m *merging) merged(cmd *cobra.Command, names []string, into string) (*record.State, error) {
	var dirs []string
	for _, name := range names {
		if !store.IsBucket(name) {
			dirs = append(dirs, name)
			continue
		}
		s, err := openStore(cmd, name)
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
		dir, done, err := download(cmd.Context(), s, "")
		if err != nil {
			return nil, err
		}
		defer done()
		dirs = append(dirs, dir)
	}
	if m.wait > 0 {
		return nil, errors.New("--wait: there is no fleet to wait for")
	}
	return record.Merge(into, dirs)
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
	o := campaign.Options{Dir: dir, Resume: begun, Cases: r.Clusters, Workers: m.workers, Known: r.Known}
	config := plan.Config
	if err := equip(cmd, &config, &o); err != nil {
		return nil, err
	}
	defer o.Checker.System.Close()
	config.Version, config.Command = version(), program()
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
	return state, errors.Join(state.Save(dir), writeReports(dir, state))
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

// writeReports writes a report in all its forms.
func writeReports(dir string, s *record.State) error {
	r := s.Report(dir)
	text, page := &strings.Builder{}, &strings.Builder{}
	r.WriteText(text)
	if err := reports.Campaign(page, r, s); err != nil {
		return err
	}
	return errors.Join(
		atomicwriter.WriteFile(filepath.Join(dir, "report.txt"), []byte(text.String()), 0o644),
		atomicwriter.WriteFile(filepath.Join(dir, "report.html"), []byte(page.String()), 0o644),
		r.Public(dir).WriteJUnit(filepath.Join(dir, "junit.xml")))
}

// isCase tells whether a name is that of a case.
func isCase(name string) bool {
	name, _, _ = strings.Cut(name, "?")
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// inBucket divides the address of an object.
func inBucket(address string) (bucket, key string) {
	address, options, has := strings.Cut(address, "?")
	i := strings.LastIndex(address, "/")
	bucket, key = address[:i], address[i+1:]
	if has {
		bucket += "?" + options
	}
	return bucket, key
}

// download copies the state and the cases of a bucket, or only one of them, into a directory, until done is called.
func download(ctx context.Context, s *store.Store, only string) (dir string, done func(), err error) {
	temp, err := os.MkdirTemp("", "bucket-*")
	if err != nil {
		return "", nil, err
	}
	done = func() { os.RemoveAll(temp) }
	_, address, _ := strings.Cut(s.URL, "://")
	dir = filepath.Join(temp, filepath.FromSlash(path.Clean("/"+address)))
	err = os.MkdirAll(dir, 0o777)
	found := 0
	if err == nil {
		err = s.Download(ctx, dir, func(key string) bool {
			wanted := key == only || only == "" && (key == record.StateFile || isCase(key))
			if wanted {
				found++
			}
			return wanted
		})
	}
	if err == nil && found == 0 {
		err = fmt.Errorf("%s: there are neither cases nor a campaign in it", strings.TrimSuffix(s.URL+"/"+only, "/"))
	}
	if err != nil {
		done()
		return "", nil, err
	}
	return dir, done, nil
}

// fetched are the paths with each bucket replaced by a directory that has what is in it, until done is called.
func fetched(cmd *cobra.Command, paths []string) (local []string, done func(), err error) {
	var all []func()
	done = func() {
		for _, f := range all {
			f()
		}
	}
	for _, p := range paths {
		if store.IsBucket(p) {
			bucket, file := p, ""
			if isCase(p) { // one object
				bucket, file = inBucket(p)
			}
			s, err := openStore(cmd, bucket)
			if err != nil {
				done()
				return nil, nil, err
			}
			defer s.Close()
			dir, remove, err := download(cmd.Context(), s, file)
			if err != nil {
				done()
				return nil, nil, err
			}
			all, p = append(all, remove), filepath.Join(dir, filepath.FromSlash(file))
		}
		local = append(local, p)
	}
	return local, done, nil
}

// reportBucket reports on what is merged in a bucket, or on the fleet that works there.
func reportBucket(cmd *cobra.Command, name string, o reportOptions) error {
	s, err := openStore(cmd, name)
	if err != nil {
		return err
	}
	defer s.Close()
	if is, err := s.Exists(cmd.Context(), record.StateFile); err != nil {
		return err
	} else if !is {
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
	dir, done, err := download(cmd.Context(), s, "")
	if err != nil {
		return err
	}
	defer done()
	state, err := record.Load(dir)
	if err != nil {
		return err
	}
	return writeReport(cmd, strings.TrimSuffix(s.URL, "/"), state, o)
}
