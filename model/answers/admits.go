package answers

import (
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
	// orders of equally important pods than can be tried (see Set.Exact),
	// and none of those tried led to what was observed.
	Undecided bool
}

func (d *Disagreement) String() string {
	at := string(d.Stage)
	if d.Node != "" {
		at += " on " + d.Node
	}
	return fmt.Sprintf("%s: want %s, got %s", at, d.Want, d.Got)
}

func disagree(stage model.Stage, node string, want, got any) *Disagreement {
	return &Disagreement{Stage: stage, Node: node, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
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
	if dis := s.admitsFilters(o); dis != nil {
		return dis
	}
	if len(s.Cycle.Nodes) == 0 || s.Error != "" {
		return s.admitsNomination(o, s.noCandidate())
	}
	if len(s.Fits) > 0 {
		return nil
	}
	if s.PostFilterError != "" {
		return s.admitsNomination(o, &model.Actuation{Nomination: model.NominationKept})
	}
	if o.Eligible != nil && o.Eligible.OK != s.Eligible.OK {
		kind := kindNotEligible
		if o.Eligible.OK {
			kind = kindEligible
		}
		return disagree(model.StageEligible, "", *s.Eligible, *o.Eligible).of(kind)
	}
	if !s.Eligible.OK {
		return s.admitsNomination(o, &model.Actuation{Nomination: model.NominationKept})
	}
	if o.Eligible != nil { // the system shows its stages
		if got := slices.Sorted(slices.Values(o.PotentialNodes)); !slices.Equal(got, s.PotentialNodes) {
			return disagree(model.StagePotential, "", s.PotentialNodes, got).of("tries", listKind(s.PotentialNodes, got))
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

func (s *Set) admitsFilters(o *model.Observation) *Disagreement {
	if len(s.Cycle.Nodes) == 0 {
		if o.CycleError == "" {
			return disagree(model.StageFilter, "", "an error: no nodes", "none").of(kindNoError)
		}
		return nil
	}
	if s.Error != "" {
		if o.CycleError == "" {
			return disagree(model.StageFilter, "", "an error: "+s.Error, "none").of(kindNoError)
		}
		return nil
	}
	if o.CycleError != "" {
		return disagree(model.StageFilter, "", "no error", o.CycleError).of(kindError)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Filters)) {
		got, want := o.Filters[name], s.Verdicts[name]
		if want == nil || s.unreported(name) {
			return disagree(model.StageFilter, name, "fits", got).of(s.verdictKind(nil, &got)...)
		}
		if got.Plugin != want.Plugin || got.Unresolvable != want.Unresolvable {
			return disagree(model.StageFilter, name, *want, got).of(s.verdictKind(want, &got)...)
		}
	}
	if len(s.Fits) > 0 {
		if !slices.Contains(s.Fits, o.ScheduledTo) {
			kind := []string{kindOtherNode}
			if want := s.Verdicts[o.ScheduledTo]; want != nil {
				kind = s.verdictKind(want, nil)
			}
			return disagree(model.StageFilter, "", fmt.Sprint("scheduled to one of ", s.Fits), fmt.Sprintf("%q", o.ScheduledTo)).of(kind...)
		}
		// Not every node was looked at.
		return nil
	}
	if o.ScheduledTo != "" {
		return disagree(model.StageFilter, o.ScheduledTo, *s.Verdicts[o.ScheduledTo], "scheduled").of(s.verdictKind(s.Verdicts[o.ScheduledTo], nil)...)
	}
	if o.Filters == nil {
		return nil
	}
	for _, n := range s.Cycle.Nodes {
		if _, shown := o.Filters[n.Name]; !shown && !s.unreported(n.Name) {
			return disagree(model.StageFilter, n.Name, *s.Verdicts[n.Name], "fits").of(s.verdictKind(s.Verdicts[n.Name], nil)...)
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
	if dis := s.admitsCandidates(o, observed); dis != nil {
		return dis
	}
	if len(o.Candidates) == 0 {
		if o.Pick != nil {
			return disagree(model.StagePick, "", "none", *o.Pick).of(kindPick)
		}
		if failedWithError {
			return s.admitsNomination(o, &model.Actuation{Nomination: model.NominationKept})
		}
		return s.admitsNomination(o, s.noCandidate())
	}
	candidates := map[string]*model.Outcome{}
	for _, name := range o.Candidates {
		candidates[name] = observed[name]
	}
	candidates, fails := s.Cycle.CallExtenders(candidates)
	if dis := s.admitsExtenders(o, candidates, fails); dis != nil {
		return dis
	}
	if len(candidates) == 0 {
		if o.Pick != nil {
			return disagree(model.StagePick, "", "none", *o.Pick).of(kindPick)
		}
		return s.admitsNomination(o, s.noneLeft(fails != ""))
	}
	nodes, by := s.Cycle.Pick(candidates)
	if o.Pick == nil {
		return disagree(model.StagePick, "", nodes, "none").of(kindNoPick)
	}
	if !slices.Contains(nodes, o.Pick.Node) {
		return disagree(model.StagePick, "", fmt.Sprintf("%v by %s", nodes, by), o.Pick.Node).of(s.pickKind(candidates[nodes[0]], candidates[o.Pick.Node])...)
	}
	picked := candidates[o.Pick.Node]
	if !slices.Equal(o.Pick.Victims, picked.Victims) || o.Pick.Violations != picked.Violations {
		return disagree(model.StagePick, o.Pick.Node, picked.Victims, o.Pick.Victims).of(kindElsewhere)
	}
	return s.admitsNomination(o, s.actuate(o.Pick.Node, picked.Pods))
}

// admitsDryRun finds the allowed outcome that was observed on a node. It is nil
// if preemption does not help there.
func (s *Set) admitsDryRun(w *world, name string, got model.DryRun) (*model.Outcome, *Disagreement) {
	run := w.runs[name]
	if run == nil {
		return nil, disagree(model.StageDryRun, name, "not tried", got).of(kindOtherNodes)
	}
	if run.Failed != nil && run.Failed.Error != "" && got.Error != "" {
		return nil, nil
	}
	if run.Failed != nil {
		if got.Error != "" || got.Failed == nil || got.Failed.Plugin != run.Failed.Plugin || !s.rules.DryRunStatusUnreported && got.Failed.Unresolvable != run.Failed.Unresolvable {
			return nil, disagree(model.StageDryRun, name, model.DryRun{Failed: run.Failed}, got).of(s.dryRunKind(run, got)...)
		}
		return nil, nil
	}
	if got.Failed == nil {
		if o := run.find(s.Cycle, got); o != nil {
			return o, nil
		}
		run.enumerate(s.Cycle, w.order)
		if !run.exact {
			run.outcomes = append(run.outcomes, s.likely(run, got, w.order))
		}
		if o := run.find(s.Cycle, got); o != nil {
			return o, nil
		}
	}
	want := make([]model.DryRun, len(run.outcomes))
	for i, o := range run.outcomes {
		want[i] = model.DryRun{Victims: o.Victims, Violations: o.Violations}
	}
	dis := disagree(model.StageDryRun, name, want, got).of(s.dryRunKind(run, got)...)
	dis.Undecided = !run.exact && got.Failed == nil && got.Error == ""
	return nil, dis
}

// likely is the outcome of the order that is likeliest to lead to the victims
// observed: of equally important pods, those that were reprieved come first. If
// any order leads to them this one does, unless budgets tell the pods apart.
func (s *Set) likely(run *run, got model.DryRun, order []int) *model.Outcome {
	var sequence []*filter.Pod
	for _, group := range run.groups {
		for _, victims := range []bool{false, true} {
			for _, p := range group {
				if slices.Contains(got.Victims, p.Key) == victims {
					sequence = append(sequence, p)
				}
			}
		}
	}
	return s.Cycle.Reprieve(s.Cycle, run.DryRunOnNode, sequence, order)
}

// find is the outcome of r that was observed, with the pods observed, or nil.
func (r *run) find(cy *model.Cycle, got model.DryRun) *model.Outcome {
	if got.Error != "" {
		if len(r.Listed.Pods) == 0 {
			return r.Listed
		}
		return nil
	}
	o := &model.Outcome{Victims: got.Victims, Violations: got.Violations}
	for _, key := range got.Victims {
		i := slices.IndexFunc(r.Possible, func(p *filter.Pod) bool { return p.Key == key })
		if i < 0 || slices.Contains(o.Pods, r.Possible[i]) {
			return nil
		}
		o.Pods = append(o.Pods, r.Possible[i])
	}
	if len(o.Pods) > 0 && slices.ContainsFunc(r.outcomes, func(other *model.Outcome) bool { return r.same(cy, o, other) }) {
		return o
	}
	return nil
}

// admitsCandidates: the shortlist is everything that was tried with success,
// without violations or with, up to its length in each case; and nodes were left
// untried only after it was long enough and held one without violations.
func (s *Set) admitsCandidates(o *model.Observation, observed map[string]*model.Outcome) *Disagreement {
	var kinds [2]int // how many of the observed, and how many of the shortlisted, by violating or not
	var listed [2]int
	kind := func(outcome *model.Outcome) int { return min(outcome.Violations, 1) }
	for _, outcome := range observed {
		kinds[kind(outcome)]++
	}
	for _, name := range o.Candidates {
		if observed[name] == nil {
			return disagree(model.StageCandidates, name, "no candidate", "candidate").of(kindNoCandidate)
		}
		listed[kind(observed[name])]++
	}
	for k := range kinds {
		if want := s.Shortlisted(kinds[k]); listed[k] != want {
			kind := kindShort
			if listed[k] > want {
				kind = kindLong
			}
			return disagree(model.StageCandidates, "", fmt.Sprintf("%d candidates without and %d with violations, at most %d of each", kinds[0], kinds[1], s.NumCandidates), o.Candidates).of(kind)
		}
	}
	if tried := len(o.DryRuns); tried < len(s.PotentialNodes) && !s.EnoughCandidates(kinds[1], kinds[0]) {
		return disagree(model.StageCandidates, "", "all potential nodes tried", fmt.Sprintf("%d of %d", tried, len(s.PotentialNodes))).of(kindFewerNodes)
	}
	if o.PinnedDryRuns {
		return s.admitsOrder(o, observed)
	}
	return nil
}

// admitsOrder: dry runs made one after another go from the offset on, and end as
// soon as there are enough candidates, one of them without violations
// (preemption.go:430@v1.37.1, DryRunPreemption).
func (s *Set) admitsOrder(o *model.Observation, observed map[string]*model.Outcome) *Disagreement {
	want, n := []string{}, len(s.PotentialNodes)
	var kinds [2]int // candidates so far, without and with violations
	for i := range n {
		if s.NumCandidates > 0 && s.EnoughCandidates(kinds[1], kinds[0]) {
			break
		}
		name := s.PotentialNodes[(s.Cycle.Settings.Offset()+i)%n]
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
		return disagree(model.StageCandidates, "", fmt.Sprintf("%v tried", want), got).of("tries", listKind(want, got))
	}
	return nil
}

// admitsChoice is for systems that show only their answer.
func (s *Set) admitsChoice(o *model.Observation) *Disagreement {
	choices := s.Choices()
	if o.Pick == nil {
		nothing, fails := false, false
		for _, w := range s.worlds {
			n, f := s.mayPickNone(s.candidatesIn(w))
			nothing, fails = nothing || n, fails || f
		}
		if fails && s.admitsNomination(o, s.noneLeft(true)) == nil {
			return nil
		}
		if nothing {
			return s.admitsNomination(o, s.noneLeft(false))
		}
		if len(choices) > 0 {
			return disagree(model.StagePick, "", choiceNames(choices), "none").of(kindNoPick)
		}
		return s.admitsNomination(o, s.noCandidate())
	}
	for _, c := range choices {
		if s.Gives(c, o) {
			return s.admitsNomination(o, s.actuate(c.Node, s.Cycle.PodsNamed(c.Node, o.Pick.Victims)))
		}
	}
	return disagree(model.StagePick, "", choiceNames(choices), *o.Pick).of(kindElsewhere)
}

func choiceNames(choices []Choice) []model.Pick {
	picks := make([]model.Pick, len(choices))
	for i, c := range choices {
		picks[i] = model.Pick{Node: c.Node, Victims: c.Outcome.Victims, Violations: c.Outcome.Violations}
	}
	return picks
}

// admitsNomination compares what reached the API.
func (s *Set) admitsNomination(o *model.Observation, want *model.Actuation) *Disagreement {
	got := s.seen(o)
	if got == nil {
		return nil
	}
	for _, list := range []struct {
		name      string
		want, got []string
		kind      string
	}{
		{"delete", want.Deleted, got.Deleted, "deletes"},
		{"mark as disruption target", want.DisruptionTarget, got.DisruptionTarget, "marks"},
		{"clear the nomination of", want.Cleared, got.Cleared, "clears nominations of"},
		{"write nothing else, but", nil, got.Other, "writes"},
	} {
		if !slices.Equal(list.want, list.got) {
			return disagree(model.StageActuate, "", fmt.Sprintf("%s %v", list.name, list.want), list.got).of(list.kind, listKind(list.want, list.got))
		}
	}
	if want.Nomination != got.Nomination || want.NominatedNode != got.NominatedNode {
		return disagree(model.StageActuate, "", "nomination "+nominationText(want), nominationText(got)).of("nomination " + string(got.Nomination) + " but should be " + string(want.Nomination))
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

func (s *Set) actuate(node string, victims []*filter.Pod) *model.Actuation {
	return s.Cycle.Actuate(s.Cycle, s.Cycle.Node(node), victims)
}

func (s *Set) noCandidate() *model.Actuation { return s.Cycle.NoCandidate(s.Decision) }

func (s *Set) noneLeft(failed bool) *model.Actuation { return s.Cycle.NoneLeft(failed) }

// admitsExtenders compares what the extenders left of the candidates observed.
func (s *Set) admitsExtenders(o *model.Observation, left map[string]*model.Outcome, failed string) *Disagreement {
	switch {
	case failed != "" && (o.Pick != nil || o.PostFilterCode != "Error" && o.PostFilterCode != ""):
		return disagree(model.StageExtenders, "", "an error of extender "+failed, o.PostFilterCode).of(kindNoError)
	case failed == "" && o.PostFilterCode == "Error":
		return disagree(model.StageExtenders, "", "no error", o.PostFilterMessage).of(kindError)
	case failed != "" || o.AfterExtenders == nil:
		return nil
	}
	for _, n := range slices.SortedFunc(slices.Values(s.Cycle.Nodes), func(a, b *filter.Node) int { return strings.Compare(a.Name, b.Name) }) {
		want, got := left[n.Name], o.AfterExtenders[n.Name]
		switch {
		case want == nil && got.Victims == nil:
		case want == nil:
			return disagree(model.StageExtenders, n.Name, "dropped", got).of(kindNoCandidate)
		case !slices.Equal(want.Victims, got.Victims) || want.Violations != got.Violations:
			return disagree(model.StageExtenders, n.Name, fmt.Sprint(model.DryRun{Victims: want.Victims, Violations: want.Violations}), got).of(KindChoice)
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
	return disagree(model.StageActuate, "", fmt.Sprintf("deallocate one of %v", allowed), got).of("deallocates", listKind(allowed[:min(1, len(allowed))], got))
}

func nominationText(a *model.Actuation) string {
	if a.Nomination == model.NominationSet {
		return "set to " + a.NominatedNode
	}
	return string(a.Nomination)
}
