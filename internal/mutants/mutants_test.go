package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/internal/golden"
	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
)

// What is argued about are mutants of the upstream that is linked, and of the model; and most of both can be planted.
func TestUpstream(t *testing.T) {
	names, functions := map[string]bool{}, map[string]bool{}
	for _, ofModel := range []bool{false, true} {
		sites, err := Sites(t.Context(), ofModel)
		require.NoError(t, err)
		require.Greater(t, len(sites), 3500)
		for i, s := range sites {
			require.False(t, names[s.Name()], s.Name())
			names[s.Name()], functions[s.File+" "+s.Func] = true, true
			require.True(t, i == 0 || s.ID > sites[i-1].ID)
		}
	}
	all, err := AllArgued()
	require.NoError(t, err)
	for name := range all {
		require.True(t, names[name] || functions[name], name)
	}
}

// A directory of results goes on after a process was killed while it wrote.
func TestLogSurvives(t *testing.T) {
	dir := t.TempDir()
	l, err := Begin(dir, Begun{Hash: "h", Mutants: 2, Reached: map[Column][]int{Corpus: {1}}}, []*plant.Site{{ID: 1, File: "f.go", Func: "a"}, {ID: 2, File: "f.go", Func: "a"}})
	require.NoError(t, err)
	one := &Result{Site: plant.Site{ID: 1, File: "f.go", Operator: plant.Drop}, Reached: map[Column]bool{Corpus: true}, Outcomes: map[Column]*Outcome{Corpus: {Killed: ByFinding, Seconds: 2}}}
	require.NoError(t, l.Add(one))
	require.NoError(t, l.Close())
	require.Equal(t, []Function{{File: "f.go", Func: "a", Mutants: 2, Unreached: 1}}, unreachedOf(t, dir))
	name := filepath.Join(dir, resultsFile)
	whole, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, append(whole, whole[:20]...), 0o600))
	l, err = Resume(dir, 0)
	require.NoError(t, err)
	require.Equal(t, []*Result{one}, l.Results)
	two := &Result{Site: plant.Site{ID: 2, File: "f.go", Operator: plant.Key}}
	require.NoError(t, l.Add(two))
	require.NoError(t, l.Close())
	l, err = ReadLog(dir)
	require.NoError(t, err)
	require.Len(t, l.Results, 2)
	_, err = ReadLog(t.TempDir())
	require.ErrorContains(t, err, "there are no results in it")
	require.NoError(t, os.WriteFile(name, []byte("{\n"), 0o600))
	_, err = ReadLog(dir)
	require.ErrorContains(t, err, "results.jsonl: line 1: ")
}

// What a campaign has not found is looked for again by a longer one, whose result takes the place of the other.
func TestLongerCampaign(t *testing.T) {
	dir := t.TempDir()
	begun := Begun{Hash: "h", Options: Options{For: time.Minute, Seed: 5}, Mutants: 3}
	l, err := Begin(dir, begun, nil)
	require.NoError(t, err)
	result := func(id int, o *Outcome) *Result {
		return &Result{Site: plant.Site{ID: id, File: "f.go", Line: id, Operator: plant.Drop}, Outcomes: map[Column]*Outcome{Campaign: o}}
	}
	for _, r := range []*Result{result(1, &Outcome{Seconds: 60.2}), result(2, &Outcome{Killed: ByFinding, Seconds: 2}), result(3, &Outcome{Seconds: 60.1})} {
		require.NoError(t, l.Add(r))
		require.False(t, r.Survived(time.Minute))
		require.Equal(t, r.ID != 2, r.Survived(3*time.Minute))
	}
	require.NoError(t, l.Close())
	l, err = Resume(dir, 3*time.Minute)
	require.NoError(t, err)
	require.NoError(t, l.Add(result(3, &Outcome{Killed: ByFinding, Seconds: 130})))
	require.NoError(t, l.Close())
	l, err = Resume(dir, time.Second)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	begun.Options.For = 3 * time.Minute
	require.Equal(t, begun.Options, l.Begun.Options)
	require.Len(t, l.Results, 3)
	require.True(t, l.Results[0].Survived(3*time.Minute))
	require.True(t, l.Results[2].KilledBy(Campaign))
}

// unreachedOf is what a directory tells of functions.
func unreachedOf(t *testing.T, dir string) []Function {
	l, err := ReadLog(dir)
	require.NoError(t, err)
	return l.Begun.Functions
}

