package explanation

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
)

// shownNodes is how many nodes of a group are named, shownPods how many pods of one line, and shownChoices how many
// allowed answers, victims of a node, and rows of other tables. Explanation.All shows all of what is one per row.
const (
	shownNodes   = 3
	shownPods    = 10
	shownChoices = 10
)

// shownReprieved is of how many candidates the reprieved pods are named.
const shownReprieved = 3

// rows is how many of n rows are shown.
func (e *Explanation) rows(n int) int {
	if e.All {
		return n
	}
	return min(n, shownChoices)
}

// more tells of the rows that are not shown.
func more(w io.Writer, indent string, hidden int, what string) {
	if hidden > 0 {
		fmt.Fprintf(w, "%s… and %d more%s (--all)\n", indent, hidden, what)
	}
}

// WriteText writes the explanation for people.
func (e *Explanation) WriteText(w io.Writer) {
	fmt.Fprintf(w, "Pod %s, priority %d", e.Pod, e.Priority)
	if e.Nominated != "" {
		fmt.Fprintf(w, ", nominated to %s", e.Nominated)
	}
	fmt.Fprint(w, "\n\n")
	e.filterText(w)
	e.devicesText(w)
	switch claims := e.Deallocations; len(claims) {
	case 0:
	case 1:
		fmt.Fprintf(w, "Resource claims: %s keeps it from a node and no other pod uses it: it loses its allocation.\n\n", claims[0])
	default:
		fmt.Fprintf(w, "Resource claims: each of %s keeps it from a node and no other pod uses it: one of them loses its allocation, which is left open.\n\n", strings.Join(claims, ", "))
	}
	if e.Eligible != nil {
		e.eligibleText(w)
	}
	if e.Eligible != nil && e.Eligible.OK {
		e.dryRunText(w)
		if e.CandidateCount > 0 {
			e.candidatesText(w)
			e.pickText(w)
		}
	}
	e.WithGate.writeText(w)
	e.referenceText(w)
}

func (e *Explanation) filterText(w io.Writer) {
	switch {
	case e.Nodes == 0:
		fmt.Fprint(w, "Filter: there are no nodes, which is an error; nothing is preempted.\n\n")
		return
	case len(e.FitsOn) > 0:
		fmt.Fprintf(w, "Filter: it fits without preemption on %s: %s\n\n", words.Plural(len(e.FitsOn), "node"), words.Some(e.FitsOn, shownNodes))
	default:
		fmt.Fprintf(w, "Filter: of %s, it fits on none.\n\n", words.Plural(e.Nodes, "node"))
	}
	if len(e.Failed) > 0 {
		e.failures(w, e.Failed, "PREEMPTION", couldHelp)
	}
}

// couldHelp tells whether preemption could.
func couldHelp(f Failure) string {
	if f.Unresolvable {
		return "cannot help"
	}
	return "could help"
}

func (e *Explanation) failures(w io.Writer, all []Failure, column string, value func(Failure) string) {
	shown := e.rows(len(all))
	failures(w, all[:shown], column, value, func() {
		nodes := 0
		for _, f := range all[shown:] {
			nodes += len(f.Nodes)
		}
		more(w, "  ", len(all)-shown, fmt.Sprintf(", for %s", words.Plural(nodes, "node")))
	})
}

// failures writes a table, and then what comes below it.
func failures(w io.Writer, all []Failure, column string, value func(Failure) string, below func()) {
	header := []string{"NODES", "PLUGIN", "REASON", "WHICH"}
	if column != "" {
		header = append(header, column)
	}
	t := table.New("  ", header...)
	for _, f := range all {
		plugin, reason := f.Plugin, strings.Join(f.Reasons, "; ")
		if plugin == "" {
			plugin = "-"
		}
		if reason == "" {
			reason = "-"
		}
		cells := []string{fmt.Sprint(len(f.Nodes)), plugin, reason, words.Some(f.Nodes, shownNodes)}
		if column != "" {
			cells = append(cells, value(f))
		}
		t.Row(cells...)
	}
	t.WriteText(w)
	if below != nil {
		below()
	}
	fmt.Fprintln(w)
}

func (e *Explanation) eligibleText(w io.Writer) {
	if e.Eligible.OK {
		fmt.Fprint(w, "Eligible: it may preempt pods of lower priority.\n\n")
		return
	}
	fmt.Fprintf(w, "Eligible: it may not preempt: %s.\n\n", e.Eligible.Reason)
}

