package mutants

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/internal/table"
)

// Argued is a mutant that nobody kills, or a function whose mutants nobody comes by, and why.
type Argued struct {
	// Mutant is Site.Name, or Function.Name.
	Mutant string `json:"mutant"`
	// Why is the argument: that it decides the same, or what would tell it apart.
	Why string `json:"why"`
	// Equivalent says that no cluster and no course of events can tell it from upstream by what is promised.
	Equivalent bool `json:"equivalent"`
	// Allowed says of a mutant of the model that the model is still right: it chooses otherwise where the documents leave the choice open,
	// or claims nothing of more clusters.
	Allowed bool `json:"allowed"`
	// Mends are cases of the corpus that such a mutant does not pass, as it mends the known findings that they show: a hint that
	// sleeps through an event does not, once it wakes the pod on each.
	Mends []string `json:"mends,omitempty"`
}

// mends tells whether what the corpus or a campaign found of the mutant is no more than that a known finding does not show.
func (a *Argued) mends(o *Outcome) bool {
	return slices.Contains(a.Mends, strings.TrimPrefix(o.Detail, fingerprint.Unmet+", "))
}

//go:embed argued.yaml
var argued []byte

// AllArgued are all mutants that were argued about, by name.
func AllArgued() (map[string]Argued, error) {
	var list []Argued
	if err := yaml.UnmarshalStrict(argued, &list); err != nil {
		return nil, fmt.Errorf("argued.yaml: %w", err)
	}
	all := map[string]Argued{}
	for i, a := range list {
		if a.Mutant == "" || a.Why == "" || all[a.Mutant].Mutant != "" {
			return nil, fmt.Errorf("argued.yaml: [%d]: it takes a mutant, once, and why", i)
		}
		all[a.Mutant] = a
	}
	return all, nil
}

// Row counts mutants.
type Row struct {
	Name string `json:"name"`
	// Mutants are all, Unreached those that neither corpus nor campaign come by, or that the tests do not come by if nobody else looked,
	// Equivalent and Allowed those that are so by argument.
	Mutants    int `json:"mutants"`
	Unreached  int `json:"unreached"`
	Equivalent int `json:"equivalent"`
	Allowed    int `json:"allowed,omitempty"`
	// Killed counts those that are none of these, by column.
	Killed map[Column]int `json:"killed"`
	// ByTests counts all that the tests kill, also the unreached and the equivalent.
	ByTests int `json:"killedByTests"`
	// Median and Worst are the seconds that a campaign took to kill, MedianCPU is of its CPU seconds.
	Median       float64 `json:"medianSeconds"`
	Worst        float64 `json:"worstSeconds"`
	MedianCPU    float64 `json:"medianCPUSeconds"`
	seconds, cpu []float64
}

// Left is how many mutants those who looked could kill.
func (r *Row) Left() int { return r.Mutants - r.Unreached - r.Equivalent - r.Allowed }

func (r *Row) add(m *Result, reached bool, a Argued) {
	r.Mutants++
	counts := false
	switch {
	case !reached:
		r.Unreached++
	case a.Equivalent:
		r.Equivalent++
	case a.Allowed:
		r.Allowed++
	default:
		counts = true
	}
	if r.Killed == nil {
		r.Killed = map[Column]int{}
	}
	for _, c := range Columns {
		if counts && m.KilledBy(c) {
			r.Killed[c]++
		}
	}
	if m.KilledBy(Tests) {
		r.ByTests++
	}
	if m.KilledBy(Campaign) {
		o := m.Outcomes[Campaign]
		r.seconds, r.cpu = insert(r.seconds, o.Seconds), insert(r.cpu, o.CPUSeconds)
		r.Median, r.Worst, r.MedianCPU = r.seconds[len(r.seconds)/2], r.seconds[len(r.seconds)-1], r.cpu[len(r.cpu)/2]
	}
}

// insert puts a number into a sorted list.
func insert(sorted []float64, x float64) []float64 {
	at, _ := slices.BinarySearch(sorted, x)
	return slices.Insert(sorted, at, x)
}

