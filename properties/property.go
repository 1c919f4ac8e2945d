package properties

import (
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Property is a promise that must hold of every cluster and every scheduler.
type Property struct {
	// Name identifies the property, for example "lower-priority-only".
	Name string
	// Promise quotes what users were promised, Source says where.
	Promise, Source string
	// Releases is the range of those that make the promise (release.Release.In); ""
	// is all.
	Releases string
	// Lies name what a lying scheduler does in the tests, which show that the
	// property notices. They prove that it can fail.
	Lies []string
	// Applies tells whether the promise says anything about this subject; nil
	// means always. Check is not called where it does not.
	Applies func(s *Subject) bool
	// Needs is what the property takes besides an observation.
	Needs Needs
	// PodByPod: the promise is about pods that are preempted one by one. It says nothing
	// where some can only be preempted together: see Subject.Together.
	PodByPod bool
	// Ungrouped: the promise is about pods that belong to no group: see Subject.Grouped.
	Ungrouped bool
	// Of is whose cycle the promise is about.
	Of Preemptors
	// Check returns how the promise was broken. It asks the system again where
	// it needs to; an error means that it could not.
	Check func(s *Subject) ([]Finding, error)
}

// Preemptors are those whose cycle a promise is about.
type Preemptors string

// The preemptors.
const (
	OfPods   Preemptors = ""
	OfGroups Preemptors = "pod groups"
	OfAny    Preemptors = "pods and pod groups"
)

// isAbout tells whether the promise is about the cycle of the subject.
func (p *Property) isAbout(s *Subject) bool {
	return p.Of == OfAny || (p.Of == OfGroups) == (s.Cluster.PreemptorGroup != "")
}

// Needs is what a property takes, besides an observation, to be asked.
type Needs string

// The needs.
const (
	// NeedsModel: it asks the model about the cluster.
	NeedsModel Needs = "the model"
	// NeedsRepetition: it compares with another answer of the system.
	NeedsRepetition Needs = "another answer"
)

// IsAsked tells whether the property can be asked about the subject: one that needs the
// model cannot where that has no answer, and one that compares answers cannot where
// chance decides, which the model would know.
func (p *Property) IsAsked(s *Subject) bool {
	switch p.Needs {
	case NeedsModel:
		return s.allowed() != nil
	case NeedsRepetition:
		return !s.Unmodelled.LeftToChance()
	}
	return true
}

// appliesTo tells whether the release makes the promise, whether it can be asked, and
// whether it says anything about the subject.
func (p *Property) appliesTo(s *Subject) bool {
	return p.isAbout(s) && promisedBy(s.Release, p.Releases) && p.IsAsked(s) && !(p.PodByPod && s.Together()) && !(p.Ungrouped && s.Grouped()) &&
		(p.Applies == nil || p.Applies(s))
}

// promisedBy tells whether a release is in the range of those that make a promise.
func promisedBy(version release.Release, releases string) bool {
	return releases == "" || version == release.Linked || version.In(releases)
}

// Found reports one broken promise. The checker adds the name of the property.
func Found(stage model.Stage, node, detail string) []Finding {
	return []Finding{FoundOf(stage, node, "", detail)}
}

// FoundOf reports a promise that was broken to the pod or node about.
func FoundOf(stage model.Stage, node, about, detail string) Finding {
	return Finding{Stage: stage, Node: node, Detail: detail, about: about}
}

// Pages of the documentation that several promises quote.
const (
	DocsPreemption = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\""
	DocsNominated  = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"User exposed information\""
	DocsBudgets    = "docs: concepts/scheduling-eviction/pod-priority-preemption, \"PodDisruptionBudget is supported, but not guaranteed\""
)

// Premise is a rule of a scheduler that properties rest on, and that older releases do
// not follow: the range of those that do (release.Release.In). The documentation of a
// release says so, or its source: see the flags of a release.
type Premise string

// The premises.
const (
	StartTimesCount        Premise = ">=1.15.0"
	BudgetsAreSpent        Premise = ">=1.18.0" // before, each pod violated a budget by itself, or none did
	DisruptedPodsAreExempt Premise = ">=1.19.0"
	NominatedNodeIsFirst   Premise = ">=1.22.0"
	VictimsAreMarked       Premise = ">=1.26.0"
	UnhealthyPodsMayGo     Premise = ">=1.27.0" // unhealthyPodEvictionPolicy is read by default, and documented
)

// Holds tells whether the scheduler's release follows a rule.
func (s *Subject) Holds(p Premise) bool { return promisedBy(s.Release, string(p)) }
