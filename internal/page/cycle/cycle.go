// Package cycle is the page of one scheduling cycle: the cluster drawn, and the stages to walk through.
package cycle

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/page"
	"github.com/preemptcheck/preemptcheck/internal/page/drawing"
	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties/explanation"
)

// MaxListed is how many candidates are listed, and MaxNamed how many pods or nodes are named in a
// sentence. The others are counted.
const (
	MaxListed = 200
	MaxNamed  = 10
)

// The ids of the stages.
const (
	filter     = "filter"
	eligible   = "eligible"
	potential  = "potential"
	dryRun     = "dryrun"
	candidates = "candidates"
	extenders  = "extenders"
	pick       = "pick"
	actuate    = "actuate"
)

// view is what the template shows.
type view struct {
	*explanation.Explanation
	Map    template.HTML
	Stages []stage
	Rows   []row
	More   int // candidates that are not listed
	Heads  []head
	Want   []answer
	Got    *answer
}

// stage is a step of the cycle.
type stage struct {
	ID, Title, Sum string
	Reached        bool
}

// head is a criterion.
type head struct {
	Name, Note string
	Deciding   bool
}

// row is a candidate.
type row struct {
	*explanation.Candidate
	Rank            int
	Chosen, Allowed bool
	Victims         string
	Cells           []cell
}

// cell is what a criterion looks at.
type cell struct {
	Text     string
	Deciding bool
}

// answer is a node with its victims: an allowed answer, or what the scheduler did.
type answer struct {
	Title, Text string
	Boxes       template.HTML
}

//go:embed cycle.html
var source string

var body = template.Must(template.New("cycle").Funcs(template.FuncMap{"some": some, "few": few, "join": strings.Join, "plural": words.Plural}).Parse(source))

func some(names []string) string { return words.Some(names, MaxNamed) }

// few names fewer, where there is little room.
func few(names []string) string { return words.Some(names, 3) }

// Write writes the page of a cycle. The explanation has to hold all candidates: those beyond MaxListed
// are drawn, but not listed.
func Write(w io.Writer, c *model.Cluster, e *explanation.Explanation) error {
	v := &view{Explanation: e, Stages: stages(e)}
	facts := Facts(c, e)
	var err error
	if v.Map, err = drawing.Draw(c, facts); err != nil {
		return err
	}
	v.listCandidates()
	if err := v.versus(c); err != nil {
		return err
	}
	html, err := page.Render(body, "cycle", v)
	if err != nil {
		return err
	}
	d := &page.Document{
		Title: "Who goes for " + e.Pod, Kind: "Scheduling cycle", Verdict: VerdictOf(&e.Reference, did(e)), Body: html, Data: embedded(e),
		Facts: []page.Fact{{Name: "Pod", Value: e.Pod}, {Name: "Priority", Value: fmt.Sprint(e.Priority)}, {Name: "Nodes", Value: fmt.Sprint(e.Nodes)}, {Name: "Scheduler", Value: "kube-scheduler " + e.Reference.System}},
	}
	if e.File != "" {
		d.Facts = append(d.Facts, page.Fact{Name: "From", Value: e.File})
	}
	return d.Write(w)
}

// maxPods is how many victims and reprieved pods the data of a page has, beyond those of the best candidate.
const maxPods = 5000

// embedded is the explanation as the page holds it: the best candidates of those that are listed.
func embedded(e *explanation.Explanation) *explanation.Explanation {
	short := *e
	pods, shown := 0, 0
	for _, c := range e.Candidates[:min(len(e.Candidates), MaxListed)] {
		if pods += len(c.Victims) + len(c.Reprieved); pods > maxPods && shown > 0 {
			break
		}
		shown++
	}
	short.Candidates = short.Candidates[:shown]
	short.Choices = short.Choices[:min(len(short.Choices), MaxListed)]
	return &short
}

// did says in words what the scheduler did.
func did(e *explanation.Explanation) string {
	switch r := &e.Reference; {
	case r.Crash != "":
		return "it breaks down: " + words.FirstLine(r.Crash)
	case r.Error != "":
		return "its cycle ends in an error: " + words.FirstLine(r.Error)
	case r.ScheduledTo != "":
		return "the pod fits on " + r.ScheduledTo
	case r.Pick != "":
		return fmt.Sprintf("it nominates %s and preempts %s", r.Pick, cmp.Or(words.Some(r.Victims, MaxNamed), "nobody"))
	}
	return "it preempts nobody"
}

// VerdictOf says whether the scheduler agrees with its documentation, and what it did.
func VerdictOf(r *explanation.Observed, did string) *page.Verdict {
	name := "kube-scheduler " + r.System
	v := &page.Verdict{Lines: r.Findings}
	switch {
	case r.Undecided != "":
		v.Mood, v.Text = page.Unclear, fmt.Sprintf("%s: not known whether it agrees: %s. What it does: %s.", name, r.Undecided, did)
	case r.Agrees:
		v.Mood, v.Text = page.Good, fmt.Sprintf("%s agrees: %s.", name, did)
	case r.Remark:
		v.Mood, v.Text = page.Unclear, fmt.Sprintf("%s agrees, with a remark: %s.", name, did)
	default:
		v.Mood, v.Text = page.Bad, fmt.Sprintf("%s disagrees: %s.", name, did)
	}
	if r.ToContact != "" {
		v.Lines = append(slices.Clip(v.Lines), r.ToContact)
	}
	if r.PostFilterError != "" {
		v.Lines = append(slices.Clip(v.Lines), r.PostFilterError)
	}
	return v
}