// Matrix is what became of many mutants.
type Matrix struct {
	Begun     Begun  `json:"begun"`
	All       Row    `json:"all"`
	Files     []*Row `json:"files"`
	Operators []*Row `json:"operators"`
	// Survivors are those that the campaign comes by and does not kill, and that are neither equivalent nor allowed.
	Survivors []*Result `json:"survivors"`
	// OnlyTests are those of them that upstream's tests kill, or that nobody else comes by.
	OnlyTests []*Result `json:"onlyTests"`
	// Uncaught are those that nobody kills, also where nobody comes by, and that are neither equivalent nor allowed.
	Uncaught []*Result `json:"uncaught"`
	// Unexplained is how many survived, and were not argued about: of upstream's those that corpus or campaign come by and neither kills,
	// of the model's those that nobody who looked kills.
	Unexplained int `json:"unexplained"`
	// CPUSeconds are those of all that was run, CampaignCPU those of campaigns.
	CPUSeconds  float64 `json:"cpuSeconds"`
	CampaignCPU float64 `json:"campaignCPUSeconds"`
	argued      map[string]Argued
	ofModel     bool
	// right are all that were argued to be equivalent or allowed, also where nobody comes by.
	right int
}

// testsAlone tells whether nobody looked but the tests.
func (m *Matrix) testsAlone() bool { return slices.Equal(m.Begun.Columns, []Column{Tests}) }

// reached tells whether corpus or campaign come by a mutant; if only the tests looked, whether they do.
func (m *Matrix) reached(r *Result) bool {
	return r.Reached[Corpus] || r.Reached[Campaign] || m.testsAlone() && r.Reached[Tests]
}

// NewMatrix counts results.
func NewMatrix(logs []*Log) (*Matrix, error) {
	m := &Matrix{All: Row{Name: "all"}}
	var err error
	if m.argued, err = AllArgued(); err != nil {
		return nil, err
	}
	files, operators, seen := map[string]*Row{}, map[string]*Row{}, map[string]bool{}
	for i, l := range logs {
		if i == 0 {
			m.Begun = l.Begun
		} else if l.Begun.Hash != m.Begun.Hash || l.Begun.Options != m.Begun.Options {
			return nil, fmt.Errorf("the results are of different mutants, programs or flags")
		}
		for _, r := range l.Results {
			if seen[r.Name()] {
				continue
			}
			seen[r.Name()] = true
			m.ofModel = m.ofModel || r.OfModel()
			a := m.argued[r.Name()]
			right := a.Equivalent || a.Allowed
			if right && (r.KilledBy(Corpus) && !a.mends(r.Outcomes[Corpus]) || r.KilledBy(Campaign) && !a.mends(r.Outcomes[Campaign])) {
				return nil, fmt.Errorf("argued.yaml: %s is neither equivalent nor allowed: it was killed", r.Name())
			}
			caught := slices.ContainsFunc(Columns, r.KilledBy)
			survived := len(r.Outcomes) > 0 && !caught
			if !r.OfModel() {
				survived = (r.Outcomes[Corpus] != nil || r.Outcomes[Campaign] != nil) && !r.KilledBy(Corpus) && !r.KilledBy(Campaign)
			}
			if survived && m.why(r) == "" {
				m.Unexplained++
			}
			switch {
			case right:
				m.right++
			case !caught:
				m.Uncaught = append(m.Uncaught, r)
			}
			for _, row := range []*Row{&m.All, rowOf(files, strings.TrimPrefix(r.File, "pkg/scheduler/")), rowOf(operators, string(r.Operator))} {
				row.add(r, m.reached(r), a)
			}
			for c, o := range r.Outcomes {
				m.CPUSeconds += o.CPUSeconds
				if c == Campaign {
					m.CampaignCPU += o.CPUSeconds
				}
			}
			if r.KilledBy(Campaign) {
				continue
			}
			if !right && r.Reached[Campaign] {
				m.Survivors = append(m.Survivors, r)
			}
			if r.KilledBy(Tests) {
				m.OnlyTests = append(m.OnlyTests, r)
			}
		}
	}
	m.Files, m.Operators = sorted(files), sorted(operators)
	byPlace := func(a, b *Result) int {
		if a.File != b.File {
			return strings.Compare(a.File, b.File)
		}
		return a.ID - b.ID
	}
	slices.SortFunc(m.Survivors, byPlace)
	slices.SortFunc(m.OnlyTests, byPlace)
	slices.SortFunc(m.Uncaught, byPlace)
	return m, nil
}

