package answers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Disagreement is the first stage at which an observation is not one of the
// answers allowed.
type Disagreement struct {
	Stage model.Stage
	// Node is the node it shows on, where the stage has one.
	Node string
	// Kind says in which way they differ, in words that do not depend on the
	// cluster: no names, no numbers. Disagreements of different kinds are unlikely
	// to have one cause.
	Kind string
	// Want and Got are for people.
	Want, Got string
	// Undecided says that this may be no disagreement at all: the node has more
	// orders of equally important units than can be tried (see Set.Exact),
	// and none of those tried led to what was observed.
	Undecided bool
	// Members is, of a pod group, how many of its pods were tried in the stage as is allowed.
	Members int
}

func (d *Disagreement) String() string {
	at := string(d.Stage)
	if d.Node != "" {
		at += " on " + d.Node
	}
	return fmt.Sprintf("%s: want %s, got %s", at, d.Want, d.Got)
}

func disagree(stage model.Stage, node, kind string, want, got any) *Disagreement {
	return &Disagreement{Stage: stage, Node: node, Kind: kind, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
}

// Admits compares an observation with the answers allowed, stage by stage, and
// returns the first disagreement, or nil. A stage that the system cannot show is
// passed over; everything it does show is compared.
func (s *Set) Admits(o *model.Observation) *Disagreement {
	if dis := s.admitsStages(o); dis != nil {
		return dis
	}
	return s.admitsDeallocation(o)
}

func (s *Set) admitsStages(o *model.Observation) *Disagreement {
	if dis := s.AdmitsFilters(o); dis != nil {
		return dis
	}
	switch {
	case len(s.cycleErrors()) > 0:
		return s.admitsNomination(o, s.Cycle.NoCandidate(s.Decision))
	case len(s.Fits) > 0:
		return nil
	case s.NeverPreempts():
		return s.admitsNothing(o)
	case s.PostFilterError != "":
		return cmp.Or(s.admitsStatus(o, codeError), s.admitsNomination(o, keepsNomination()))
	case o.Eligible != nil && o.Eligible.OK != s.Eligible.OK:
		kind := kindNotEligible
		if o.Eligible.OK {
			kind = kindEligible
		}
		return disagree(model.StageEligible, "", kind, *s.Eligible, *o.Eligible)
	case !s.Eligible.OK:
		return cmp.Or(s.admitsStatus(o, codeUnschedulable), s.admitsNomination(o, keepsNomination()))
	}
	if o.Eligible != nil { // the system shows its stages
		if got := slices.Sorted(slices.Values(o.PotentialNodes)); !slices.Equal(got, s.PotentialNodes) {
			return disagree(model.StagePotential, "", "tries: "+listKind(s.PotentialNodes, got), s.PotentialNodes, got)
		}
	}
	first := s.admitsIn(s.worlds[0], o)
	if first == nil || o.PinnedBudgetOrder {
		return first
	}
	for _, w := range s.allWorlds()[1:] {
		if s.admitsIn(w, o) == nil {
			return nil
		}
	}
	return first
}

// admitsNothing is Admits for a profile that does not preempt.
func (s *Set) admitsNothing(o *model.Observation) *Disagreement {
	if o.Eligible != nil || o.Pick != nil {
		return disagree(model.StageEligible, "", kindEligible, *s.Eligible, o.Eligible)
	}
	return s.admitsNomination(o, s.withoutPreemption())
}

// withoutPreemption is what a profile that does not preempt does: without any plugin to ask, a
// nomination is cleared.
func (s *Set) withoutPreemption() *model.Actuation {
	after := keepsNomination()
	if !s.rules.profile.Asks(s.rules.defaults) {
		after.Nomination = model.NominationCleared
	}
	return after
}

func keepsNomination() *model.Actuation { return &model.Actuation{Nomination: model.NominationKept} }

// AdmitsFilters is Admits up to whether the pod fits.
func (s *Set) AdmitsFilters(o *model.Observation) *Disagreement {
	switch failures := s.cycleErrors(); {
	case len(failures) > 0 && o.CycleError == "":
		return disagree(model.StageFilter, "", kindNoError, "an error: "+failures[0], "none")
	case len(failures) > 0 && !s.CycleFails(o.CycleError):
		return disagree(model.StageFilter, "", errorKind(o.CycleError), "an error: "+strings.Join(failures, ", or "), o.CycleError)
	case len(failures) > 0:
		return nil
	case o.CycleError != "":
		return disagree(model.StageFilter, "", errorKind(o.CycleError), "no error", o.CycleError)
	}
	if dis := s.admitsSearch(o); dis != nil {
		return dis
	}
	for _, name := range slices.Sorted(maps.Keys(o.Filters)) {
		got, want := o.Filters[name], s.Verdicts[name]
		if want == nil || s.unreported(name) {
			return disagree(model.StageFilter, name, s.verdictKind(nil, &got), "fits", got)
		}
		if got.Plugin != want.Plugin || got.Unresolvable != want.Unresolvable {
			return disagree(model.StageFilter, name, s.verdictKind(want, &got), *want, got)
		}
	}
	fails := s.Verdicts[o.ScheduledTo]
	switch {
	case slices.Contains(s.Fits, o.ScheduledTo):
		return nil // not every node was looked at
	case len(s.Fits) > 0:
		kind := kindOtherNode
		if fails != nil {
			kind = s.verdictKind(fails, nil)
		}
		return disagree(model.StageFilter, "", kind, fmt.Sprint("scheduled to one of ", s.Fits), fmt.Sprintf("%q", o.ScheduledTo))
	case o.ScheduledTo != "":
		return disagree(model.StageFilter, o.ScheduledTo, s.verdictKind(fails, nil), *fails, "scheduled")
	case o.Filters == nil:
		return nil
	}
	for _, n := range s.Cycle.Nodes {
		if _, shown := o.Filters[n.Name]; !shown && !s.unreported(n.Name) {
			return disagree(model.StageFilter, n.Name, s.verdictKind(s.Verdicts[n.Name], nil), *s.Verdicts[n.Name], "fits")
		}
	}
	return nil
}

// admitsIn compares the stages from the dry run on, for one order of budgets.
func (s *Set) admitsIn(w *world, o *model.Observation) *Disagreement {
	if o.Eligible == nil {
		return s.admitsChoice(o)
	}
	observed := map[string]*model.Outcome{} // by node, of the candidates
	failedWithError := false
	for _, name := range slices.Sorted(maps.Keys(o.DryRuns)) {
		outcome, dis := s.admitsDryRun(w, name, o.DryRuns[name])
		if dis != nil {
			return dis
		}
		switch {
		case outcome == nil:
			failedWithError = failedWithError || w.runs[name].Failed.Error != ""
		case len(outcome.Pods) == 0:
			failedWithError = true
		default:
			observed[name] = outcome
		}
	}
	if dis := s.admitsCandidates(w, o, observed); dis != nil {
		return dis
	}
	failedWithError = failedWithError || len(w.unbegun()) > 0
	none := s.Cycle.NoCandidate(s.Decision) // what is written if none is left to pick from
	code := codeUnschedulable
	if failedWithError {
		none, code = keepsNomination(), codeError
	}
	candidates := map[string]*model.Outcome{}
	for _, name := range o.Candidates {
		candidates[name] = observed[name]
	}
	if len(candidates) > 0 {
		left, fails := s.Cycle.CallExtenders(candidates)
		if dis := s.admitsExtenders(o, left, fails); dis != nil {
			return dis
		}
		if fails != "" {
			return s.admitsNomination(o, s.Cycle.NoneLeft(true))
		}
		candidates, none, code = left, s.Cycle.NoneLeft(false), codeUnschedulable
	}
	if len(candidates) == 0 {
		if o.Pick != nil {
			return disagree(model.StagePick, "", kindPick, "none", *o.Pick)
		}
		return cmp.Or(s.admitsStatus(o, code), s.admitsNomination(o, none))
	}
	nodes, by := s.Cycle.Pick(candidates)
	if o.Pick == nil {
		return disagree(model.StagePick, "", kindNoPick, nodes, "none")
	}
	picked := candidates[o.Pick.Node]
	if !slices.Contains(nodes, o.Pick.Node) {
		return disagree(model.StagePick, "", s.pickKind(candidates[nodes[0]], picked), fmt.Sprintf("%v by %s", nodes, by), o.Pick.Node)
	}
	if !slices.Equal(o.Pick.Victims, picked.Victims) || o.Pick.Violations != picked.Violations {
		return disagree(model.StagePick, o.Pick.Node, kindElsewhere, picked.Victims, o.Pick.Victims)
	}
	return cmp.Or(s.admitsStatus(o, codeSuccess), s.admitsNomination(o, s.actuate(o.Pick.Node, picked.Pods)))
}

// admitsCandidates: the shortlist is everything that was tried with success,
// without violations or with, up to its length in each case; and nodes were left
// untried only after it was long enough and held one without violations.
func (s *Set) admitsCandidates(w *world, o *model.Observation, observed map[string]*model.Outcome) *Disagreement {
	var kinds, listed [2]int // how many of the observed, and of the shortlisted, by violating or not
	kind := func(outcome *model.Outcome) int { return min(outcome.Violations, 1) }
	for _, outcome := range observed {
		kinds[kind(outcome)]++
	}
	for _, name := range o.Candidates {
		if observed[name] == nil {
			return disagree(model.StageCandidates, name, kindNoCandidate, "no candidate", "candidate")
		}
		listed[kind(observed[name])]++
	}
	for k := range kinds {
		if want := s.Shortlisted(kinds[k]); listed[k] != want {
			kind := kindShort
			if listed[k] > want {
				kind = kindLong
			}
			return disagree(model.StageCandidates, "", kind, fmt.Sprintf("%d candidates without and %d with violations, at most %d of each", kinds[0], kinds[1], s.NumCandidates), o.Candidates)
		}
	}
	if tried := len(o.DryRuns) + len(w.unbegun()); tried < len(s.PotentialNodes) && !s.EnoughCandidates(kinds[1], kinds[0]) {
		return disagree(model.StageCandidates, "", kindFewerNodes, "all potential nodes tried", fmt.Sprintf("%d of %d", tried, len(s.PotentialNodes)))
	}
	if o.PinnedDryRuns {
		return s.admitsOrder(w, o, observed)
	}
	return nil
}

// admitsOrder: dry runs made one after another go from the offset on, and end as
// soon as there are enough candidates, one of them without violations
// (preemption.go:430@v1.37.1, DryRunPreemption).
func (s *Set) admitsOrder(w *world, o *model.Observation, observed map[string]*model.Outcome) *Disagreement {
	want, n := []string{}, len(s.PotentialNodes)
	var kinds [2]int // candidates so far, without and with violations
	for i := range n {
		if s.NumCandidates > 0 && s.EnoughCandidates(kinds[1], kinds[0]) {
			break
		}
		name := s.PotentialNodes[(s.Cycle.Settings.Offset()+i)%n]
		if !w.runs[name].Begun() {
			continue
		}
		want = append(want, name)
		if _, tried := o.DryRuns[name]; !tried {
			break
		}
		if outcome := observed[name]; outcome != nil {
			kinds[min(outcome.Violations, 1)]++
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(o.DryRuns)); !slices.Equal(want, got) {
		return disagree(model.StageCandidates, "", "tries: "+listKind(want, got), fmt.Sprintf("%v tried", want), got)
	}
	return nil
}

// dryRunErrs tells whether the dry run on some node may fail with an error, and not as the pod does not fit.
func (s *Set) dryRunErrs() bool {
	return slices.ContainsFunc(s.allWorlds(), func(w *world) bool {
		for _, run := range w.runs {
			if run.Failed != nil && run.Failed.Error != "" {
				return true
			}
		}
		return false
	})
}

// admitsChoice is for systems that show only their answer.
func (s *Set) admitsChoice(o *model.Observation) *Disagreement {
	choices := s.Choices()
	if o.Pick == nil {
		nothing, fails := s.picksNone()
		switch {
		case o.PostFilterCode == codeError && len(choices) == 0 && s.dryRunErrs():
			return s.admitsNomination(o, keepsNomination())
		case !fails && o.PostFilterCode == codeError:
			return disagree(model.StagePick, "", errorKind(o.PostFilterMessage), "no error", o.PostFilterMessage)
		case fails && s.admitsNomination(o, s.Cycle.NoneLeft(true)) == nil:
			return nil
		case nothing:
			return s.admitsNomination(o, s.Cycle.NoneLeft(false))
		case len(choices) > 0:
			return disagree(model.StagePick, "", kindNoPick, choiceNames(choices), "none")
		}
		return s.admitsNomination(o, s.Cycle.NoCandidate(s.Decision))
	}
	for _, c := range choices {
		if s.Gives(c, o) {
			return s.admitsNomination(o, s.actuate(c.Node, s.Cycle.PodsNamed(c.Node, o.Pick.Victims)))
		}
	}
	return disagree(model.StagePick, "", kindElsewhere, choiceNames(choices), *o.Pick)
}

func choiceNames(choices []Choice) []model.Pick {
	picks := make([]model.Pick, len(choices))
	for i, c := range choices {
		picks[i] = model.Pick{Node: c.Node, Victims: c.Outcome.Victims, Violations: c.Outcome.Violations}
	}
	return picks
}

// writes are the lists of what reaches the API.
var writes = []struct {
	aspect       Aspect
	should, does string
	of           func(*model.Actuation) []string
}{
	{AspectDeleted, "delete", "deletes", func(a *model.Actuation) []string { return a.Deleted }},
	{AspectMarked, "mark as disruption target", "marks", func(a *model.Actuation) []string { return a.DisruptionTarget }},
	{AspectWithdrawn, "clear the nomination of", "clears nominations of", func(a *model.Actuation) []string { return a.Cleared }},
	{AspectOther, "write nothing else, but", "writes", func(a *model.Actuation) []string { return a.Other }},
}

// admitsNomination compares what reached the API.
func (s *Set) admitsNomination(o *model.Observation, want *model.Actuation) *Disagreement {
	got := s.seen(o)
	if got == nil {
		return nil
	}
	for _, list := range writes {
		if want, did := list.of(want), list.of(got); !slices.Equal(want, did) {
			text := fmt.Sprint(did)
			if list.aspect != AspectOther && len(got.Other) > 0 {
				text += fmt.Sprintf(", and besides %q", got.Other)
			}
			return disagree(model.StageActuate, "", list.does+": "+listKind(want, did), fmt.Sprintf("%s %v", list.should, want), text)
		}
	}
	if got.Nomination == model.NominationUnseen {
		return nil
	}
	if want.Nomination != got.Nomination || want.NominatedNode != got.NominatedNode {
		return disagree(model.StageActuate, "", "nomination "+string(got.Nomination)+" but should be "+string(want.Nomination), "nomination "+nominationText(want), nominationText(got))
	}
	return nil
}

// seen is what reached the API, as the rules let it be seen.
func (s *Set) seen(o *model.Observation) *model.Actuation {
	if o.Actuation != nil && s.rules.Seen != nil {
		o = s.rules.Seen(o)
	}
	return o.Actuation
}

// unreported tells whether a node's failure is not reported.
func (s *Set) unreported(node string) bool { return s.rules.AbsentUnreported && s.Cycle.Absent[node] }

// admitsExtenders compares what the extenders left of the candidates observed.
func (s *Set) admitsExtenders(o *model.Observation, left map[string]*model.Outcome, failed string) *Disagreement {
	switch {
	case failed != "" && (o.Pick != nil || o.PostFilterCode != codeError && o.PostFilterCode != ""):
		return disagree(model.StageExtenders, "", kindNoError, "an error of extender "+failed, o.PostFilterCode)
	case failed != "" && o.PostFilterCode == codeError && !s.ExtenderFails(failed, o):
		return disagree(model.StageExtenders, "", errorKind(o.PostFilterMessage), "an error of extender "+failed, o.PostFilterMessage)
	case failed == "" && o.PostFilterCode == codeError:
		return disagree(model.StageExtenders, "", errorKind(o.PostFilterMessage), "no error", o.PostFilterMessage)
	case failed != "" || o.AfterExtenders == nil:
		return nil
	}
	for _, n := range slices.SortedFunc(slices.Values(s.Cycle.Nodes), func(a, b *filter.Node) int { return strings.Compare(a.Name, b.Name) }) {
		want, got := left[n.Name], o.AfterExtenders[n.Name]
		switch {
		case want == nil && got.Victims == nil:
		case want == nil:
			return disagree(model.StageExtenders, n.Name, kindNoCandidate, "dropped", got)
		case !slices.Equal(want.Victims, got.Victims) || want.Violations != got.Violations:
			return disagree(model.StageExtenders, n.Name, KindChoice, model.DryRun{Victims: want.Victims, Violations: want.Violations}, got)
		}
	}
	return nil
}

// admitsDeallocation compares which claim lost its allocation.
func (s *Set) admitsDeallocation(o *model.Observation) *Disagreement {
	if o.Actuation == nil {
		return nil
	}
	allowed, got := s.Deallocatable(), o.Actuation.Deallocated
	if len(allowed) == 0 && len(got) == 0 || len(got) == 1 && slices.Contains(allowed, got[0]) {
		return nil
	}
	return disagree(model.StageActuate, "", "deallocates: "+listKind(allowed[:min(1, len(allowed))], got), fmt.Sprintf("deallocate one of %v", allowed), got)
}

func nominationText(a *model.Actuation) string {
	if a.Nomination == model.NominationSet {
		return "set to " + a.NominatedNode
	}
	return string(a.Nomination)
}
