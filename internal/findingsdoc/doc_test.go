package findingsdoc

import (
	"context"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/upstreamtests"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/reference"
	"github.com/preemptcheck/preemptcheck/reference/inprocess"
	"github.com/preemptcheck/preemptcheck/reference/life"
	"github.com/preemptcheck/preemptcheck/reference/systems"
)

var update = flag.Bool("update", false, "write docs/findings anew")

const (
	folder    = "../../docs/findings"
	cases     = "../../corpus/cases"
	timelines = "../../corpus/timelines"
)

// written are the documents that there are, by their paths in the folder.
func written(t *testing.T) map[string][]byte {
	documents := map[string][]byte{}
	require.NoError(t, fs.WalkDir(os.DirFS(folder), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(folder, path))
		documents[path] = content
		return err
	}))
	return documents
}

func TestDocumentsAreUpToDate(t *testing.T) {
	system, err := systems.NewPool(inprocess.Version, 1)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	got, err := Render(context.Background(), slices.Concat(ledger.All(), ledger.Timelines()), system, cases, timelines)
	require.NoError(t, err)
	if *update {
		require.NoError(t, os.RemoveAll(folder))
		for name, content := range got {
			file := filepath.Join(folder, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			require.NoError(t, os.WriteFile(file, content, 0o644))
		}
	}
	want := written(t)
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name := range got {
		if diff := cmp.Diff(string(want[name]), string(got[name])); diff != "" {
			t.Errorf("%s/%s (-want +got; go test -update writes it anew):\n%s", folder, name, diff)
		}
	}
}

func TestEntryThatLacksSomething(t *testing.T) {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	for name, test := range map[string]struct {
		change func(e *ledger.Entry)
		want   string
	}{
		"no reason":     {func(e *ledger.Entry) { e.ID = "new" }, "finding new: the witness no longer shows it"},
		"another class": {func(e *ledger.Entry) { e.Class = ledger.Debatable }, "finding empty-selector: reasons/empty-selector.md does not begin with *Debatable"},
		"no witness":    {func(e *ledger.Entry) { e.Witness = "no-such-case" }, "no-such-case.yaml"},
		"wrong witness": {func(e *ledger.Entry) { e.Witness = "basic-preemption" }, "finding empty-selector: the witness no longer shows it"},
	} {
		t.Run(name, func(t *testing.T) {
			entry, ok := ledger.LookUp("empty-selector")
			require.True(t, ok)
			test.change(&entry)
			_, err := Render(context.Background(), []ledger.Entry{entry}, system, cases, timelines)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// A page of a finding that takes a timeline needs the timeline, a scheduler that can run it, and
// the finding in it.
func TestTimelineThatLacksSomething(t *testing.T) {
	system := life.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	for name, test := range map[string]struct {
		system reference.System
		change func(e *ledger.Entry)
		want   string
	}{
		"all is there":  {system, func(*ledger.Entry) {}, ""},
		"no timelines":  {system.System, func(*ledger.Entry) {}, "its timeline cannot be run with this scheduler"},
		"no witness":    {system, func(e *ledger.Entry) { e.Witness = "no-such-timeline" }, "no-such-timeline.yaml"},
		"wrong witness": {system, func(e *ledger.Entry) { e.Witness = "preempted-and-bound" }, "the witness no longer shows it"},
		"another class": {system, func(e *ledger.Entry) { e.Class = ledger.Debatable }, "does not begin with *Debatable"},
	} {
		t.Run(name, func(t *testing.T) {
			entry, ok := ledger.LookUp("gated-by-vain-preemption")
			require.True(t, ok)
			test.change(&entry)
			documents, err := Render(context.Background(), []ledger.Entry{entry}, test.system, cases, timelines)
			if test.want != "" {
				require.ErrorContains(t, err, test.want)
				return
			}
			require.NoError(t, err)
			require.Contains(t, string(documents[entry.ID+".md"]), "Why default/p waits: ")
			require.Contains(t, string(documents["README.md"]), "[gated-by-vain-preemption](gated-by-vain-preemption.md)")
		})
	}
}

// The queue counts a finding that is kept back, and no document tells more of it. Once
// there is an issue, it is a finding like any other.
func TestKeptBack(t *testing.T) {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	render := func(upstream string) (map[string][]byte, error) {
		entry, ok := ledger.LookUp("empty-selector")
		require.True(t, ok)
		entry.Class, entry.Upstream = ledger.Crash, upstream
		return Render(context.Background(), []ledger.Entry{entry}, system, cases, timelines)
	}
	documents, err := render("told the security contact")
	require.NoError(t, err)
	assert.Equal(t, []string{"README.md", "kept-back.md"}, slices.Sorted(maps.Keys(documents)))
	for _, document := range documents {
		assert.NotContains(t, string(document), "empty-selector")
	}
	assert.Contains(t, string(documents["kept-back.md"]), "| 1.21 | told the security contact |\n")
	for _, public := range []string{"kubernetes#141785", "fixed"} {
		documents, err = render(public)
		assert.ErrorContains(t, err, "does not begin with *Crash") // its page is asked for
		assert.Contains(t, string(documents["README.md"]), "| [empty-selector](empty-selector.md) | crash |")
		assert.Contains(t, string(documents["kept-back.md"]), "None is kept back.")
	}
}

// No page of the project names a finding that is kept back, or the place of its code.
func TestNothingElseTellsOfKeptBack(t *testing.T) {
	var pages []string
	require.NoError(t, filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".md") {
			pages = append(pages, path)
		}
		return err
	}))
	require.Greater(t, len(pages), 60)
	for _, e := range slices.Concat(ledger.Linked(), ledger.Timelines()) {
		if !e.KeptBack() {
			continue
		}
		place, _, _ := strings.Cut(e.Where, "@")
		for _, page := range pages {
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			for _, secret := range []string{e.ID, e.Title, e.Consequence, place} {
				assert.NotContains(t, string(text), secret, page)
			}
		}
	}
}

// Every reason belongs to a finding that the linked release has.
func TestReasons(t *testing.T) {
	files, err := reasons.ReadDir("reasons")
	require.NoError(t, err)
	public := slices.DeleteFunc(slices.Concat(ledger.Linked(), ledger.Timelines()), func(e ledger.Entry) bool {
		return e.KeptBack() || !release.Linked.In(e.Releases)
	})
	assert.Len(t, files, len(public))
	for _, e := range public {
		_, err := reason(e)
		assert.NoError(t, err)
	}
}

// The manifests of a report, read as a dump of the cluster that they make, are
// admitted as the API server would, and show the finding and no other.
func TestReportedClusters(t *testing.T) {
	system := inprocess.New()
	t.Cleanup(func() { assert.NoError(t, system.Close()) })
	checker := properties.Checker{System: system, Properties: invariant.All()}
	for finding := range upstreamtests.Mends {
		t.Run(finding, func(t *testing.T) {
			entry, ok := ledger.LookUp(finding)
			require.True(t, ok)
			assert.Equal(t, ledger.Defect, entry.Class)
			witness, err := load(filepath.Join(cases, entry.Witness+".yaml"))
			require.NoError(t, err)
			manifests, err := reports.ReadFile("reports/" + finding + ".yaml")
			require.NoError(t, err)
			dump, err := corpus.Read(strings.NewReader(string(manifests)), finding)
			require.NoError(t, err)
			require.Len(t, dump.Cases, 1)
			c := dump.Cases[0].Cluster
			require.Equal(t, "default/p", model.Key(c.Preemptor))
			c.Settings = witness.Cluster.Settings
			result, err := checker.Check(context.Background(), c)
			require.NoError(t, err)
			require.Nil(t, result.Unmodelled)
			require.NotEmpty(t, result.Findings)
			for _, f := range result.Findings {
				assert.Equal(t, []string{finding}, f.Known, "%v", f)
			}
		})
	}
}
