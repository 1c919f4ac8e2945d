// Package reports are the pages of lists: of cases that were checked, of known findings, of a campaign, and of what
// two releases decide differently.
package reports

import (
	_ "embed"
	"html/template"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/corpus"
	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/page/drawing"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
)

//go:embed reports.html
var source string

var body = template.Must(template.New("reports").Funcs(template.FuncMap{"join": strings.Join, "plural": words.Plural, "add": func(a, b int) int { return a + b }}).Parse(source))

// render is a page of one of the templates.
func render(d *page.Document, name string, data any) (*page.Document, error) {
	var err error
	d.Body, err = page.Render(body, name, data)
	return d, err
}

// maxDrawn is how many nodes a cluster has at most that is drawn in a card.
const maxDrawn = 24

// drawCase draws the cluster of a case, with what is expected of it; "" if it is too large.
func drawCase(c *corpus.Case) (template.HTML, error) {
	cluster := c.Cluster
	if c.Timeline != nil {
		cluster = c.Timeline.Cluster
	}
	if cluster == nil || len(cluster.Nodes) == 0 || len(cluster.Nodes) > maxDrawn {
		return "", nil
	}
	facts := &drawing.Facts{}
	if p := cluster.Preemptor; p != nil {
		facts.Preemptors = []*v1.Pod{p}
		for _, n := range cluster.Nodes {
			facts.Node(n.Name).Add(drawing.Unjudged)
		}
	}
	if e := c.Expected(release.Linked.String()); e != nil {
		expected(cluster, e, facts)
	}
	return drawing.Boxes(cluster, facts, "The smallest cluster")
}

// drawText draws the case that a text holds; "" if it holds none.
func drawText(text string) (template.HTML, error) {
	stream, err := corpus.Read(strings.NewReader(text), "case")
	if err != nil || len(stream.Cases) == 0 {
		return "", nil
	}
	return drawCase(stream.Cases[0])
}

// expected draws what a case expects.
func expected(c *model.Cluster, e *corpus.Expectation, facts *drawing.Facts) {
	pods := map[string]*v1.Pod{}
	for _, p := range c.Pods {
		pods[model.Key(p)] = p
	}
	for _, nomination := range e.Nominations {
		at := []string{nomination.Node}
		if nomination.Node == "" {
			at = nil
			for member, node := range nomination.Members {
				if p := pods[member]; p != nil {
					facts.Preemptors = append(facts.Preemptors, p)
					facts.Node(node).Gets = append(facts.Node(node).Gets, p)
					at = append(at, node)
				}
			}
		}
		for _, node := range at {
			n := facts.Node(node)
			n.After = true
			if n.Add(drawing.Members); nomination.Node != "" {
				n.Add(drawing.Allowed)
				n.Gets = facts.Preemptors
			}
		}
		for _, v := range nomination.Victims {
			if p := pods[v]; p != nil {
				facts.Node(p.Spec.NodeName).Victims[v] = "the documentation allows that it is preempted"
			}
		}
	}
}
