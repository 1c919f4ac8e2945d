package properties

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/answers/podgroups"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
)

// Result is what became of one cluster.
type Result struct {
	Cluster *model.Cluster
	// Observation is what the system did; nil if it was not asked.
	Observation *model.Observation
	// Decision is what the model allows; nil if it does not cover the cluster, and if the preemptor is a
	// pod group: then Group is.
	Decision *answers.Set
	Group    *podgroups.Set
	// Unmodelled says what the model does not cover, or the system does not know:
	// Refused tells which. If there is an Observation, what needs no model of it was
	// checked.
	Unmodelled model.Unmodelled
	Refused    bool
	// Undecided says where the model does not know all allowed answers, and what
	// was observed is none of those it knows (answers.Set.Exact). It is no
	// finding, and no agreement either.
	Undecided string
	// Modelled is the plugin, not Kubernetes' own, that the scheduler has and that the model covers; "" if there is none.
	Modelled string
	// Filters counts, by plugin, what filters said that were asked one by one.
	Filters map[string]FilterCount
	// Plugins counts, by plugin, what came about when plugins were asked one by one.
	Plugins map[string]map[string]int
	// Reached names what came about when the system was asked again: HintUsed and so on.
	Reached map[string]bool
	// Findings are the promises that were broken, known ones included.
	Findings []Finding
}

// HintUsed is that a pod was placed by what was found out for the equal one before it.
const HintUsed = "batch hint used"

// SaidAlready is that a pod failed for what its condition PodScheduled said already.
const SaidAlready = "failure said already"

// HintWorse is that the node of a hint was not among the best any more when that was too old
// to be used.
const HintWorse = "batch hint worse"

// Unexplained are the findings that no entry of the ledger explains.
func (r *Result) Unexplained() []Finding {
	var out []Finding
	for _, f := range r.Findings {
		if len(f.Known) == 0 {
			out = append(out, f)
		}
	}
	return out
}

// Particular are the findings that say something about this cluster: all but those
// that show on every cluster on which pods are preempted.
func (r *Result) Particular() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool {
		return len(f.Known) > 0 && !slices.ContainsFunc(f.Known, func(id string) bool { return !ledger.IsRoutine(id) })
	})
}

// Finding is a promise that a system broke on a cluster.
type Finding struct {
	// Property is the name of the property that does not hold.
	Property string
	// Stage is the first stage at which it shows, Node the node, if it shows on
	// one.
	Stage model.Stage
	Node  string
	// Kind says how it does not hold, in words that do not depend on the cluster:
	// see answers.Disagreement.Kind. "" if there is one way only.
	Kind string
	// Detail says what was wanted and what happened.
	Detail string
	// Known holds the ids of the ledger entries that together explain the
	// finding; none if it is new.
	Known []string
	// Stack holds the functions on the way to a crash (Crash.Frames), if it is one.
	Stack []string

	// about names the pod or node in question, if Node does not. Findings of one
	// property are told apart by Stage, Node and about: Detail may hold numbers
	// that depend on other findings.
	about string
}

// Disagrees tells whether the finding is new, or known and more than a remark.
func (f Finding) Disagrees() bool { return len(f.Known) == 0 || ledger.Disagree(f.Known) }

func (f Finding) String() string {
	where := string(f.Stage)
	if f.Node != "" {
		where += " on " + f.Node
	}
	if where != "" {
		where += ": "
	}
	text := f.Property + ": " + where + f.Detail
	if len(f.Known) == 0 {
		return "finding: " + text
	}
	what := "remark "
	if f.Disagrees() {
		what = "known finding "
	}
	prefix := ""
	for _, id := range f.Known {
		prefix += what + ledger.Name(id) + ": "
	}
	return prefix + text
}
