package answers

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
)

// Aspect is a part of what users see of a scheduling cycle.
type Aspect string

// The aspects, in the order in which they are compared.
const (
	AspectOutcome    Aspect = "outcome"    // of Outcomes
	AspectNode       Aspect = "node"       // that the pod runs on, or is nominated to
	AspectVictims    Aspect = "victims"    // who is preempted
	AspectDeleted    Aspect = "deleted"    // pods deleted
	AspectMarked     Aspect = "marked"     // pods that get the condition DisruptionTarget
	AspectWithdrawn  Aspect = "withdrawn"  // nominations of other pods
	AspectOther      Aspect = "other"      // further writes
	AspectNomination Aspect = "nomination" // the preemptor's own
	AspectClaims     Aspect = "claims"     // resource claims that lose their allocation
)

// What a cycle may come to, as Contrast names it.
const (
	VisibleError      = "an error"
	VisibleOtherError = "another error"
	VisibleFit        = "a node without preemption"
	VisiblePreempts   = "preemption"
	VisibleNothing    = "no preemption"
)

// How two lists may differ, as Contrast names it.
const (
	VisibleFewer = "fewer"
	VisibleMore  = "more"
	VisibleOther = "other"
)

// Contrast is the first aspect in which an observation is like none of the
// answers allowed, in words that do not depend on the cluster.
type Contrast struct {
	Aspect Aspect
	// Want is what the rules allow, Got what was observed: outcomes; for lists
	// whether one has more than the other; for the nomination what becomes of it.
	// Both are "" where there is nothing to say.
	Want, Got string
	// Undecided says that this may be no contrast: not all answers are known (see
	// Set.Exact).
	Undecided bool
}

// Swapped has the observation's part and that of the rules exchanged.
func (c *Contrast) Swapped() *Contrast {
	out := *c
	out.Want, out.Got = c.Got, c.Want
	return &out
}

// maxVisibleOrders bounds Set.Orders for AdmitsVisible: beyond it, working out
// all allowed answers takes longer than a few seconds.
const maxVisibleOrders = 50_000

// AdmitsVisible compares just what users see of an observation with the answers
// allowed: whether the pod fits or is nominated, and where, who is preempted, and
// what is written to the API. It passes over how the scheduler came to that: the
// filters that fail, the dry runs, the number of violations, the order of the
// victims. It returns nil if the observation is like one of the answers.
func (s *Set) AdmitsVisible(o *model.Observation) *Contrast {
	got := visibleOutcome(o)
	outcome := func(want string) *Contrast { return &Contrast{Aspect: AspectOutcome, Want: want, Got: got} }
	switch {
	case len(s.cycleErrors()) > 0:
		if got != VisibleError {
			return outcome(VisibleError)
		}
		if !s.CycleFails(o.CycleError) {
			return &Contrast{Aspect: AspectOutcome, Want: VisibleError, Got: VisibleOtherError}
		}
		return s.admitsWrites(o, s.Cycle.NoCandidate(s.Decision))
	case len(s.Fits) > 0:
		if got != VisibleFit {
			return outcome(VisibleFit)
		}
		if !slices.Contains(s.Fits, o.ScheduledTo) {
			return &Contrast{Aspect: AspectNode}
		}
		return nil
	case s.PostFilterError != "" || !s.Eligible.OK:
		if got != VisibleNothing {
			return outcome(VisibleNothing)
		}
		if s.NeverPreempts() {
			return s.admitsWrites(o, s.withoutPreemption())
		}
		return s.admitsWrites(o, keepsNomination())
	case s.Orders() > maxVisibleOrders:
		return &Contrast{Aspect: AspectVictims, Undecided: true}
	case got == VisiblePreempts:
		return s.admitsVisiblePick(o)
	}
	choices := s.Choices()
	if got == VisibleNothing {
		var first *Contrast
		for _, nothing := range s.nothings(len(choices) > 0) {
			c := s.admitsWrites(o, nothing)
			if c == nil {
				return nil
			}
			if first == nil {
				first = c
			}
		}
		if first != nil {
			return first
		}
	}
	if len(choices) > 0 {
		return outcome(VisiblePreempts)
	}
	return outcome(VisibleNothing)
}

func visibleOutcome(o *model.Observation) string {
	switch {
	case o.CycleError != "":
		return VisibleError
	case o.ScheduledTo != "":
		return VisibleFit
	case o.Pick != nil:
		return VisiblePreempts
	}
	return VisibleNothing
}