// The counts of the matrix.
func TestMatrix(t *testing.T) {
	result := func(id int, op plant.Operator, reached []Column, killed map[Column]string) *Result {
		r := &Result{Site: plant.Site{ID: id, File: "pkg/scheduler/a.go", Line: id, Operator: op, Func: "f", Source: "a || b", Is: "a && b"}, Reached: map[Column]bool{}, Outcomes: map[Column]*Outcome{}}
		for _, c := range reached {
			r.Reached[c] = true
			r.Outcomes[c] = &Outcome{Killed: killed[c], Seconds: float64(id), CPUSeconds: 1}
		}
		return r
	}
	logs := []*Log{
		{Results: []*Result{result(1, plant.Drop, Columns, map[Column]string{Tests: ByFinding, Corpus: ByFinding, Campaign: ByCrash}), result(2, plant.Drop, []Column{Tests}, map[Column]string{Tests: ByHang})}},
		{Results: []*Result{result(1, plant.Drop, Columns, nil), result(3, plant.Junction, Columns, map[Column]string{Tests: ByFinding}), result(4, plant.Junction, Columns, map[Column]string{Campaign: ByFinding})}},
	}
	logs[0].Begun.Columns, logs[0].Begun.Mutants = Columns, 18
	logs[0].Begun.Functions = []Function{{File: "pkg/scheduler/a.go", Func: "f", Mutants: 9, Unreached: 5}, {File: "pkg/scheduler/a.go", Func: "g", Mutants: 9, Unreached: 4}}
	m, err := NewMatrix(logs)
	require.NoError(t, err)
	require.Equal(t, []string{"all", "4", "1", "0", "2 (66 %)", "1 (33 %)", "2 (66 %)", "4.0", "4.0"}, m.cells(&m.All))
	require.Len(t, m.Survivors, 1)
	require.Equal(t, 1, m.Unexplained, "the corpus and the campaign come by it, and only the tests kill it")
	require.Equal(t, 3, m.All.ByTests)
	require.Len(t, m.OnlyTests, 2)
	var text, page strings.Builder
	m.WriteText(&text)
	m.WriteMarkdown(&page)
	golden.Compare(t, "testdata/matrix.golden", text.String()+"\n"+page.String())
	logs[1].Begun.Hash = "other"
	_, err = NewMatrix(logs)
	require.ErrorContains(t, err, "the results are of different mutants")
}

// Of the model it is told whom nobody kills, whoever comes by.
func TestMatrixOfTheModel(t *testing.T) {
	result := func(id int, by ...Column) *Result {
		r := &Result{Site: plant.Site{ID: id, File: "model/a.go", Line: id, Operator: plant.Drop, Func: "f", Source: "a", Is: "nothing"}, Reached: map[Column]bool{}, Outcomes: map[Column]*Outcome{}}
		for _, c := range by {
			r.Reached[c], r.Outcomes[c] = true, &Outcome{Killed: ByFinding}
		}
		return r
	}
	survivor := result(3, Tests)
	survivor.Reached[Campaign], survivor.Outcomes[Campaign] = true, &Outcome{}
	allowed := &Result{Site: plant.Site{ID: 4, File: "model/device/capacity.go", Line: 18, Column: 78, Operator: plant.Constant}, Reached: map[Column]bool{Corpus: true}, Outcomes: map[Column]*Outcome{Corpus: {}}}
	m, err := NewMatrix([]*Log{{Begun: Begun{Columns: Columns}, Results: []*Result{result(1, Campaign), result(2), survivor, allowed}}})
	require.NoError(t, err)
	require.Len(t, m.Uncaught, 1)
	require.Equal(t, 1, m.All.Allowed)
	require.Equal(t, 2, m.All.Left())
	var page strings.Builder
	m.WriteMarkdown(&page)
	require.Contains(t, page.String(), "| all | 4 | 1 | 0 | 1 | 1 (50 %)")
	require.Contains(t, page.String(), "Of the 3 that are neither equivalent nor allowed, 2 (66 %) are killed by somebody")
	_, others, _ := strings.Cut(page.String(), "## Caught by others")
	require.Contains(t, others, "a.go:3")
	require.NotContains(t, others, "a.go:2")
}

// Where nobody looks but the tests, those are unreached that they do not come by, and others are not spoken of.
func TestMatrixOfTestsAlone(t *testing.T) {
	of := func(id int, o *Outcome) *Result {
		return &Result{Site: plant.Site{ID: id, File: "model/a.go", Line: id, Operator: plant.Drop, Func: "f"}, Reached: map[Column]bool{Tests: o != nil}, Outcomes: map[Column]*Outcome{Tests: o}}
	}
	unreached := of(3, nil)
	unreached.Outcomes = nil
	m, err := NewMatrix([]*Log{{Begun: Begun{Mutants: 3, Columns: []Column{Tests}, Functions: []Function{{Func: "f", Mutants: 9, Unreached: 9}}}, Results: []*Result{of(1, &Outcome{Killed: ByHang}), of(2, &Outcome{}), unreached}}})
	require.NoError(t, err)
	require.Len(t, m.Uncaught, 2)
	var page strings.Builder
	m.WriteMarkdown(&page)
	require.Contains(t, page.String(), "| all | 3 | 1 | 0 | 0 | 1 (50 %) |\n")
	require.Contains(t, page.String(), "All were looked for. Planting")
	require.Contains(t, page.String(), "Of the 3 that are neither equivalent nor allowed, 1 (33 %) are killed by somebody")
	for _, other := range []string{"campaign", "corpus", "median"} {
		require.NotContains(t, page.String(), other)
	}
}

