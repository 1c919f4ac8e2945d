package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/properties/exposure"
)

// MaxExposed is how many workloads a page of exposure shows and holds, those that are hurt most.
const MaxExposed = 500

// exposureView is what the template "exposure" shows.
type exposureView struct {
	*exposure.Report
	Classes []class
	Rows    []exposedRow
	LeftOut int
}

// exposedRow is a workload; Class is the filter's: what its budgets are worth.
type exposedRow struct {
	*exposure.Workload
	Class    string
	Priority string
	By       string // the lowest class that can preempt it
	Most     part
	Threats  []exposedThreat
	Budgets  []exposedBudget
	Now      []string
	Loss     string
}

// exposedThreat is what a pod of a class takes.
type exposedThreat struct {
	Class string
	part
	Node, Asks string
}

// part is a share of the pods of a workload.
type part struct {
	Pods    int // that could go at once
	Percent float64
	Text    string
}

// Width is that of a bar.
func (s part) Width() string { return fmt.Sprintf("%.1f%%", s.Percent) }

// exposedBudget is a budget with its verdict, which is told by a sign, too.
type exposedBudget struct {
	exposure.Budget
	Mood, Sign, Text string
}

// The filters, the worst first.
const (
	budgetViolated  = "budget can be violated"
	budgetByFinding = "by a finding"
	noBudget        = "no budget"
	budgetHonoured  = "budget honoured"
	notExposed      = "not preempted"
)

// Exposure writes the page of what of a cluster can be preempted.
func Exposure(w io.Writer, r *exposure.Report) error {
	shown := *r
	shown.Workloads = r.Workloads[:min(len(r.Workloads), MaxExposed)]
	v := &exposureView{Report: &shown, LeftOut: len(r.Workloads) - len(shown.Workloads)}
	for _, name := range []string{budgetViolated, budgetByFinding, noBudget, budgetHonoured, notExposed} {
		v.Classes = append(v.Classes, class{Name: name})
	}
	for _, its := range shown.Workloads {
		row := newExposedRow(its)
		for i := range v.Classes {
			if v.Classes[i].Name == row.Class {
				v.Classes[i].Count++
			}
		}
		v.Rows = append(v.Rows, row)
	}
	d, err := render(&page.Document{
		Title: "What can be preempted", Kind: "Exposure", Verdict: exposed(r), Data: &shown,
		Facts: []page.Fact{{Name: "Cluster", Value: words.Plural(r.Nodes, "node") + ", " + words.Plural(r.Pods, "pod")}, {Name: "Release", Value: r.Release}, {Name: "From", Value: fromFile(r.File)}},
	}, "exposure", v)
	if err != nil {
		return err
	}
	return d.Write(w)
}

func fromFile(name string) string {
	if name == "" {
		return "the live cluster"
	}
	return name
}

// exposed is the verdict of all workloads, also of those that are not shown.
func exposed(r *exposure.Report) *page.Verdict {
	threatened, violated, byFinding := 0, 0, 0
	for _, its := range r.Workloads {
		if len(its.Threats) > 0 {
			threatened++
		}
		switch worst(its) {
		case exposure.Violated:
			violated++
		case exposure.ByFinding:
			byFinding++
		}
	}
	v := &page.Verdict{Mood: page.Good, Text: fmt.Sprintf("%d of %s can be preempted.", threatened, words.Plural(len(r.Workloads), "workload"))}
	if byFinding > 0 {
		v.Mood = page.Unclear
		v.Lines = append(v.Lines, fmt.Sprintf("Of %d a budget can be violated by a known finding.", byFinding))
	}
	if violated > 0 {
		v.Mood = page.Bad
		v.Lines = append(v.Lines, fmt.Sprintf("Of %d a budget can be violated, as documented.", violated))
	}
	v.Lines = append(v.Lines, r.Notes...)
	return v
}

// worst is the worst verdict on a budget of a workload; "" if it has none.
func worst(its *exposure.Workload) (verdict exposure.Verdict) {
	rank := map[exposure.Verdict]int{exposure.Honoured: 1, exposure.ByFinding: 2, exposure.Violated: 3}
	for _, b := range its.Budgets {
		if rank[b.Verdict] > rank[verdict] {
			verdict = b.Verdict
		}
	}
	return verdict
}

func newExposedRow(its *exposure.Workload) exposedRow {
	row := exposedRow{Workload: its, Class: noBudget, Priority: fmt.Sprint(its.Lowest), By: "–", Most: newPart(its, exposure.Threat{}), Loss: "–"}
	if its.Highest != its.Lowest {
		row.Priority = fmt.Sprintf("%d to %d", its.Lowest, its.Highest)
	}
	switch worst(its) {
	case exposure.Violated:
		row.Class = budgetViolated
	case exposure.ByFinding:
		row.Class = budgetByFinding
	case exposure.Honoured:
		row.Class = budgetHonoured
	}
	if len(its.Threats) == 0 {
		row.Class = notExposed
	} else {
		row.By = its.Threats[0].Class
	}
	for _, t := range its.Threats {
		s := newPart(its, t)
		if s.Percent > row.Most.Percent {
			row.Most = s
		}
		row.Threats = append(row.Threats, exposedThreat{t.Class, s, t.Node, t.Asks})
	}
	for _, b := range its.Budgets {
		row.Budgets = append(row.Budgets, newExposedBudget(b))
	}
	for _, t := range its.Now {
		text := fmt.Sprintf("%s takes up to %d on %s", t.Pod, t.AtOnce, t.Node)
		if t.Alike > 0 {
			text += fmt.Sprintf(", and so would %d more", t.Alike)
		}
		row.Now = append(row.Now, text)
	}
	if l := its.Loss; l.Nodes > 0 {
		row.Loss = fmt.Sprintf("%d preempted, %d pending if %s is lost", l.WorstPreempted, l.WorstPending, l.Worst)
	}
	return row
}

// newPart is the share of a workload that a threat takes, or may take.
func newPart(its *exposure.Workload, t exposure.Threat) part {
	s := part{Pods: max(t.AtOnce, t.AtMost), Text: fmt.Sprintf("%d of %d", t.AtOnce, its.Pods)}
	if t.AtMost > t.AtOnce {
		s.Text = fmt.Sprintf("%d to %d of %d", t.AtOnce, t.AtMost, its.Pods)
	}
	if its.Pods > 0 {
		s.Percent = 100 * float64(s.Pods) / float64(its.Pods)
	}
	return s
}

func newExposedBudget(b exposure.Budget) exposedBudget {
	mood := page.Good
	row := exposedBudget{Budget: b, Mood: "good", Text: string(b.Verdict)}
	switch b.Verdict {
	case exposure.ByFinding:
		mood, row.Mood = page.Unclear, "warn"
		ids := make([]string, 0, len(b.Findings))
		for _, f := range b.Findings {
			ids = append(ids, f.ID)
		}
		row.Text += ": " + strings.Join(ids, ", ")
	case exposure.Violated:
		mood, row.Mood = page.Bad, "bad"
		row.Text += fmt.Sprintf(" by %s, by %d on %s", b.Class, b.Over, b.Node)
	}
	row.Sign = mood.Sign()
	return row
}
