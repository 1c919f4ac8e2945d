package mutants

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/moby/sys/atomicwriter"

	"github.com/preemptcheck/preemptcheck/internal/mutants/plant"
)

// Result is what became of a mutant.
type Result struct {
	plant.Site
	// Reached are the columns that come by it without it; the others cannot kill it, and do not try.
	Reached map[Column]bool `json:"reached"`
	// Outcomes are by column. One that does not come by it, or was not asked, is missing.
	Outcomes map[Column]*Outcome `json:"outcomes"`
}

// Survived tells whether a campaign that was shorter than so long has looked for the mutant in vain.
func (r *Result) Survived(lasts time.Duration) bool {
	o := r.Outcomes[Campaign]
	return o != nil && o.Killed == "" && o.Seconds < 0.9*lasts.Seconds()
}

// KilledBy tells whether a column killed the mutant.
func (r *Result) KilledBy(c Column) bool { return r.Outcomes[c] != nil && r.Outcomes[c].Killed != "" }

// Begun is what a directory of results was begun with.
type Begun struct {
	Hash    string   `json:"hash"`
	Options Options  `json:"options"`
	Columns []Column `json:"columns"`
	// Mutants is how many there are in all.
	Mutants int `json:"mutants"`
	// Built and Measured are the seconds that it took to build all, and to run all once without a mutant.
	Built    float64 `json:"builtSeconds"`
	Measured float64 `json:"measuredSeconds"`
	// Baseline are the seconds of each command without a mutant.
	Baseline map[string]float64 `json:"baselineSeconds"`
	// Reached are the numbers of the mutants that each column comes by.
	Reached map[Column][]int `json:"reached"`
	// Functions are all that have mutants which neither corpus nor campaign come by.
	Functions []Function `json:"functions"`
}

// Function says how many mutants of a function neither corpus nor campaign come by.
type Function struct {
	File      string `json:"file"`
	Func      string `json:"func"`
	Mutants   int    `json:"mutants"`
	Unreached int    `json:"unreached"`
}

// Name names a function among those that were argued about.
func (f *Function) Name() string { return f.File + " " + f.Func }

// unreached counts by function, those with the most first.
func unreached(sites []*plant.Site, reached map[Column][]int) (functions []Function) {
	is := map[int]bool{}
	for _, id := range slices.Concat(reached[Corpus], reached[Campaign]) {
		is[id] = true
	}
	at := map[[2]string]int{}
	for _, s := range sites {
		key := [2]string{s.File, s.Func}
		if _, ok := at[key]; !ok {
			at[key] = len(functions)
			functions = append(functions, Function{File: s.File, Func: s.Func})
		}
		f := &functions[at[key]]
		f.Mutants++
		if !is[s.ID] {
			f.Unreached++
		}
	}
	functions = slices.DeleteFunc(functions, func(f Function) bool { return f.Unreached == 0 })
	slices.SortStableFunc(functions, func(a, b Function) int { return b.Unreached - a.Unreached })
	return functions
}

// Log is a directory of results: one line of a file for each, which is written as a whole or not at all.
type Log struct {
	Begun   Begun
	Results []*Result
	file    *os.File
}

// The files of a directory of results.
const (
	beginFile   = "begun.json"
	resultsFile = "results.jsonl"
)

// ReadLog reads a directory of results. What was being written when a process was killed is missing.
func ReadLog(dir string) (*Log, error) {
	data, err := os.ReadFile(filepath.Join(dir, beginFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: there are no results in it", dir)
	} else if err != nil {
		return nil, err
	}
	l := &Log{}
	if err := json.Unmarshal(data, &l.Begun); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, beginFile), err)
	}
	file, err := os.Open(filepath.Join(dir, resultsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	} else if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return l, nil // the last line may be torn
		}
		r := &Result{}
		if err := json.Unmarshal(line, r); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file.Name(), number, err)
		}
		l.add(r)
	}
}

// add notes a result, in the place of an earlier one of the same mutant.
func (l *Log) add(r *Result) {
	if at := slices.IndexFunc(l.Results, func(before *Result) bool { return before.Name() == r.Name() }); at >= 0 {
		l.Results[at] = r
		return
	}
	l.Results = append(l.Results, r)
}

// Begin begins a directory of results about mutants, of which some were come by.
func Begin(dir string, begun Begun, sites []*plant.Site) (*Log, error) {
	begun.Functions = unreached(sites, begun.Reached)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	l := &Log{Begun: begun}
	if err := l.writeBegun(dir); err != nil {
		return nil, err
	}
	return l, l.open(dir)
}

// Resume goes on with a directory of results, with campaigns that last as long, or longer.
func Resume(dir string, lasts time.Duration) (*Log, error) {
	l, err := ReadLog(dir)
	if err != nil {
		return nil, err
	}
	if lasts > l.Begun.Options.For {
		l.Begun.Options.For = lasts
		if err := l.writeBegun(dir); err != nil {
			return nil, err
		}
	}
	return l, l.open(dir)
}

func (l *Log) writeBegun(dir string) error {
	data, err := json.Marshal(l.Begun)
	if err != nil {
		return err
	}
	return atomicwriter.WriteFile(filepath.Join(dir, beginFile), append(data, '\n'), 0o644)
}

func (l *Log) open(dir string) (err error) {
	name := filepath.Join(dir, resultsFile)
	if err := cutTorn(name); err != nil {
		return err
	}
	l.file, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	return err
}

// cutTorn removes the end of a file that is no whole line.
func cutTorn(name string) error {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	whole := len(data)
	for whole > 0 && data[whole-1] != '\n' {
		whole--
	}
	return os.Truncate(name, int64(whole))
}

// Add writes a result.
func (l *Log) Add(r *Result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	l.add(r)
	_, err = l.file.Write(append(line, '\n'))
	return err
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