// What is argued to be equivalent, and was killed by the corpus or a campaign, is not.
func TestArguedAndKilled(t *testing.T) {
	all, err := AllArgued()
	require.NoError(t, err)
	checked := 0
	for name, a := range all {
		require.False(t, a.Allowed && (a.Equivalent || !strings.HasPrefix(name, "model/")), name)
		parts := strings.Split(name, ":")
		if !a.Equivalent && !a.Allowed || len(parts) != 4 {
			continue
		}
		r := &Result{Site: plant.Site{File: parts[0], Operator: plant.Operator(parts[3])}, Outcomes: map[Column]*Outcome{Tests: {Killed: ByFinding}}}
		_, err := fmt.Sscanf(parts[1]+" "+parts[2], "%d %d", &r.Line, &r.Column)
		require.NoError(t, err)
		_, err = NewMatrix([]*Log{{Results: []*Result{r}}})
		require.NoError(t, err) // upstream's tests ask for more than is promised
		for _, mended := range a.Mends {
			r.Outcomes[Corpus] = &Outcome{Killed: ByFinding, Detail: mended}
			m, err := NewMatrix([]*Log{{Results: []*Result{r}}})
			require.NoError(t, err)
			require.Zero(t, m.All.Killed[Corpus])
			delete(r.Outcomes, Corpus)
			r.Outcomes[Campaign] = &Outcome{Killed: ByFinding, Detail: "as-the-case-says, " + mended}
			m, err = NewMatrix([]*Log{{Results: []*Result{r}}})
			require.NoError(t, err)
			require.Zero(t, m.All.Killed[Campaign])
			delete(r.Outcomes, Campaign)
			require.NotEmpty(t, findingsOf(t, mended), "%s is of no known finding", mended)
		}
		r.Outcomes[Corpus] = &Outcome{Killed: ByFinding, Detail: "another-case"}
		_, err = NewMatrix([]*Log{{Results: []*Result{r}}})
		require.ErrorContains(t, err, name+" is neither equivalent nor allowed: it was killed")
		delete(r.Outcomes, Corpus)
		r.Outcomes[Campaign] = &Outcome{Killed: ByFinding}
		_, err = NewMatrix([]*Log{{Results: []*Result{r}}})
		require.ErrorContains(t, err, name+" is neither equivalent nor allowed: it was killed")
		checked++
	}
	require.Positive(t, checked)
}

// findingsOf are the known findings that a case, or a timeline, of the corpus shows.
func findingsOf(t *testing.T, name string) (findings []string) {
	for _, dir := range []string{"cases", "timelines"} {
		text, err := os.ReadFile(filepath.Join("../../corpus", dir, name+".yaml"))
		if os.IsNotExist(err) {
			continue
		}
		require.NoError(t, err)
		var head struct{ Findings []string }
		require.NoError(t, yaml.Unmarshal([]byte(strings.Split(string(text), "\n---\n")[0]), &head))
		findings = append(findings, head.Findings...)
	}
	return findings
}

// How a mutant was killed.
func TestJudge(t *testing.T) {
	for _, test := range []struct {
		column    Column
		status    int
		out, want string
	}{
		{Tests, 0, "PASS", ""},
		{Tests, 1, "--- FAIL: TestA (0.1s)\n", ByFinding},
		{Tests, 2, "panic: nil map\n", ByCrash},
		{Corpus, 0, "", ""},
		{Corpus, 1, "case\n", ByFinding},
		{Corpus, 2, "fatal error: all goroutines are asleep\n", ByCrash},
		{Campaign, 2, `{"findings":[],"verdict":"INCONCLUSIVE"}`, ""},
		{Campaign, 1, `{"findings":[{"identity":"x"}]}`, ByFinding},
		{Campaign, 2, "", ByCrash},
	} {
		o := &Outcome{}
		o.judge(test.column, test.status, []byte(test.out), test.out)
		require.Equal(t, test.want, o.Killed, "%+v", test)
	}
}
