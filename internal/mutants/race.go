package mutants

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/harness"
	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
)

// ByRace is how a mutant was killed in which the race detector tells of two goroutines that do not wait for each other.
const ByRace = "race"

// Raced is what was built with the race detector. Only mutants that drop locks, or change when one is taken, are looked for with it:
// nothing else tells a lock from none but two goroutines at one instant.
type Raced struct {
	Binary string
	Tests  map[string]Test
}

// isRaced tells whether a column looks for a mutant with the race detector. The corpus does not: it checks one case at a time, and in
// minutes.
func isRaced(s *plant.Site, c Column) bool {
	return (s.Operator == plant.DropLock || s.Guards) && c != Corpus
}

// parallel is the file that configures a scheduler that looks at several nodes at once, where most clusters ask for one at a time.
const parallel = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nparallelism: 16\n"

// Race builds what it takes to look for those of these mutants that are about locks. It takes minutes the first time.
func (t *Tree) Race(ctx context.Context, log io.Writer, sites []*plant.Site, columns []Column) (err error) {
	var dirs []string
	for _, s := range sites {
		if isRaced(s, Campaign) && !slices.Contains(dirs, path.Dir(s.File)) {
			dirs = append(dirs, path.Dir(s.File))
		}
	}
	if len(dirs) == 0 || t.source == nil {
		return nil
	}
	t.Raced = &Raced{Tests: map[string]Test{}}
	if slices.Contains(columns, Campaign) {
		fmt.Fprintln(log, "with the race detector, for mutants of locks:")
		if t.Raced.Binary, err = harness.Build(ctx, t.source.Dir, log, "-race"); err != nil {
			return err
		}
	}
	for _, dir := range dirs {
		test, ok := t.Tests[dir]
		if !ok {
			continue
		}
		fmt.Fprintf(log, "building the tests of %s with the race detector\n", dir)
		test.Binary = filepath.Join(test.Dir, "preemptcheck-mutants-race.test")
		if err := t.source.BuildTest(ctx, path.Join(kubernetes, dir), test.Binary, "-race"); err != nil {
			return err
		}
		t.Raced.Tests[dir] = test
	}
	return nil
}

// workspace makes a directory for what a command writes, with the configuration that campaigns with the race detector read.
func workspace() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "mutants-"); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "parallel.yaml"), []byte(parallel), 0o600)
}

// reports are where the race detector writes what it found, below a directory: a process ends with the first one.
func reports(temp string) string {
	return "GORACE=halt_on_error=1 log_path=" + filepath.Join(temp, "race")
}

// race is the race that was reported below a directory, in a line and as the report tells it; both are "" if none was. It is a mutant's if
// it is in its function.
func race(temp string, of *plant.Site) (line, report string, here bool, err error) {
	files, err := filepath.Glob(filepath.Join(temp, "race.*"))
	if err != nil || len(files) == 0 {
		return "", "", false, err
	}
	told, err := os.ReadFile(files[0])
	if err != nil {
		return "", "", false, err
	}
	report = string(told)
	name := of.Func[strings.LastIndex(of.Func, ".")+1:]
	at := regexp.MustCompile(`(?m)^  k8s\.io/kubernetes/` + regexp.QuoteMeta(path.Dir(of.File)) + `\.(\S+\.)?` + regexp.QuoteMeta(name) + `(\.func[0-9.]+)?\(\)$`)
	if at.Match(told) {
		return "data race in " + of.Func, report, true, nil
	}
	return firstOf(strings.ReplaceAll(report, "=", ""), "k8s.io/kubernetes/", "WARNING:"), report, false, nil
}
