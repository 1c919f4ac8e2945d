package cycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/page/drawing"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// Facts are what an explanation says of each node.
func Facts(c *model.Cluster, e *explanation.Explanation) *drawing.Facts {
	f := &drawing.Facts{Preemptors: []*v1.Pod{c.Preemptor}}
	for _, name := range e.FitsOn {
		n := f.Node(name)
		n.Add(drawing.Fits)
		n.Say(filter, "It fits as it is.")
	}
	for _, failure := range e.Failed {
		state, help := drawing.Fails, "preemption could help"
		if failure.Unresolvable {
			state, help = drawing.Hopeless, "preemption cannot help"
		}
		text := reason(failure) + "; " + help
		for _, name := range failure.Nodes {
			n := f.Node(name)
			n.Add(state)
			n.Say(filter, text)
			n.Alike += text
		}
	}
	for _, failure := range e.NotHelpful {
		text := "Preemption does not help: " + reason(failure)
		for _, name := range failure.Nodes {
			n := f.Node(name)
			n.Add(drawing.Potential, drawing.NoHelp)
			n.Say(potential, "Preemption is tried.")
			n.Say(dryRun, text)
			n.Alike += text
		}
	}
	for i := range e.Candidates {
		candidate(f, &e.Candidates[i], i+1, e.CandidateCount)
	}
	chosen := map[string]bool{}
	for i := range e.Choices {
		a := &e.Choices[i]
		n := f.Node(a.Node)
		n.Add(drawing.Allowed)
		if !slices.ContainsFunc(n.Notes, func(said drawing.Note) bool { return said.Stage == pick }) {
			n.Say(pick, "May be picked, decided by: "+a.DecidedBy)
			n.Say(actuate, actuation(a))
		}
		chosen[a.Node] = true
		n.After, n.Gets, n.Alone = len(e.Choices) <= maxAlone, f.Preemptors, len(e.Choices) <= maxAlone
	}
	if r := &e.Reference; r.Pick != "" {
		n := f.Node(r.Pick)
		n.Add(drawing.Picked)
		n.Say(pick, "kube-scheduler picks it"+ifSo(!chosen[r.Pick], ", which is not allowed")+".")
		n.After, n.Gets, n.Alone = true, f.Preemptors, true
	}
	return f
}

// maxAlone is how many nodes that may be picked are drawn each by itself, and as they are after preemption.
const maxAlone = 20

func candidate(f *drawing.Facts, c *explanation.Candidate, rank, of int) {
	n := f.Node(c.Node)
	n.Add(drawing.Potential, drawing.Helps, drawing.Candidate)
	n.Say(potential, "Preemption is tried.")
	for _, p := range c.Victims {
		why := "no room for it beside the preemptor"
		if p.Violates != "" {
			why += "; it violates the budget " + p.Violates
		}
		n.Victims[p.Pod] = why
	}
	for _, p := range c.Reprieved {
		n.Reprieved[p.Pod] = "there is room for it beside the preemptor"
	}
	text := words.Plural(len(c.Victims), "victim")
	if len(c.Reprieved) > 0 {
		text += fmt.Sprintf(", %d reprieved", len(c.Reprieved))
	}
	if c.Violations > 0 {
		text += ", " + words.Plural(c.Violations, "budget violation")
	}
	if len(c.Other) > 0 {
		text += fmt.Sprintf("; %d more outcomes, by the order of equally important pods", len(c.Other))
	}
	n.Say(dryRun, text)
	n.Say(candidates, fmt.Sprintf("Candidate %d of %d: %s", rank, of, text))
	for _, x := range c.Extenders {
		switch {
		case x.Dropped:
			n.Say(extenders, x.Extender+" drops it.")
		default:
			n.Say(extenders, fmt.Sprintf("%s leaves the victims %s.", x.Extender, cmp.Or(words.Some(x.Victims, MaxNamed), "none")))
		}
	}
	if c.Fails != "" {
		n.Say(extenders, c.Fails+" fails, which ends the preemption.")
	}
	n.Alike += text
}

func actuation(a *explanation.Choice) string {
	parts := []string{"Nominated to the node"}
	for _, part := range []struct {
		what string
		pods []string
	}{{"deleted: ", a.Deleted}, {"terminating already: ", a.Terminating}, {"loses its nomination: ", a.Cleared}} {
		if len(part.pods) > 0 {
			parts = append(parts, part.what+words.Some(part.pods, MaxNamed))
		}
	}
	return strings.Join(parts, "; ") + "."
}

// reason is why nodes are out.
func reason(f explanation.Failure) string {
	if f.Plugin == "" {
		return cmp.Or(strings.Join(f.Reasons, "; "), "there is no pod of lower priority")
	}
	return f.Plugin + ": " + cmp.Or(strings.Join(f.Reasons, "; "), "no reason given")
}

func ifSo(so bool, text string) string {
	if so {
		return text
	}
	return ""
}