func rowOf(rows map[string]*Row, name string) *Row {
	if rows[name] == nil {
		rows[name] = &Row{Name: name}
	}
	return rows[name]
}

func sorted(rows map[string]*Row) (all []*Row) {
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		all = append(all, rows[name])
	}
	return all
}

// header names the columns of a table, after the first. Only of the model something may be allowed.
func (m *Matrix) header() []string {
	all := []string{"MUTANTS", "UNREACHED", "EQUIVALENT"}
	if m.ofModel {
		all = append(all, "ALLOWED")
	}
	if all = append(all, "TESTS"); m.testsAlone() {
		return all
	}
	return append(all, "CORPUS", "CAMPAIGN", "MEDIAN S", "WORST S")
}

// cells are those of a row of a table, with its name.
func (m *Matrix) cells(r *Row) []string {
	share := func(c Column, of int) string {
		if of == 0 || !slices.Contains(m.Begun.Columns, c) {
			return "-"
		}
		return fmt.Sprintf("%d (%d %%)", r.Killed[c], percent(r.Killed[c], of))
	}
	median, worst := "-", "-"
	if len(r.seconds) > 0 {
		median, worst = fmt.Sprintf("%.1f", r.Median), fmt.Sprintf("%.1f", r.Worst)
	}
	all := []string{r.Name, fmt.Sprint(r.Mutants), fmt.Sprint(r.Unreached), fmt.Sprint(r.Equivalent)}
	if m.ofModel {
		all = append(all, fmt.Sprint(r.Allowed))
	}
	if all = append(all, share(Tests, r.Left())); m.testsAlone() {
		return all
	}
	return append(all, share(Corpus, r.Left()), share(Campaign, r.Left()), median, worst)
}

// WriteText writes the matrix for a terminal.
func (m *Matrix) WriteText(w io.Writer) {
	for _, part := range []struct {
		name string
		rows []*Row
	}{{"FILE", append(slices.Clone(m.Files), &m.All)}, {"OPERATOR", m.Operators}} {
		t := table.New("", append([]string{part.name}, m.header()...)...)
		for _, r := range part.rows {
			t.Row(m.cells(r)...)
		}
		t.WriteText(w)
		fmt.Fprintln(w)
	}
	if of := m.All.Killed[Campaign]; of > 0 {
		fmt.Fprintf(w, "A campaign that killed took %.1f s in the median, and %.1f CPU seconds. All campaigns took %.0f CPU seconds, %.1f for each that was killed.\n\n", m.All.Median, m.All.MedianCPU, m.CampaignCPU, m.CampaignCPU/float64(of))
	}
	title, survivors := "Survivors of the campaign that are not equivalent", m.Survivors
	if !slices.Contains(m.Begun.Columns, Campaign) {
		title, survivors = "Killed by nobody who looked, and not equivalent", m.Uncaught
	}
	fmt.Fprintf(w, "%s: %d\n", title, len(survivors))
	for _, r := range survivors {
		fmt.Fprintf(w, "  %s\n    %s: %s -> %s%s\n", r.Name(), r.Func, r.Source, r.Is, others(r))
	}
}

// others tells who else killed it.
func others(r *Result) string {
	var by []string
	for _, c := range []Column{Tests, Corpus} {
		if r.KilledBy(c) {
			by = append(by, string(c))
		}
	}
	if by == nil {
		return ""
	}
	return " (killed by " + strings.Join(by, ", ") + ")"
}

// percent is a share of a number in percent, rounded down: 100 are all of them.
func percent(part, of int) int { return 100 * part / max(of, 1) }
