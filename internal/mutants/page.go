package mutants

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// upstreamPage, operators and columns are what stands before the tables; modelPage is in place of the first for mutants of the model, and
// ownTests in place of the last where nobody looked but the tests.
const (
	upstreamPage = `# Kill matrix

<!-- Written by "preemptcheck mutate … -o markdown". To write it anew: make kill-matrix -->

How good is a harness? Count the bugs it would catch. "preemptcheck mutate" plants small bugs in kube-scheduler's preemption, by rule and not by hand: in the framework and the
plugin of preemption with its executor, in the filter plugins and their queueing hints, in the nominator and the handler of failures. Each is a switch in one build, so that a
mutant costs a process of seconds. What only writes logs or counts for metrics is left alone, and so are plugins that keep a pod out of the
queue or wait for others of its group (SchedulingGates, GangScheduling), and DeferredPodScheduling, whose gate is alpha and off.
[The specification](kill-matrix-of-the-model.md) has a matrix of its own. [What survivors taught](survivors.md) is a page of its own.

`
	modelPage = `# Kill matrix of the model

<!-- Written by "preemptcheck mutate … -o markdown". To write it anew: make model-matrix -->

A specification that nothing holds to is worth little. "preemptcheck mutate --model" plants the same small bugs as in [kube-scheduler](kill-matrix.md) in the model: somebody should
notice: its tests, or kube-scheduler, which disagrees with it then. *Allowed* are those with which the model is still right, by argument: it chooses otherwise where the documents leave the choice
open, or claims nothing of more clusters.

`
	operators = `| operator | does |
|---|---|
| negate | a condition is negated |
| shift | a comparison is true, or false, for equal operands, too |
| junction | && is \|\|, and the other way round |
| arith | + is -, - has its operands swapped, * is /, / is * |
| swap | two arguments of the same type are swapped |
| drop, dropdefer, droplock | a statement, a deferred call, a lock with its release is left out |
| constant, bool | an integer is one more, true is false |
| return | a result is nil, zero (of a queueing hint: QueueSkip) or empty |
| endloop, goon | a loop ends after its first round or where it goes on; it goes on where it ends |
| key | a map is asked for the zero value of its keys |

`
	columns = `Three look for each: the tests of its package, of upstream or of the model; the cases and timelines of the corpus; and a campaign that is told nothing of it, on one CPU.
Soon after its start a campaign looks at the cases of the corpus, too, and later at some of them with a few changes. A mutant that crashes or hangs is killed; for one that drops
a lock, or changes when it is taken, tests and campaign have the race detector, and the scheduler has many workers; a race kills it. *Unreached* are those that neither corpus nor
a campaign of six times that length come by: they cannot be killed there. *Equivalent* are those that were argued, by reading, to break no promise (internal/mutants/argued.yaml):
some of them upstream's tests notice, as a hint that wakes a pod once more than needed, and some the corpus, where a known finding of such a hint does not show any more. All shares
are of those that are neither. Seconds are those of a campaign, from the start of its process to its end.

`
	ownTests = `Only the tests of its package look for each. *Unreached* are those that they do not come by. *Equivalent* are those that were argued, by reading, to decide the
same (internal/mutants/argued.yaml). All shares are of those that are none of these, nor allowed.

`
)

// WriteMarkdown writes the matrix as a page.
func (m *Matrix) WriteMarkdown(w io.Writer) {
	first := upstreamPage
	if m.ofModel {
		first = modelPage
	}
	whoLooks := columns
	if m.testsAlone() {
		whoLooks = ownTests
	}
	fmt.Fprint(w, first, operators, whoLooks)
	m.writeCosts(w)
	write := func(name string, rows []*Row) {
		fmt.Fprintf(w, "| %s |", name)
		for _, h := range m.header() {
			fmt.Fprintf(w, " %s |", strings.ToLower(h))
		}
		fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---:|", len(m.header())))
		for _, r := range rows {
			fmt.Fprintf(w, "| %s |\n", strings.Join(m.cells(r), " | "))
		}
		fmt.Fprintln(w)
	}
	write("file", append(slices.Clone(m.Files), &m.All))
	write("operator", m.Operators)
	if m.ofModel {
		m.writeUncaught(w)
	} else {
		fmt.Fprint(w, "## Survivors\n\nThe campaign comes by these, does not kill them, and nobody has shown that they are equivalent.\n\n")
		m.list(w, m.Survivors)
		fmt.Fprint(w, "\n## Killed by upstream's tests, and not by the campaign\n\n")
		m.list(w, m.OnlyTests)
	}
	if len(m.Begun.Functions) == 0 || m.testsAlone() {
		return
	}
	fmt.Fprint(w, "\n## Where neither corpus nor campaign come by\n\nFunctions with five such mutants or more.\n\n| file | function | mutants | unreached | why |\n|---|---|---:|---:|---|\n")
	for _, f := range m.Begun.Functions {
		if f.Unreached < few {
			continue
		}
		fmt.Fprintf(w, "| %s | `%s` | %d | %d | %s |\n", strings.TrimPrefix(f.File, "pkg/scheduler/framework/"), f.Func, f.Mutants, f.Unreached, m.argued[f.Name()].Why)
	}
}