func stages(e *explanation.Explanation) []stage {
	preempts := e.Eligible != nil && e.Eligible.OK
	any := preempts && e.CandidateCount > 0
	all := []stage{{filter, "Filter", fmt.Sprintf("fits on %d of %d", len(e.FitsOn), e.Nodes), true}}
	switch {
	case e.Eligible == nil:
		all = append(all, stage{eligible, "Eligible", "", false})
	case e.Eligible.OK:
		all = append(all, stage{eligible, "Eligible", "yes", true})
	default:
		all = append(all, stage{eligible, "Eligible", "no", true})
	}
	changed := slices.ContainsFunc(e.Candidates, func(c explanation.Candidate) bool { return len(c.Extenders) > 0 || c.Fails != "" })
	return append(all,
		stage{potential, "Potential nodes", fmt.Sprint(e.PotentialNodes), preempts},
		stage{dryRun, "Dry run", fmt.Sprintf("helps on %d", e.CandidateCount), preempts && e.PotentialNodes > 0},
		stage{candidates, "Candidates", fmt.Sprint(e.CandidateCount), any},
		stage{extenders, "Extenders", "", any && changed},
		stage{pick, "Pick", words.Plural(len(e.Choices), "answer"), any},
		stage{actuate, "Actuate", "", any && len(e.Choices) > 0})
}

// listCandidates fills in the table.
func (v *view) listCandidates() {
	e := v.Explanation
	deciding := map[string]bool{}
	for _, c := range e.Choices {
		deciding[c.DecidedBy] = true
	}
	names := explain.CriterionNames()
	notes := []string{"violations of budgets", "highest priority of a victim", "sum of priorities, each from the lowest possible one", "number of victims", "start of the highest victim"}
	for i, name := range names {
		h := head{Name: name, Deciding: deciding[name]}
		if i < len(notes) {
			h.Note = notes[i]
		}
		v.Heads = append(v.Heads, h)
	}
	for i := range e.Candidates[:min(len(e.Candidates), MaxListed)] {
		c := &e.Candidates[i]
		r := row{Candidate: c, Rank: i + 1, Chosen: c.Node == e.Reference.Pick, Victims: some(podNames(c.Victims))}
		r.Allowed = slices.ContainsFunc(e.Choices, func(a explanation.Choice) bool { return a.Node == c.Node })
		for j, value := range c.Values {
			r.Cells = append(r.Cells, cell{value, j < len(v.Heads) && v.Heads[j].Deciding})
		}
		v.Rows = append(v.Rows, r)
	}
	v.More = e.CandidateCount - len(v.Rows)
}

func podNames(pods []explanation.Pod) (names []string) {
	for _, p := range pods {
		names = append(names, p.Pod)
	}
	return names
}

// maxAnswers is how many allowed answers are drawn beside what the scheduler did.
const maxAnswers = 4

// versus draws the allowed answers and what the scheduler did, where these differ.
func (v *view) versus(c *model.Cluster) (err error) {
	e := v.Explanation
	if e.Reference.Agrees || e.Reference.Pick == "" && len(e.Choices) == 0 {
		return nil
	}
	draw := func(title, node string, victims []string, text string) (answer, error) {
		facts := &drawing.Facts{Preemptors: []*v1.Pod{c.Preemptor}, Only: []string{node}}
		n := facts.Node(node)
		for _, key := range victims {
			n.Victims[key] = ""
		}
		n.After, n.Gets = true, facts.Preemptors
		boxes, err := drawing.Boxes(c, facts, title)
		return answer{title, text, boxes}, err
	}
	for _, a := range e.Choices[:min(len(e.Choices), maxAnswers)] {
		drawn, err := draw("Allowed: "+a.Node, a.Node, a.Victims, fmt.Sprintf("Preempts %s; decided by: %s.", cmp.Or(some(a.Victims), "nobody"), a.DecidedBy))
		if err != nil {
			return err
		}
		v.Want = append(v.Want, drawn)
	}
	if len(v.Want) == 0 {
		stays := answer{Title: "Nobody", Text: "Nothing is allowed to be preempted."}
		if e.Reference.Pick != "" {
			facts := &drawing.Facts{Only: []string{e.Reference.Pick}}
			if stays.Boxes, err = drawing.Boxes(c, facts, "Allowed: "+e.Reference.Pick+" as it is"); err != nil {
				return err
			}
		}
		v.Want = []answer{stays}
	}
	got := answer{Title: "Nothing preempted", Text: "It " + strings.TrimPrefix(did(e), "it ") + "."}
	if e.Reference.Pick != "" {
		got, err = draw("Picked: "+e.Reference.Pick, e.Reference.Pick, e.Reference.Victims, "Preempts "+cmp.Or(some(e.Reference.Victims), "nobody")+".")
	}
	v.Got = &got
	return err
}