// admitsVisiblePick compares a preemption.
func (s *Set) admitsVisiblePick(o *model.Observation) *Contrast {
	exact, _ := s.Exact()
	if !exact {
		for _, w := range s.allWorlds() {
			if run := w.runs[o.Pick.Node]; run != nil && run.IsCandidate() && !run.exact {
				run.outcomes = append(run.outcomes, s.likely(run, o.Pick.Victims, w.order))
			}
		}
	}
	choices := s.Choices()
	if len(choices) == 0 {
		return &Contrast{Aspect: AspectOutcome, Want: VisibleNothing, Got: VisiblePreempts}
	}
	differs := &Contrast{Aspect: AspectNode, Undecided: !exact}
	for _, c := range choices {
		if c.Node != o.Pick.Node {
			continue
		}
		run := s.worlds[0].runs[c.Node]
		if s.sameVictims(run, c.Outcome, o.Pick.Victims) {
			return s.admitsWrites(o, s.actuate(c.Node, s.Cycle.PodsNamed(c.Node, o.Pick.Victims)))
		}
		if differs.Aspect == AspectNode {
			differs = visibleLists(AspectVictims, slices.Sorted(slices.Values(c.Outcome.Victims)), slices.Sorted(slices.Values(o.Pick.Victims)))
			differs.Undecided = !exact
		}
	}
	return differs
}

// sameVictims tells whether an outcome takes the pods named, in whatever order, or
// pods that can stand in for them.
func (s *Set) sameVictims(run *run, want *model.Outcome, victims []string) bool {
	got := s.Cycle.PodsNamed(run.Node.Name, victims)
	return len(got) == len(victims) && run.samePods(s.Cycle, want.Pods, got)
}

// nothings are the allowed writes to the API of a cycle that preempts nobody. There
// are none if preemption has to happen. helps says that an answer preempts.
func (s *Set) nothings(helps bool) []*model.Actuation {
	ends := false
	for _, w := range s.allWorlds() {
		for _, run := range w.runs {
			run.enumerate(s.Cycle, w.order)
			ends = ends || run.Failed != nil && run.Failed.Error != "" || run.Failed == nil && run.without() != nil
		}
	}
	nothing, fails := s.picksNone()
	var all []*model.Actuation
	if fails {
		all = append(all, s.Cycle.NoneLeft(true))
	}
	if nothing {
		all = append(all, s.Cycle.NoneLeft(false))
	}
	switch {
	case len(all) > 0 || helps:
		return all
	case ends:
		return []*model.Actuation{keepsNomination()}
	}
	return []*model.Actuation{s.Cycle.NoCandidate(s.Decision)}
}

// admitsWrites compares what reached the API. To clear a nomination that there is
// not, or to make one that there is, is to keep it.
func (s *Set) admitsWrites(o *model.Observation, want *model.Actuation) *Contrast {
	got := s.seen(o)
	if got == nil {
		return nil
	}
	for _, list := range writes {
		if want, got := list.of(want), list.of(got); !slices.Equal(want, got) {
			return visibleLists(list.aspect, want, got)
		}
	}
	before := s.Cycle.Preemptor.Status.NominatedNodeName
	if got.Nomination != model.NominationUnseen && nominatedAfter(want, before) != nominatedAfter(got, before) {
		return &Contrast{Aspect: AspectNomination, Want: string(want.Nomination), Got: string(got.Nomination)}
	}
	if s.admitsDeallocation(o) != nil {
		return &Contrast{Aspect: AspectClaims}
	}
	return nil
}

// nominatedAfter is where the preemptor is nominated to, which was nominated to
// before.
func nominatedAfter(a *model.Actuation, before string) string {
	switch a.Nomination {
	case model.NominationSet:
		return a.NominatedNode
	case model.NominationCleared:
		return ""
	}
	return before
}

func visibleLists(aspect Aspect, want, got []string) *Contrast {
	switch listKind(want, got) {
	case "too few":
		return &Contrast{Aspect: aspect, Want: VisibleMore, Got: VisibleFewer}
	case "too many":
		return &Contrast{Aspect: aspect, Want: VisibleFewer, Got: VisibleMore}
	}
	return &Contrast{Aspect: aspect, Want: VisibleOther, Got: VisibleOther}
}

// SameVisibly tells whether users see the same of two observations of a cluster.
func SameVisibly(c *model.Cluster, a, b *model.Observation) bool {
	if visibleOutcome(a) != visibleOutcome(b) || a.ScheduledTo != b.ScheduledTo {
		return false
	}
	if a.Pick != nil && b.Pick != nil && (a.Pick.Node != b.Pick.Node ||
		!slices.Equal(slices.Sorted(slices.Values(a.Pick.Victims)), slices.Sorted(slices.Values(b.Pick.Victims)))) {
		return false
	}
	if a.Actuation == nil || b.Actuation == nil || a.ScheduledTo != "" {
		return true
	}
	for _, list := range writes {
		if !slices.Equal(list.of(a.Actuation), list.of(b.Actuation)) {
			return false
		}
	}
	before := c.Preemptor.Status.NominatedNodeName
	return nominatedAfter(a.Actuation, before) == nominatedAfter(b.Actuation, before) && slices.Equal(a.Actuation.Deallocated, b.Actuation.Deallocated)
}
