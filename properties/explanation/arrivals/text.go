package arrivals

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// shownVictims is how many victims of one pod are named.
const shownVictims = 3

// shownWorkloads is how many workloads are named whose pods stay pending for the same reason.
const shownWorkloads = 3

// WriteText writes the story for people: of each list at most so many rows, the rest counted.
func (s *Story) WriteText(w io.Writer, rows int) {
	s.sumText(w)
	s.goingText(w, rows)
	s.arrivalsText(w, rows)
	s.nextText(w, rows)
	s.pendingText(w, rows)
	s.referenceText(w, rows)
}

func (s *Story) sumText(w io.Writer) {
	for _, line := range s.Sum() {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintln(w)
}

// Sum is what comes of it all, in sentences: what comes, who goes, and which budgets are violated.
func (s *Story) Sum() (lines []string) {
	for _, c := range s.Coming {
		if c.Pods == 0 {
			lines = append(lines, fmt.Sprintf("%s: it has no pods.", c.Workload))
			continue
		}
		line := fmt.Sprintf("%s, priority %d: %d of %s %s", c.Workload, c.Priority, c.Runs, words.Plural(c.Pods, "pod"), verb(c.Pods, "run"))
		if c.Preempted > 0 {
			line += fmt.Sprintf("; %d %s preempted by what comes after", c.Preempted, verb(c.Preempted, "are"))
		}
		if c.NotMade > 0 {
			line += fmt.Sprintf("; %d %s for the one before", c.NotMade, verb(c.NotMade, "wait"))
		}
		lines = append(lines, line+".")
	}
	victims, runs, pending, notTried, gone, lost := 0, 0, 0, 0, 0, 0
	for _, g := range s.Going {
		victims, runs, pending, notTried, gone = victims+g.Pods, runs+g.Runs, pending+g.Pending, notTried+g.NotTried, gone+g.Gone
		lost += g.Pods - g.Runs - g.Pending - g.NotTried - g.Gone - g.Terminating
	}
	if victims == 0 {
		return append(lines, "Nobody goes.")
	}
	line := fmt.Sprintf("%s of %s %s", words.Plural(victims, "pod"), words.Plural(len(s.Going), "workload"), verb(victims, "go"))
	var then []string
	for _, n := range []struct {
		count      int
		verb, rest string
	}{{runs, "run", "again"}, {pending, "stay", "pending"}, {gone, "are", "gone for good"}, {lost, "are", "preempted again"}, {notTried, "are", "not followed"}} {
		if n.count > 0 {
			then = append(then, fmt.Sprintf("%d %s %s", n.count, verb(n.count, n.verb), n.rest))
		}
	}
	if len(then) > 0 {
		line += ": " + strings.Join(then, ", ")
	}
	lines = append(lines, line+".")
	var budgets []string
	for _, b := range s.Budgets {
		budgets = append(budgets, fmt.Sprintf("%s by %d", b.Budget, b.Pods))
	}
	switch len(budgets) {
	case 0:
		return append(lines, "No budget is violated.")
	case 1:
		return append(lines, fmt.Sprintf("1 budget is violated: %s.", budgets[0]))
	}
	return append(lines, fmt.Sprintf("%d budgets are violated: %s.", len(budgets), words.Some(budgets, 10)))
}

// verb is one in the singular or the plural.
func verb(n int, plural string) string {
	switch {
	case n != 1:
		return plural
	case plural == "are":
		return "is"
	case plural == "go":
		return "goes"
	}
	return plural + "s"
}

func (s *Story) goingText(w io.Writer, rows int) {
	if len(s.Going) == 0 {
		return
	}
	fmt.Fprint(w, "Goes:\n\n")
	t := table.New("  ", "WORKLOAD", "PODS", "OF", "PRIORITY", "VIOLATES", "THEN")
	for i, g := range s.Going {
		if i == rows {
			break
		}
		of := fmt.Sprint(g.Of)
		if g.Of == 0 { // it comes itself
			of = "-"
		}
		t.Row(g.Workload, fmt.Sprint(g.Pods), of, fmt.Sprint(g.Priority), violates(g.Violates), g.then())
	}
	t.WriteText(w)
	rest := 0
	for _, g := range s.Going[min(rows, len(s.Going)):] {
		rest += g.Pods
	}
	if rest > 0 {
		fmt.Fprintf(w, "  … and %s of %s more (--all)\n", words.Plural(rest, "pod"), words.Plural(len(s.Going)-rows, "workload"))
	}
	fmt.Fprintln(w)
}

func violates(counts map[string]int) string {
	var all []string
	for _, b := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fmt.Sprintf("%s (%d)", b, counts[b]))
	}
	if len(all) == 0 {
		return "-"
	}
	return words.Some(all, shownVictims)
}

