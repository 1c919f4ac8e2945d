package fingerprint

import (
	"fmt"
	"strings"

	"github.com/preemptcheck/preemptcheck/internal/words"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/mutant"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/all"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// AsIf names the models, each wrong in one rule, that agree with all that was
// observed: the scheduler behaves as if it broke that rule.
func AsIf(r *properties.Result) []string {
	if r.Observation == nil || r.Cluster.Preemptor == nil && r.Group == nil {
		return nil
	}
	var names []string
	if r.Group != nil {
		for _, m := range mutant.OfGangs() {
			if d, err := m.DecideGroup(r.Cluster); err == nil && d.Admits(r.Observation) == nil {
				names = append(names, m.Name)
			}
		}
		return names
	}
	for _, m := range mutant.All() {
		if d, err := m.Seeing(r.Observation).Decide(r.Cluster); err == nil && d.Admits(r.Observation) == nil {
			names = append(names, m.Name)
		}
	}
	return names
}

// maxAsIf is how many broken rules are a hint. On a small cluster two of them are
// often alike.
const maxAsIf = 3

// Explain says in one sentence, for a maintainer, what should happen on a
// minimised cluster, what happens instead, and which single broken rule would
// explain it. r is the result of checking it, nil if the check failed.
func Explain(r *properties.Result, f *properties.Finding) string {
	detail := words.FirstLine(f.Detail)
	if r == nil || r.Observation == nil {
		return "The check fails: " + detail + "."
	}
	text := "On " + size(r.Cluster)
	if shape := Shape(r.Cluster); len(shape) > 0 {
		text += ", with " + and(strings.Join(shape, ", "))
	}
	if f.Property == properties.Differential {
		text += ", the scheduler is wrong about " + subjects[f.Stage]
		if f.Node != "" {
			text += " on " + f.Node
		}
		text += ": " + detail
		if asIf := AsIf(r); 0 < len(asIf) && len(asIf) <= maxAsIf {
			text += ", as if the rule were broken: " + strings.Join(asIf, ", or ")
		}
	} else {
		text += ": " + detail + promise(f.Property)
	}
	if len(f.Known) > 0 {
		text += " (known: " + Named(f.Known) + ")"
	}
	return text + "."
}

// Named are known findings, with their classes.
func Named(ids []string) string {
	var names []string
	for _, id := range ids {
		names = append(names, ledger.Name(id))
	}
	return strings.Join(names, ", ")
}

// subjects are what the model and the scheduler disagree about at each stage.
var subjects = map[model.Stage]string{
	model.StageFilter:     "the verdict of the filters",
	model.StageEligible:   "whether the pod may preempt",
	model.StagePotential:  "the list of potential nodes",
	model.StageDryRun:     "the outcome of preemption",
	model.StagePlacement:  "where the members of the group go",
	model.StageReprieve:   "what is given back",
	model.StageCandidates: "the shortlist",
	model.StageExtenders:  "what extenders leave of the candidates",
	model.StagePick:       "the node picked",
	model.StageActuate:    "what is written to the API",
}

// promise quotes what a property promises.
func promise(name string) string {
	for _, p := range all.Properties() {
		if p.Name == name {
			return fmt.Sprintf(", against the promise %q", p.Promise)
		}
	}
	return ""
}

func size(c *model.Cluster) string {
	text := words.Plural(len(c.Nodes), "node") + " with " + words.Plural(len(c.Pods), "pod")
	if n := len(c.PodDisruptionBudgets); n > 0 {
		text += " and " + words.Plural(n, "budget")
	}
	return text
}