// writeCosts writes how many mutants there are, how many of them were looked for, and what that cost.
func (m *Matrix) writeCosts(w io.Writer) {
	looked := "All were looked for"
	if m.All.Mutants < m.Begun.Mutants {
		looked = fmt.Sprintf("Looked for were %d of them, drawn by seed %d", m.All.Mutants, m.Begun.Options.Seed)
	}
	if slices.Contains(m.Begun.Columns, Campaign) {
		looked += fmt.Sprintf(", with campaigns of %s", m.Begun.Options.For)
	}
	each := m.CPUSeconds / float64(max(m.All.Mutants, 1))
	fmt.Fprintf(w, "There are %d mutants. %s. Planting and building all took %.0f s with what Go's build cache held, running all once without a mutant %.0f s, and looking for them %.1f CPU seconds for each. "+
		"At that rate, to look for all takes %.1f hours on 2 CPUs.\n\n",
		m.Begun.Mutants, looked, m.Begun.Built, m.Begun.Measured, each, each*float64(m.Begun.Mutants)/2/3600)
	if slices.Contains(m.Begun.Columns, Tests) {
		fmt.Fprintf(w, "Of the %d, the tests kill %d (%d %%) if the unreached and the equivalent count, too. ", m.All.Mutants, m.All.ByTests, percent(m.All.ByTests, m.All.Mutants))
	}
	if !m.testsAlone() {
		none := 0
		for _, f := range m.Begun.Functions {
			none += f.Unreached
		}
		fmt.Fprintf(w, "Of all %d, %d are unreached.", m.Begun.Mutants, none)
	}
	fmt.Fprint(w, "\n\n")
}

// writeUncaught writes which mutants of the model nobody kills: of it there is no more to ask than that somebody does.
func (m *Matrix) writeUncaught(w io.Writer) {
	of := m.All.Mutants - m.right
	fmt.Fprintf(w, "## Caught by nobody\n\nOf the %d that are neither equivalent nor allowed, %d (%d %%) are killed by somebody, and these are not.\n\n", of, of-len(m.Uncaught), percent(of-len(m.Uncaught), of))
	m.list(w, m.Uncaught)
	if !slices.Contains(m.Begun.Columns, Campaign) {
		return
	}
	fmt.Fprint(w, "\n## Caught by others, and not by the campaign\n\nMany make the model allow more than it should: kube-scheduler does not disagree with that, and the corpus, whose cases say all that is allowed, does.\n\n")
	m.list(w, slices.DeleteFunc(slices.Clone(m.Survivors), func(r *Result) bool { return slices.Contains(m.Uncaught, r) }))
}

// why is what was argued about a mutant, or where nobody comes by about its function.
func (m *Matrix) why(r *Result) string {
	if why := m.argued[r.Name()].Why; why != "" || r.Reached[Corpus] || r.Reached[Campaign] {
		return why
	}
	return m.argued[(&Function{File: r.File, Func: r.Func}).Name()].Why
}

// few is how many unreached mutants of a function are not worth a line.
const few = 5

func (m *Matrix) list(w io.Writer, results []*Result) {
	code := func(text string) string {
		return "`" + strings.NewReplacer("|", "\\|", "`", "'").Replace(text) + "`"
	}
	fmt.Fprint(w, "| where | function | is | mutant | killed by | why |\n|---|---|---|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(w, "| %s:%d | %s | %s | %s | %s | %s |\n", path.Base(r.File), r.Line, code(r.Func), code(r.Source), code(r.Is), strings.Trim(strings.TrimPrefix(others(r), " (killed by "), ")"), m.why(r))
	}
}