// then says what comes of the pods that go.
func (g *Going) then() string {
	var then []string
	lost := g.Pods - g.Runs - g.Pending - g.NotTried - g.Gone - g.Terminating
	for _, n := range []struct {
		count int
		what  string
	}{{g.Runs, verb(g.Runs, "run") + " again"}, {g.Pending, "pending"}, {g.Gone, "gone for good"}, {lost, "preempted again"}, {g.NotTried, "not followed"}, {g.Terminating, "terminating before"}} {
		if n.count > 0 {
			then = append(then, fmt.Sprintf("%d %s", n.count, n.what))
		}
	}
	return strings.Join(then, ", ")
}

func (s *Story) arrivalsText(w io.Writer, rows int) {
	if len(s.Arrivals) == 0 {
		return
	}
	fmt.Fprint(w, "Comes:\n\n")
	t := table.New("  ", "POD", "NODE", "PREEMPTS", "WHY")
	for _, c := range s.Arrivals[:min(rows, len(s.Arrivals))] {
		t.Row(c.Pod, c.where(), c.whom(), c.because())
	}
	t.WriteText(w)
	if len(s.Arrivals) > rows {
		fmt.Fprintf(w, "  … and %d more: %s (--all)\n", len(s.Arrivals)-rows, sumUp(s.Arrivals[rows:]))
	}
	fmt.Fprintln(w)
}

// nextText shows those that preempt in turn first, and of those that stay pending only the number: pendingText
// tells of them.
func (s *Story) nextText(w io.Writer, rows int) {
	if len(s.Next) == 0 {
		return
	}
	fmt.Fprintf(w, "What the preempted do next: %s.\n\n", sumUp(s.Next))
	placed := slices.DeleteFunc(slices.Clone(s.Next), func(c Cycle) bool { return c.isPending() })
	slices.SortStableFunc(placed, func(a, b Cycle) int { return len(b.Preempts) - len(a.Preempts) })
	t := table.New("  ", "POD", "IN PLACE OF", "NODE", "PREEMPTS", "WHY")
	for _, c := range placed[:min(rows, len(placed))] {
		t.Row(c.Pod, c.Replaces, c.where(), c.whom(), c.because())
	}
	if t.Empty() {
		return
	}
	t.WriteText(w)
	if len(placed) > rows {
		fmt.Fprintf(w, "  … and %d more: %s (--all)\n", len(placed)-rows, sumUp(placed[rows:]))
	}
	fmt.Fprintln(w)
}

func (c *Cycle) isPending() bool { return c.Node == "" && len(c.Nodes) == 0 }

func (c *Cycle) where() string {
	switch {
	case c.Node != "":
		return c.Node
	case len(c.Nodes) > 0:
		nodes := slices.Sorted(maps.Values(c.Nodes))
		return words.Some(slices.Compact(nodes), shownVictims)
	}
	return "pending"
}

func (c *Cycle) whom() string {
	if len(c.Preempts) == 0 {
		return "-"
	}
	return words.Some(c.Preempts, shownVictims)
}

func (c *Cycle) because() string {
	why := c.Why
	if len(c.Violates) > 0 {
		why += "; violates " + words.Some(c.Violates, shownVictims)
	}
	if c.LaterPreempted {
		why += "; is preempted later"
	}
	return why
}

