package explanation

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/table"
	"github.com/preemptcheck/preemptcheck/internal/words"
)

// shownMembers is how many rows of members, or of what is evicted, are told one by one.
const shownMembers = 20

// WriteText writes the explanation for people.
func (e *OfGroup) WriteText(w io.Writer) {
	fmt.Fprintf(w, "%s, priority %d: %s to schedule together", e.Group, e.Priority, words.Plural(len(e.Pods), "pod"))
	if n := len(e.Running); n > 0 {
		fmt.Fprintf(w, ", %d %s already", n, verb(n, "runs", "run"))
	}
	fmt.Fprint(w, "\n\n")
	e.countText(w)
	for _, b := range byNode(e.Before) {
		fmt.Fprintf(w, "  %s %s nominated to %s since an earlier try.\n", words.Some(b.pods, shownPods), verb(len(b.pods), "is", "are"), b.node)
	}
	if len(e.Before) > 0 {
		fmt.Fprintln(w)
	}
	if e.Topology != "" {
		fmt.Fprintf(w, "Topology: all its pods have to be on nodes that have one value of the label %s", e.Topology)
		if len(e.Running) > 0 {
			fmt.Fprint(w, ", together with those that run")
		}
		fmt.Fprint(w, ".\n\n")
	}
	among := "nodes"
	if e.Topology != "" {
		among = "those of these nodes"
	}
	for _, g := range e.Groups {
		if g.Topology != "" {
			fmt.Fprintf(w, "Topology: all pods of %s have to be on %s that have one value of the label %s.\n\n", g.Group, among, g.Topology)
		}
	}
	if e.First != nil {
		e.filterText(w)
	}
	if e.Fails != "" {
		fmt.Fprintf(w, "That is an error, which is about %s: nobody is scheduled or preempted.\n\n", e.Fails)
	}
	if e.Eligible != nil {
		e.eligibleText(w)
	}
	if e.Second != nil {
		e.preemptionText(w)
	}
	if e.Helps {
		e.evictedText(w)
		e.resultText(w)
	}
	e.openText(w)
	e.referenceText(w)
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// countText says what minCount means here.
func (e *OfGroup) countText(w io.Writer) {
	if len(e.Groups) > 0 {
		e.groupsText(w)
		return
	}
	waiting, running := len(e.Pods), len(e.Running)
	switch need := e.MinCount - running; {
	case e.Waits:
		fmt.Fprintf(w, "Members: it waits until %d of its pods exist (minCount); there %s %d.\n\n", e.MinCount, verb(waiting+running, "is", "are"), waiting+running)
	case e.MinCount == 0:
		fmt.Fprint(w, "Members: its pods need not run together (policy basic): each is scheduled that fits.\n\n")
	case need <= 0:
		fmt.Fprintf(w, "Members: %d of its pods have to run at least (minCount), and %d %s: each of the others is scheduled that fits.\n\n", e.MinCount, running, verb(running, "does", "do"))
	case running > 0:
		fmt.Fprintf(w, "Members: %d of its pods have to run at least (minCount). %d %s already, so %s to fit, or none is scheduled.\n\n",
			e.MinCount, running, verb(running, "runs", "run"), needed(need, waiting))
	case need == waiting:
		fmt.Fprintf(w, "Members: %s to fit, or none is scheduled (minCount %d).\n\n", all(waiting), e.MinCount)
	default:
		fmt.Fprintf(w, "Members: at least %d of the %d pods %s to fit, or none is scheduled (minCount).\n\n", need, waiting, verb(need, "has", "have"))
	}
}

// groupsText says what minGroupCount, and minCount of each group, mean here.
func (e *OfGroup) groupsText(w io.Writer) {
	own := 0
	for _, g := range e.Groups {
		own += one(g.Parent == e.Group)
	}
	switch {
	case e.Waits:
		fmt.Fprintf(w, "Members: it waits until %s (minGroupCount) that have all the pods that they need.\n\n", words.Plural(e.MinCount, "group"))
	case e.MinCount == 0:
		fmt.Fprintf(w, "Members: its %s need not run together (policy basic).\n\n", words.Plural(own, "group"))
	default:
		fmt.Fprintf(w, "Members: at least %d of its %s %s to be scheduled, or none is (minGroupCount).\n\n", e.MinCount, words.Plural(own, "group"), verb(e.MinCount, "has", "have"))
	}
	t := table.New("  ", "GROUP", "IN", "HAS", "NEEDS")
	for _, g := range e.Groups {
		has, needs := words.Plural(g.Pods, "pod"), "any of them"
		if g.Groups > 0 {
			has = words.Plural(g.Groups, "group")
		}
		if g.MinCount > 0 {
			needs = fmt.Sprintf("%d of them", g.MinCount)
		}
		t.Row(g.Group, g.Parent, has, needs)
	}
	t.WriteText(w)
	fmt.Fprintln(w)
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// needed is how many of those that wait have to fit.
func needed(need, waiting int) string {
	if need == waiting {
		return others(waiting)
	}
	return fmt.Sprintf("%d of %s", need, others(waiting))
}

func others(n int) string {
	if n == 1 {
		return "the one that waits has"
	}
	return fmt.Sprintf("the %d that wait have", n)
}

func all(n int) string {
	switch n {
	case 1:
		return "its pod has"
	case 2:
		return "both pods have"
	}
	return fmt.Sprintf("all %d pods have", n)
}

func (e *OfGroup) filterText(w io.Writer) {
	placed := len(e.First.Placed)
	enough := ", too few"
	if e.Fits {
		enough = ", enough"
	}
	switch {
	case e.Fails != "":
		fmt.Fprintf(w, "Filter: %s tried.\n\n", words.Plural(len(e.Pods), "pod"))
	case e.Nodes == 0:
		fmt.Fprint(w, "Filter: there are no nodes.\n\n")
	case e.Topology != "" && len(e.First.Domains) == 0:
		fmt.Fprint(w, "Filter: there is no such value, so no pod is tried.\n\n")
		return
	default:
		fmt.Fprintf(w, "Filter: as the cluster is, %d of %s %s%s%s.\n\n", placed, words.Plural(len(e.Pods), "pod"), verb(placed, "fits", "fit"), e.First.where(), enough)
	}
	e.First.writeText(w, true)
}

// where is the topology domain, if there is one.
func (p *Placement) where() string {
	if p.Domain == "" {
		return ""
	}
	return " on the nodes of " + p.Domain
}

// domainsText tells in which topology domains enough pods fit; of which groups, if there are several.
func (p *Placement) domainsText(w io.Writer) {
	if len(p.Domains) < 2 {
		return
	}
	one := !slices.ContainsFunc(p.Domains, func(d DomainTried) bool { return d.Group != p.Domains[0].Group })
	t := table.New("  ", "VALUE", "NODES", "PODS THAT FIT", "")
	if !one {
		t = table.New("  ", "GROUP", "VALUE", "NODES", "PODS THAT FIT", "")
	}
	for _, d := range p.Domains {
		enough := "too few"
		switch {
		case d.Shown && d.Enough:
			enough = "enough, taken"
		case d.Enough:
			enough = "enough"
		case d.Shown:
			enough = "too few, shown below"
		}
		cells := []string{strings.Join(append(slices.Clone(d.Within), d.Value), ", "), fmt.Sprint(d.Nodes), fmt.Sprint(d.Placed), enough}
		if !one {
			cells = append([]string{d.Group}, cells...)
		}
		t.Row(cells...)
	}
	t.WriteText(w)
	fmt.Fprintln(w)
}

// writeText tells where pods go, and why others do not fit.
func (p *Placement) writeText(w io.Writer, helps bool) {
	p.domainsText(w)
	if len(p.Placed) > 0 {
		t := table.New("  ", "NODE", "PODS", "WHICH")
		var on []OnNode
		for _, placed := range p.Placed {
			on = append(on, placed.OnNode)
		}
		for _, at := range byNode(on) {
			t.Row(at.node, fmt.Sprint(len(at.pods)), words.Some(at.pods, shownNodes))
		}
		t.WriteText(w)
		fmt.Fprintln(w)
	}
	for _, at := range byNode(p.TakenBack) {
		fmt.Fprintf(w, "  %s had a place on %s, which is free again: too few of the group can be scheduled.\n", words.Some(at.pods, shownNodes), at.node)
	}
	if len(p.TakenBack) > 0 {
		fmt.Fprintln(w)
	}
	for _, f := range p.Failed {
		fmt.Fprintf(w, "  %s: of %s, %s on none", words.Some(f.Pods, shownNodes), words.Plural(f.Nodes, "node"), verb(len(f.Pods), "it fits", "each fits"))
		if len(p.Placed) > 0 {
			fmt.Fprint(w, " beside the others")
		}
		fmt.Fprint(w, ".\n")
		column := ""
		if helps {
			column = "PREEMPTION"
		}
		failures(w, f.Failures, column, couldHelp, nil)
	}
	if len(p.Untried) > 0 {
		fmt.Fprintf(w, "  %s %s not tried any more: there cannot be enough.\n\n", words.Some(p.Untried, shownPods), verb(len(p.Untried), "is", "are"))
	}
}

// onNode are pods of one node.
type onNode struct {
	node string
	pods []string
}

// byNode puts pods of a node together, in the order of the first of them.
func byNode(pods []OnNode) (all []onNode) {
	for _, p := range pods {
		i := slices.IndexFunc(all, func(at onNode) bool { return at.node == p.Node })
		if i < 0 {
			i, all = len(all), append(all, onNode{node: p.Node})
		}
		all[i].pods = append(all[i].pods, p.Pod)
	}
	return all
}

func (e *OfGroup) eligibleText(w io.Writer) {
	switch {
	case !e.Eligible.OK:
		fmt.Fprintf(w, "Eligible: it may not preempt: %s.\n\n", e.Eligible.Reason)
	case len(e.Awaits) > 0:
		fmt.Fprintf(w, "Eligible: it preempts nobody while its victims terminate: %s.\n\n", words.Some(e.Awaits, shownPods))
	default:
		fmt.Fprint(w, "Eligible: it may preempt what has a lower priority, on all nodes.\n\n")
		if e.Second == nil {
			fmt.Fprint(w, "Preemption: there is nothing of lower priority.\n\n")
		}
	}
}

func (e *OfGroup) preemptionText(w io.Writer) {
	placed, enough := len(e.Second.Placed), ": preemption does not help"
	if e.Helps {
		enough = ", enough"
	}
	fmt.Fprintf(w, "Preemption: without everything of lower priority, %d of %s %s%s.\n\n", placed, words.Plural(len(e.Pods), "pod"), verb(placed, "fits", "fit"), enough)
	e.Second.writeText(w, false)
}

func (e *OfGroup) evictedText(w io.Writer) {
	fmt.Fprintf(w, "Then everything is given back, the most important first, beside which %s still %s", verb(len(e.Second.Placed), "this pod", "all these pods"), verb(len(e.Second.Placed), "fits", "fit"))
	if need := max(1, e.MinCount-len(e.Running)); len(e.Groups) == 0 && len(e.Second.Placed) > need {
		fmt.Fprintf(w, ", also those beyond the %d that %s to", need, verb(need, "has", "have"))
	}
	fmt.Fprint(w, ".\n\n")
	if len(e.Evicted) == 0 {
		fmt.Fprint(w, "  Nothing has to go.\n\n")
	} else {
		fmt.Fprint(w, "  This is not given back:\n")
		t := table.New("  ", "EVICTED", "PRIORITY", "STARTED", "ON", "VIOLATES BUDGET", "IN THE WAY OF", "PLUGIN", "REASON")
		for i, u := range e.Evicted {
			if i == shownMembers {
				t.Row(fmt.Sprintf("… and %d more", len(e.Evicted)-i), "", "", "", "", "", "", "")
				break
			}
			on := u.Nodes[0]
			if n := len(u.Nodes); n > 1 {
				on = fmt.Sprintf("%d nodes", n)
			}
			reason := strings.Join(u.Reasons, "; ")
			if reason == "" {
				reason = "-"
			}
			t.Row(u.title(), fmt.Sprint(u.Priority), u.Started, on, strings.Join(u.Violates, ", "), u.Pod+" on "+u.Node, u.Plugin, reason)
		}
		t.WriteText(w)
		fmt.Fprintln(w)
	}
	if len(e.GivenBack) > 0 {
		var names []string
		for _, u := range e.GivenBack {
			names = append(names, u.title())
		}
		fmt.Fprintf(w, "  Given back: %s\n\n", words.Some(names, shownPods))
	}
	told := false
	for _, u := range e.Evicted {
		if len(u.Pods) > 1 {
			told = true
			fmt.Fprintf(w, "  The pods of %s are preempted together or not at all: %s on %s (%s).\n",
				u.Name, words.Plural(len(u.Pods), "pod"), words.Plural(len(u.Nodes), "node"), words.Some(u.Nodes, shownNodes))
		}
	}
	if told {
		fmt.Fprintln(w)
	}
}

// title is "PodGroup default/train, 64 pods", or the name of a pod.
func (t *TogetherOn) title() string {
	if t.IsGroup {
		return fmt.Sprintf("%s, %s", t.Name, words.Plural(len(t.Pods), "pod"))
	}
	return t.Name
}

// together names pods, and those that are preempted together at once.
func (e *OfGroup) together(pods []string) (names []string) {
	for _, p := range pods {
		name := p
		for _, u := range e.Evicted {
			if u.IsGroup && slices.Contains(u.Pods, p) {
				n := 0
				for _, other := range pods {
					if slices.Contains(u.Pods, other) {
						n++
					}
				}
				if name = fmt.Sprintf("%s of %s", words.Plural(n, "pod"), u.Name); n == len(u.Pods) && n > 1 {
					name = "all " + name
				}
			}
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// resultText says what is written.
func (e *OfGroup) resultText(w io.Writer) {
	nodes := map[string]bool{}
	for _, u := range e.Evicted {
		for _, n := range u.Nodes {
			nodes[n] = true
		}
	}
	switch n := len(e.Deleted); n {
	case 0:
		fmt.Fprint(w, "Result: nobody is evicted.\n\n")
	default:
		fmt.Fprintf(w, "Result: %s on %s %s evicted.\n\n", words.Plural(n, "pod"), words.Plural(len(nodes), "node"), verb(n, "is", "are"))
	}
	var marked, unmarked []string
	for _, p := range e.Deleted {
		if slices.Contains(e.Marked, p) {
			marked = append(marked, p)
		} else {
			unmarked = append(unmarked, p)
		}
	}
	each := func(names []string, what string) {
		for i, name := range names {
			if i == shownMembers {
				fmt.Fprintf(w, "  … and %d more %s\n", len(names)-i, "likewise")
				break
			}
			fmt.Fprintf(w, "  %s %s %s\n", name, areOrIs(name), what)
		}
	}
	each(e.together(marked), "marked as DisruptionTarget and deleted")
	each(e.together(unmarked), "deleted")
	each(e.together(e.Terminating), "terminating already")
	for _, p := range e.Cleared {
		fmt.Fprintf(w, "  %s loses its nomination\n", p)
	}
	for _, at := range byNode(e.Nominated) {
		fmt.Fprintf(w, "  %s %s nominated to %s\n", words.Some(at.pods, shownPods), verb(len(at.pods), "is", "are"), at.node)
	}
	for _, b := range e.Before {
		if !slices.ContainsFunc(e.Nominated, func(n OnNode) bool { return n.Pod == b.Pod }) {
			fmt.Fprintf(w, "  %s loses its nomination to %s\n", b.Pod, b.Node)
		}
	}
	fmt.Fprintln(w)
}

// openText says what is told as the scheduler chose it.
func (e *OfGroup) openText(w io.Writer) {
	last := e.Second
	if last == nil {
		last = e.First
	}
	if last == nil {
		return
	}
	var open []string
	for _, p := range last.Placed {
		if len(p.Nodes) > 1 {
			open = append(open, p.Pod)
		}
	}
	if len(open) > 0 {
		fmt.Fprintf(w, "Nobody promises which of several nodes a pod takes. It is told as the scheduler chose for %s.\n\n", words.Some(open, shownPods))
	}
}

func (e *OfGroup) referenceText(w io.Writer) {
	r := &e.Reference
	did := r.breaks()
	on := func(pods []OnNode) string {
		var parts []string
		for _, at := range byNode(pods) {
			parts = append(parts, fmt.Sprintf("%s to %s", words.Some(at.pods, shownNodes), at.node))
		}
		return words.Some(parts, shownPods)
	}
	switch {
	case did != "":
	case r.Waits:
		did = "the group waits"
	case len(r.Bound) > 0:
		did = "it binds " + on(r.Bound)
	case r.PostFilterError != "":
		did = "it preempts nothing, as preemption ends in an error: " + r.PostFilterError
	default:
		did = "it preempts nothing"
		if len(r.Victims) > 0 {
			did = "it preempts " + words.Some(e.together(r.Victims), shownPods)
		}
		if len(r.Nominated) > 0 {
			did += ", and nominated are then " + on(r.Nominated)
		}
	}
	r.writeText(w, did)
}