func (e *Explanation) dryRunText(w io.Writer) {
	if e.PotentialNodes == 0 {
		fmt.Fprint(w, "Dry run: there are no potential nodes: preemption cannot help on any.\n\n")
		return
	}
	fmt.Fprintf(w, "Dry run: of %s, preemption helps on %d.\n\n", words.Plural(e.PotentialNodes, "potential node"), e.CandidateCount)
	if len(e.NotHelpful) > 0 {
		fmt.Fprint(w, "  It does not help on:\n")
		e.failures(w, e.NotHelpful, "", nil)
	}
	if len(e.Candidates) == 0 {
		return
	}
	t := table.New("  ", "NODE", "VICTIM", "PRIORITY", "STARTED", "VIOLATES BUDGET")
	perNode := e.victimsPerNode()
	for _, c := range e.Candidates {
		rows := e.victimRows(c.Victims)
		shown := min(len(rows), perNode)
		for i, row := range rows[:shown] {
			node := ""
			if i == 0 {
				node = c.Node
			}
			t.Row(append([]string{node}, row...)...)
		}
		if hidden := len(rows) - shown; hidden > 0 {
			t.Row("", fmt.Sprintf("… and %d more (--all)", hidden), "", "", "")
		}
	}
	t.WriteText(w)
	e.unitsText(w)
	e.reprievedText(w)
	e.othersText(w)
	fmt.Fprintln(w)
}

// victimsPerNode is how many victims of a candidate are shown: fewer if all have many.
func (e *Explanation) victimsPerNode() int {
	all := 0
	for _, c := range e.Candidates {
		all += len(c.Victims)
	}
	switch {
	case e.All:
		return all
	case all > 3*shownChoices:
		return shownPods / 3
	}
	return shownPods
}

// reprievedText names the pods that stay, on the best candidates if there are many.
func (e *Explanation) reprievedText(w io.Writer) {
	nodes, hidden, pods := 0, 0, 0
	for _, c := range e.Candidates {
		if len(c.Reprieved) == 0 {
			continue
		}
		if nodes++; nodes > shownReprieved && len(e.Candidates) >= shownChoices && !e.All {
			hidden++
			pods += len(c.Reprieved)
			continue
		}
		var names []string
		for _, p := range c.Reprieved {
			names = append(names, p.Pod)
		}
		fmt.Fprintf(w, "  Reprieved on %s: %s\n", c.Node, words.Some(e.together(names), shownPods))
	}
	if hidden > 0 {
		fmt.Fprintf(w, "  Reprieved on %s: %s (--all)\n", words.Plural(hidden, "more node"), words.Plural(pods, "pod"))
	}
}

// othersText names the victims that follow from other orders of equally important pods.
func (e *Explanation) othersText(w io.Writer) {
	all := 0
	for _, c := range e.Candidates {
		all += len(c.Other)
	}
	shown, left := e.rows(all), e.rows(all)
	for _, c := range e.Candidates {
		for _, victims := range c.Other[:min(left, len(c.Other))] {
			fmt.Fprintf(w, "  Or on %s, in another order of equally important pods: %s\n", c.Node, words.Some(e.together(victims), shownPods))
			left--
		}
	}
	more(w, "  ", all-shown, "")
}

func (e *Explanation) candidatesText(w io.Writer) {
	fmt.Fprintf(w, "Candidates: %d, best first", e.CandidateCount)
	if hidden := e.CandidateCount - len(e.Candidates); hidden > 0 {
		fmt.Fprintf(w, "; %d more are not shown (--nodes)", hidden)
	}
	if e.Shortlist < e.CandidateCount {
		fmt.Fprintf(w, "; the search may stop at any %d of them", e.Shortlist)
	}
	fmt.Fprint(w, ".\n\n")
	if len(e.Candidates) == 0 {
		return
	}
	t := table.New("  ", "NODE", "VIOLATIONS", "HIGHEST PRIORITY", "SUM OF PRIORITIES*", "VICTIMS", "HIGHEST STARTED")
	for _, c := range e.Candidates {
		t.Row(append([]string{c.Node}, c.Values...)...)
	}
	t.WriteText(w)
	fmt.Fprint(w, "  * each counted from the lowest possible priority, -2147483648\n\n")
	e.extendersText(w)
}