// sumUp counts what becomes of pods that are not shown.
func sumUp(all []Cycle) string {
	fit, preempt, victims, pending := 0, 0, 0, 0
	for _, c := range all {
		switch {
		case c.isPending():
			pending++
		case len(c.Preempts) > 0:
			preempt++
			victims += len(c.Preempts)
		default:
			fit++
		}
	}
	var parts []string
	if preempt > 0 {
		parts = append(parts, fmt.Sprintf("%d %s %s", preempt, verb(preempt, "preempt"), words.Plural(victims, "pod")))
	}
	if fit > 0 {
		parts = append(parts, fmt.Sprintf("%d %s without", fit, verb(fit, "fit")))
	}
	if pending > 0 {
		parts = append(parts, fmt.Sprintf("%d %s pending", pending, verb(pending, "stay")))
	}
	return strings.Join(parts, ", ")
}

func (s *Story) pendingText(w io.Writer, rows int) {
	if len(s.Pending) > 0 {
		fmt.Fprint(w, "Stays pending:\n\n")
		t := table.New("  ", "PODS", "OF", "WHICH", "WHY")
		for _, p := range s.Pending[:min(rows, len(s.Pending))] {
			t.Row(fmt.Sprint(len(p.Pods)), words.Some(p.Workloads, shownWorkloads), words.Some(p.Pods, 1), p.Why)
		}
		t.WriteText(w)
		if rest := 0; len(s.Pending) > rows {
			for _, p := range s.Pending[rows:] {
				rest += len(p.Pods)
			}
			fmt.Fprintf(w, "  … and %s more (--all)\n", words.Plural(rest, "pod"))
		}
		fmt.Fprintln(w)
	}
	if s.NotTried > 0 {
		fmt.Fprintf(w, "%s %s not followed, as the cascade ends after %s.\n\n", words.Plural(s.NotTried, "pod"), verb(s.NotTried, "are"), s.Bounds)
	}
	if s.Waiting > 0 {
		fmt.Fprintf(w, "%s %s pending in the cluster already, and %s not tried meanwhile.\n\n", words.Plural(s.Waiting, "pod"), verb(s.Waiting, "are"), verb(s.Waiting, "are"))
	}
}

// alike has those of which the same is said after the name of the pod on one line.
func alike(lines []string) (joined []string) {
	var said []string
	pods := map[string][]string{}
	for _, line := range lines {
		pod, what, _ := strings.Cut(line, ": ")
		if pods[what] == nil {
			said = append(said, what)
		}
		pods[what] = append(pods[what], pod)
	}
	for _, what := range said {
		joined = append(joined, words.Some(pods[what], 3)+": "+what)
	}
	return joined
}

func (s *Story) referenceText(w io.Writer, rows int) {
	said := s.Said()
	fmt.Fprintln(w, said.Agrees)
	for _, list := range [][]string{said.Disagrees, said.Unknown} {
		for _, line := range list[:min(rows, len(list))] {
			fmt.Fprintln(w, "  "+line)
		}
		if len(list) > rows {
			fmt.Fprintf(w, "  … and %d more (--all)\n", len(list)-rows)
		}
	}
	if said.Open != "" {
		fmt.Fprintln(w, said.Open)
	}
}

// Said is whether the real scheduler decided likewise, in sentences: Open is "" if it has no choice.
type Said struct {
	Agrees             string
	Disagrees, Unknown []string
	Open               string
}

// Said is whether the real scheduler decided likewise.
func (s *Story) Said() *Said {
	r := &s.Reference
	said := &Said{Disagrees: alike(r.Disagrees), Unknown: alike(r.Unknown)}
	switch {
	case r.Cycles == 0:
		said.Agrees = "No pod was tried."
	case r.Asked == 0:
		said.Agrees = fmt.Sprintf("kube-scheduler %s was not asked:", r.System)
	case r.Agrees == r.Cycles && r.Cycles == 1:
		said.Agrees = fmt.Sprintf("kube-scheduler %s agrees.", r.System)
	case r.Agrees == r.Cycles:
		said.Agrees = fmt.Sprintf("kube-scheduler %s agrees in all %d cycles.", r.System, r.Cycles)
	default:
		said.Agrees = fmt.Sprintf("kube-scheduler %s agrees in %d of %s.", r.System, r.Agrees, words.Plural(r.Cycles, "cycle"))
	}
	if s.Open > 0 {
		said.Open = fmt.Sprintf("In %s more than one answer is allowed; the one that it gave is followed. Another time it may give another.", words.Plural(s.Open, "cycle"))
	}
	return said
}
