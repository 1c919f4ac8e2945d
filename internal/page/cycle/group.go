package cycle

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/page/drawing"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// toldView is what the template "told" shows: a cluster, what is told of it in words, and the stages of a group's cycle; Group is
// nil, and there are none, of what is not modelled.
type toldView struct {
	Map    template.HTML
	Words  string
	Group  *explanation.OfGroup
	Stages []stage
}

// WriteGroup writes the page of the cycle of a pod group.
func WriteGroup(w io.Writer, c *model.Cluster, e *explanation.OfGroup) error {
	facts := groupFacts(c, e)
	did := "it preempts nobody"
	switch r := &e.Reference; {
	case r.Crash != "":
		did = "it breaks down: " + words.FirstLine(r.Crash)
	case r.Error != "":
		did = "its cycle ends in an error: " + words.FirstLine(r.Error)
	case r.Waits:
		did = "the group waits"
	case len(r.Victims) > 0:
		did = "it preempts " + words.Some(r.Victims, MaxNamed)
	case len(r.Bound) > 0:
		did = words.Plural(len(r.Bound), "member") + " fit without preemption"
	}
	v := &toldView{Group: e, Stages: groupStages(e)}
	d := &page.Document{
		Title: "Who goes for " + e.Group, Kind: "Scheduling cycle of a group", Data: e, Verdict: VerdictOf(&e.Reference.Observed, did),
		Facts: []page.Fact{{Name: "Group", Value: e.Group}, {Name: "Priority", Value: fmt.Sprint(e.Priority)}, {Name: "Pods", Value: fmt.Sprint(len(e.Pods))}, {Name: "Nodes", Value: fmt.Sprint(e.Nodes)}, {Name: "Scheduler", Value: "kube-scheduler " + e.Reference.System}},
	}
	return writeTold(w, c, facts, v, d, e.File, e.WriteText)
}

// groupStages are the stages of the cycle of a group, under the ids of those at which the same is shown of nodes in the cycle of a pod.
func groupStages(e *explanation.OfGroup) []stage {
	fit := func(p *explanation.Placement) string {
		if p == nil {
			return ""
		}
		return fmt.Sprintf("%d of %d fit", len(p.Placed), len(e.Pods))
	}
	may := ""
	if e.Eligible != nil {
		if may = "no"; e.Eligible.OK {
			may = "yes"
		}
	}
	return []stage{
		{filter, "Filter", fit(e.First), e.First != nil}, {eligible, "Eligible", may, e.Eligible != nil}, {potential, "Placement", fit(e.Second), e.Second != nil},
		{dryRun, "Reprieve", fmt.Sprintf("%d given back", len(e.GivenBack)), e.Second != nil && e.Helps},
		{actuate, "Actuate", "", len(e.Nominated) > 0},
	}
}

// groupFacts are what an explanation says of the nodes.
func groupFacts(c *model.Cluster, e *explanation.OfGroup) *drawing.Facts {
	pods, nodes := map[string]*v1.Pod{}, map[string]string{}
	for _, p := range c.Pods {
		pods[model.Key(p)], nodes[model.Key(p)] = p, p.Spec.NodeName
	}
	f := &drawing.Facts{}
	place := func(at []explanation.OnNode, state drawing.State) {
		for _, m := range at {
			if p := pods[m.Pod]; p != nil {
				f.Preemptors = append(f.Preemptors, p)
				n := f.Node(m.Node)
				n.Gets = append(n.Gets, p)
				n.Add(state)
				n.After, n.Alone = true, true
			}
		}
	}
	place(e.Nominated, drawing.Members)
	if e.Second != nil {
		for _, m := range e.Second.Placed {
			n := f.Node(m.Node)
			n.Add(drawing.Potential)
			n.Say(potential, "Without everything of lower priority, "+m.Pod+" fits.")
		}
	}
	if e.First != nil {
		for _, m := range e.First.Placed {
			f.Node(m.Node).Say(filter, m.Pod+" fits.")
		}
	}
	for _, m := range e.Nominated {
		f.Node(m.Node).Say(actuate, m.Pod+" is nominated to it.")
	}
	for _, unit := range e.Evicted {
		why := fmt.Sprintf("with %s there, %s would not fit on %s: %s", unit.Name, unit.Pod, unit.Node, strings.Join(append([]string{unit.Plugin}, unit.Reasons...), ", "))
		for _, key := range unit.Pods {
			n := f.Node(nodes[key])
			n.Victims[key] = why
			n.After = true
		}
	}
	for _, unit := range e.GivenBack {
		for _, key := range unit.Pods {
			f.Node(nodes[key]).Reprieved[key] = "all members still fit beside it"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f.Nodes)) {
		if n := f.Nodes[name]; len(n.Victims)+len(n.Reprieved) > 0 {
			n.Add(drawing.Touched)
			n.Say(dryRun, fmt.Sprintf("%s, %d given back", words.Plural(len(n.Victims), "victim"), len(n.Reprieved)))
		}
	}
	return f
}

// WriteUnmodelled writes the page of a cluster that the model does not cover.
func WriteUnmodelled(w io.Writer, c *model.Cluster, e *explanation.NotModelled) error {
	facts := &drawing.Facts{}
	if c.Preemptor != nil {
		facts.Preemptors = []*v1.Pod{c.Preemptor}
	}
	did := "it gets through"
	switch r := &e.Reference; {
	case r.Crash != "":
		did = "it breaks down: " + words.FirstLine(r.Crash)
	case r.ScheduledTo != "":
		did = "it schedules the pod to " + r.ScheduledTo
	case r.Pick != "":
		did = fmt.Sprintf("it nominates %s and preempts %s", r.Pick, words.Some(r.Victims, MaxNamed))
		n := facts.Node(r.Pick)
		n.Add(drawing.Picked)
		n.After, n.Gets = true, facts.Preemptors
		for _, v := range r.Victims {
			n.Victims[v] = "kube-scheduler preempts it"
		}
	}
	d := &page.Document{Title: "Who goes for " + e.Pod, Kind: "Scheduling cycle, not modelled", Data: e, Verdict: VerdictOf(&e.Reference, did)}
	d.Verdict.Lines = append(slices.Clip(e.Fields), d.Verdict.Lines...)
	return writeTold(w, c, facts, &toldView{}, d, e.File, e.WriteText)
}

func writeTold(w io.Writer, c *model.Cluster, facts *drawing.Facts, v *toldView, d *page.Document, file string, asText func(io.Writer)) (err error) {
	if v.Map, err = drawing.Draw(c, facts); err != nil {
		return err
	}
	var text bytes.Buffer
	asText(&text)
	v.Words = text.String()
	if file != "" {
		d.Facts = append(d.Facts, page.Fact{Name: "From", Value: file})
	}
	if d.Body, err = page.Render(body, "told", v); err != nil {
		return err
	}
	return d.Write(w)
}