// extendersText says what extenders make of the candidates.
func (e *Explanation) extendersText(w io.Writer) {
	var lines []string
	for _, c := range e.Candidates {
		for _, x := range c.Extenders {
			if x.Dropped {
				lines = append(lines, fmt.Sprintf("%s drops %s", x.Extender, c.Node))
				continue
			}
			lines = append(lines, fmt.Sprintf("%s makes the victims on %s %s, with %s", x.Extender, c.Node, words.Some(x.Victims, shownPods), words.Plural(x.Violations, "violation")))
		}
		if c.Fails != "" {
			lines = append(lines, fmt.Sprintf("%s fails when asked about %s, which ends the preemption", c.Fails, c.Node))
		}
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprint(w, "Extenders:\n")
	for _, line := range lines {
		fmt.Fprintln(w, "  "+line)
	}
	fmt.Fprintln(w)
}

func (e *Explanation) pickText(w io.Writer) {
	switch n := len(e.Choices); {
	case n == 0 && e.Incomplete != "":
		fmt.Fprintf(w, "Pick: not all allowed answers are known: %s.\n\n", e.Incomplete)
		return
	case n == 0:
		fmt.Fprint(w, "Pick: none.\n\n")
		return
	case n == 1:
		c := e.Choices[0]
		fmt.Fprintf(w, "Pick: %s, %s.\n\n", c.Node, because(c.DecidedBy))
		marked, unmarked := []string(nil), []string(nil)
		for _, p := range c.Deleted {
			if slices.Contains(c.Marked, p) {
				marked = append(marked, p)
			} else {
				unmarked = append(unmarked, p)
			}
		}
		e.each(w, e.together(marked), func(p string) string { return areOrIs(p) + " marked as DisruptionTarget and deleted" })
		e.each(w, e.together(unmarked), func(p string) string { return areOrIs(p) + " deleted" })
		e.each(w, e.together(c.Terminating), func(p string) string { return areOrIs(p) + " terminating already" })
		e.each(w, c.Cleared, func(string) string { return "loses its nomination to " + c.Node })
		fmt.Fprintf(w, "  %s is nominated to %s\n\n", e.Pod, c.Node)
	default:
		e.choicesText(w)
	}
	if len(e.Choices) > 0 && e.Incomplete != "" {
		fmt.Fprintf(w, "  These may not be all allowed answers: %s.\n\n", e.Incomplete)
	}
}

// each says the same of names, one on each line.
func (e *Explanation) each(w io.Writer, names []string, what func(string) string) {
	shown := e.rows(len(names))
	for _, name := range names[:shown] {
		fmt.Fprintf(w, "  %s %s\n", name, what(name))
	}
	if shown > 0 {
		more(w, "  ", len(names)-shown, ", likewise")
	}
}

func (e *Explanation) choicesText(w io.Writer) {
	fmt.Fprintf(w, "Pick: one of %d allowed answers", len(e.Choices))
	header := []string{"NODE", "DECIDED BY", "DELETED", "TERMINATING", "LOSES NOMINATION"}
	if e.Odds != nil {
		fmt.Fprint(w, "; where the search starts, and in which order it goes on, decides which candidates it compares")
		if e.Odds.Unknown == "" {
			header = append(header, "LIKELIHOOD")
		}
	}
	fmt.Fprint(w, ".\n\n")
	t := table.New("  ", header...)
	shown := e.Choices[:e.rows(len(e.Choices))]
	for _, c := range shown {
		row := []string{c.Node, c.DecidedBy, orNone(e.together(c.Deleted)), orNone(e.together(c.Terminating)), orNone(c.Cleared)}
		t.Row(append(row, e.Odds.on(c.Node)...)...)
	}
	t.WriteText(w)
	if hidden := len(e.Choices) - len(shown); hidden > 0 {
		more(w, "  ", hidden, e.Odds.besides(shown))
	}
	e.Odds.writeText(w)
	fmt.Fprintln(w)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return words.Some(names, shownNodes)
}

// because says in words what decided for a node.
func because(decidedBy string) string {
	switch decidedBy {
	case model.OnlyCandidate:
		return "the only candidate"
	case model.Tie:
		return "which ties with others on all criteria"
	}
	return "by " + decidedBy
}

// breaks says how the scheduler broke down, or ended in an error; "" if it did not.
func (r *Observed) breaks() string {
	switch {
	case r.Crash != "" && r.CrashedAt != "":
		return fmt.Sprintf("it breaks down at stage %s: %s", r.CrashedAt, r.Crash)
	case r.Crash != "":
		return "it breaks down: " + r.Crash
	case r.Error != "":
		return "its cycle ends in an error: " + r.Error
	}
	return ""
}

func (e *Explanation) referenceText(w io.Writer) {
	r := &e.Reference
	did := r.breaks()
	switch {
	case did != "":
	case r.ScheduledTo != "":
		did = "it schedules the pod to " + r.ScheduledTo
	case r.Pick != "":
		did = fmt.Sprintf("it nominates %s and preempts %s", r.Pick, words.Some(e.together(r.Victims), shownPods))
		if e.Incomplete != "" && r.DecidedBy != "" {
			did += ", " + because(r.DecidedBy)
		}
	case r.PostFilterError != "":
		did = "it preempts nothing, as PostFilter ends in an error: " + r.PostFilterError
	default:
		did = "it preempts nothing"
	}
	r.writeText(w, did)
}

// writeText says what the scheduler did, whether that is right, and what is found.
func (r *Observed) writeText(w io.Writer, did string) {
	verb := "agrees"
	switch {
	case r.Undecided != "":
		verb = "may agree or not"
	case r.Remark:
		verb = "does otherwise, which is only a remark"
	case !r.Agrees:
		verb = "disagrees"
	}
	fmt.Fprintf(w, "kube-scheduler %s %s: %s.\n", r.System, verb, did)
	for _, f := range r.Findings {
		fmt.Fprintln(w, "  "+r.withoutWhatItDid(f))
	}
	if r.ToContact != "" {
		fmt.Fprintln(w, "  "+r.ToContact)
	}
	words.WriteList(w, "  ", "seen until then", r.Reached)
	words.WriteList(w, "  ", "stack", r.Stack)
}

// withoutWhatItDid leaves out of a finding what is said already.
func (r *Observed) withoutWhatItDid(finding string) string {
	if r.Crash != "" {
		finding = strings.TrimSuffix(finding, ": "+r.Crash)
		return strings.TrimSuffix(finding, ": "+string(r.CrashedAt))
	}
	return strings.TrimSuffix(finding, ", got "+cmp.Or(r.Error, r.PostFilterError))
}
