package model

import (
	"fmt"
	"maps"
	"slices"
)

// Disagreement is the first stage at which an observation is not one of the
// answers allowed.
type Disagreement struct {
	Stage Stage
	// Node is the node it shows on, where the stage has one.
	Node string
	// Kind says in which way they differ, in words that do not depend on the
	// cluster: no names, no numbers. Disagreements of different kinds are unlikely
	// to have one cause.
	Kind string
	// Want and Got are for people.
	Want, Got string
	// Undecided says that this may be no disagreement at all: the node has more
	// orders of equally important pods than can be tried (see Decision.Exact),
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

func disagree(stage Stage, node string, want, got any) *Disagreement {
	return &Disagreement{Stage: stage, Node: node, Want: fmt.Sprint(want), Got: fmt.Sprint(got)}
}

// Admits compares an observation with the answers allowed, stage by stage, and
// returns the first disagreement, or nil. A stage that the system cannot show is
// passed over; everything it does show is compared.
func (d *Decision) Admits(o *Observation) *Disagreement {
	if dis := d.admitsStages(o); dis != nil {
		return dis
	}
	return d.admitsDeallocation(o)
}

func (d *Decision) admitsStages(o *Observation) *Disagreement {
	if dis := d.admitsFilters(o); dis != nil {
		return dis
	}
	if len(d.q.nodes) == 0 || d.Error != "" {
		return d.q.admitsNomination(o, d.q.unhelped(true))
	}
	if len(d.Fits) > 0 {
		return nil
	}
	if d.endsInError {
		return d.q.admitsNomination(o, &Actuation{Nomination: NominationKept})
	}
	if o.Eligible != nil && o.Eligible.OK != d.Eligible.OK {
		kind := kindNotEligible
		if o.Eligible.OK {
			kind = kindEligible
		}
		return disagree(StageEligible, "", *d.Eligible, *o.Eligible).of(kind)
	}
	if !d.Eligible.OK {
		return d.q.admitsNomination(o, &Actuation{Nomination: NominationKept})
	}
	if o.Eligible != nil { // the system shows its stages
		if got := slices.Sorted(slices.Values(o.PotentialNodes)); !slices.Equal(got, d.PotentialNodes) {
			return disagree(StagePotential, "", d.PotentialNodes, got).of("tries", listKind(d.PotentialNodes, got))
		}
	}
	first := d.admitsIn(d.worlds[0], o)
	if first == nil || o.PinnedBudgetOrder {
		return first
	}
	for _, w := range d.allWorlds()[1:] {
		if d.admitsIn(w, o) == nil {
			return nil
		}
	}
	return first
}

func (d *Decision) admitsFilters(o *Observation) *Disagreement {
	if len(d.q.nodes) == 0 {
		if o.CycleError == "" {
			return disagree(StageFilter, "", "an error: no nodes", "none").of(kindNoError)
		}
		return nil
	}
	if d.Error != "" {
		if o.CycleError == "" {
			return disagree(StageFilter, "", "an error: "+d.Error, "none").of(kindNoError)
		}
		return nil
	}
	if o.CycleError != "" {
		return disagree(StageFilter, "", "no error", o.CycleError).of(kindError)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Filters)) {
		got, want := o.Filters[name], d.Verdicts[name]
		if want == nil || d.q.silent[name] {
			return disagree(StageFilter, name, "fits", got).of(d.q.verdictKind(nil, &got)...)
		}
		if got.Plugin != want.Plugin || got.Unresolvable != want.Unresolvable {
			return disagree(StageFilter, name, *want, got).of(d.q.verdictKind(want, &got)...)
		}
	}
	if len(d.Fits) > 0 {
		if !slices.Contains(d.Fits, o.ScheduledTo) {
			kind := []string{kindOtherNode}
			if want := d.Verdicts[o.ScheduledTo]; want != nil {
				kind = d.q.verdictKind(want, nil)
			}
			return disagree(StageFilter, "", fmt.Sprint("scheduled to one of ", d.Fits), fmt.Sprintf("%q", o.ScheduledTo)).of(kind...)
		}
		// Not every node was looked at.
		return nil
	}
	if o.ScheduledTo != "" {
		return disagree(StageFilter, o.ScheduledTo, *d.Verdicts[o.ScheduledTo], "scheduled").of(d.q.verdictKind(d.Verdicts[o.ScheduledTo], nil)...)
	}
	if o.Filters == nil {
		return nil
	}
	for _, n := range d.q.nodes {
		if _, shown := o.Filters[n.Name]; !shown && !d.q.silent[n.Name] {
			return disagree(StageFilter, n.Name, *d.Verdicts[n.Name], "fits").of(d.q.verdictKind(d.Verdicts[n.Name], nil)...)
		}
	}
	return nil
}

// admitsIn compares the stages from the dry run on, for one order of budgets.
func (d *Decision) admitsIn(w *world, o *Observation) *Disagreement {
	if o.Eligible == nil {
		return d.admitsChoice(o)
	}
	observed := map[string]*Outcome{} // by node, of the candidates
	failedWithError := false
	for _, name := range slices.Sorted(maps.Keys(o.DryRuns)) {
		outcome, dis := d.admitsDryRun(w, name, o.DryRuns[name])
		if dis != nil {
			return dis
		}
		switch {
		case outcome == nil:
			failedWithError = failedWithError || w.runs[name].failed.Error != ""
		case len(outcome.victims) == 0:
			failedWithError = true
		default:
			observed[name] = outcome
		}
	}
	if dis := d.admitsCandidates(o, observed); dis != nil {
		return dis
	}
	if len(o.Candidates) == 0 {
		if o.Pick != nil {
			return disagree(StagePick, "", "none", *o.Pick).of(kindPick)
		}
		if failedWithError {
			return d.q.admitsNomination(o, &Actuation{Nomination: NominationKept})
		}
		return d.q.admitsNomination(o, d.q.unhelped(len(d.PotentialNodes) > 0))
	}
	candidates := map[string]*Outcome{}
	for _, name := range o.Candidates {
		candidates[name] = observed[name]
	}
	candidates, fails := d.q.extend(candidates)
	if dis := d.q.admitsExtenders(o, candidates, fails); dis != nil {
		return dis
	}
	if len(candidates) == 0 {
		if o.Pick != nil {
			return disagree(StagePick, "", "none", *o.Pick).of(kindPick)
		}
		return d.q.admitsNomination(o, d.q.noneLeft(fails))
	}
	nodes, by := d.q.rules.best(candidates)
	if o.Pick == nil {
		return disagree(StagePick, "", nodes, "none").of(kindNoPick)
	}
	if !slices.Contains(nodes, o.Pick.Node) {
		return disagree(StagePick, "", fmt.Sprintf("%v by %s", nodes, by), o.Pick.Node).of(d.q.pickKind(candidates[nodes[0]], candidates[o.Pick.Node])...)
	}
	picked := candidates[o.Pick.Node]
	if !slices.Equal(o.Pick.Victims, picked.Victims) || o.Pick.Violations != picked.Violations {
		return disagree(StagePick, o.Pick.Node, picked.Victims, o.Pick.Victims).of(kindElsewhere)
	}
	return d.q.admitsNomination(o, d.q.actuate(d.q.byName[o.Pick.Node], picked.victims))
}

// admitsDryRun finds the allowed outcome that was observed on a node. It is nil
// if preemption does not help there.
func (d *Decision) admitsDryRun(w *world, name string, got DryRun) (*Outcome, *Disagreement) {
	run := w.runs[name]
	if run == nil {
		return nil, disagree(StageDryRun, name, "not tried", got).of(kindOtherNodes)
	}
	if run.failed != nil && run.failed.Error != "" && got.Error != "" {
		return nil, nil
	}
	if run.failed != nil {
		if got.Error != "" || got.Failed == nil || got.Failed.Plugin != run.failed.Plugin || d.q.rules.dryRunStatus && got.Failed.Unresolvable != run.failed.Unresolvable {
			return nil, disagree(StageDryRun, name, DryRun{Failed: run.failed}, got).of(d.q.dryRunKind(run, got)...)
		}
		return nil, nil
	}
	if got.Failed == nil {
		if o := run.find(got); o != nil {
			return o, nil
		}
		d.q.enumerate(run, w.order)
		if !run.exact {
			run.outcomes = append(run.outcomes, d.q.likely(run, got, w.order))
		}
		if o := run.find(got); o != nil {
			return o, nil
		}
	}
	want := make([]DryRun, len(run.outcomes))
	for i, o := range run.outcomes {
		want[i] = DryRun{Victims: o.Victims, Violations: o.Violations}
	}
	dis := disagree(StageDryRun, name, want, got).of(d.q.dryRunKind(run, got)...)
	dis.Undecided = !run.exact && got.Failed == nil && got.Error == ""
	return nil, dis
}

// likely is the outcome of the order that is likeliest to lead to the victims
// observed: of equally important pods, those that were reprieved come first. If
// any order leads to them this one does, unless budgets tell the pods apart.
func (q *question) likely(run *dryRun, got DryRun, order []int) *Outcome {
	var sequence []*pod
	for _, group := range run.groups {
		for _, victims := range []bool{false, true} {
			for _, p := range group {
				if slices.Contains(got.Victims, p.key) == victims {
					sequence = append(sequence, p)
				}
			}
		}
	}
	return q.reprieve(run, sequence, order)
}

// find is the outcome of d that was observed, with the pods observed, or nil.
func (d *dryRun) find(got DryRun) *Outcome {
	if got.Error != "" {
		if len(d.listed.victims) == 0 {
			return d.listed
		}
		return nil
	}
	o := &Outcome{Victims: got.Victims, Violations: got.Violations}
	for _, key := range got.Victims {
		i := slices.IndexFunc(d.node.pods, func(p *pod) bool { return p.key == key })
		if i < 0 || slices.Contains(o.victims, d.node.pods[i]) {
			return nil
		}
		rank := d.rankOf(d.node.pods[i])
		if rank < 0 {
			return nil
		}
		o.victims, o.ranks = append(o.victims, d.node.pods[i]), append(o.ranks, rank)
	}
	if len(o.victims) > 0 && slices.ContainsFunc(d.outcomes, o.same) {
		return o
	}
	return nil
}

// admitsCandidates: the shortlist is everything that was tried with success,
// without violations or with, up to its length in each case; and nodes were left
// untried only after it was long enough and held one without violations.
func (d *Decision) admitsCandidates(o *Observation, observed map[string]*Outcome) *Disagreement {
	var kinds [2]int // how many of the observed, and how many of the shortlisted, by violating or not
	var listed [2]int
	kind := func(outcome *Outcome) int { return min(outcome.Violations, 1) }
	for _, outcome := range observed {
		kinds[kind(outcome)]++
	}
	for _, name := range o.Candidates {
		if observed[name] == nil {
			return disagree(StageCandidates, name, "no candidate", "candidate").of(kindNoCandidate)
		}
		listed[kind(observed[name])]++
	}
	for k := range kinds {
		if want := min(kinds[k], d.Shortlist); listed[k] != want {
			kind := kindShort
			if listed[k] > want {
				kind = kindLong
			}
			return disagree(StageCandidates, "", fmt.Sprintf("%d candidates without and %d with violations, at most %d of each", kinds[0], kinds[1], d.Shortlist), o.Candidates).of(kind)
		}
	}
	if tried := len(o.DryRuns); tried < len(d.PotentialNodes) && (kinds[0] == 0 || kinds[0]+kinds[1] < d.Shortlist) {
		return disagree(StageCandidates, "", "all potential nodes tried", fmt.Sprintf("%d of %d", tried, len(d.PotentialNodes))).of(kindFewerNodes)
	}
	if o.PinnedDryRuns {
		return d.admitsOrder(o, observed)
	}
	return nil
}

// admitsOrder: dry runs made one after another go from the offset on, and end as
// soon as there are enough candidates, one of them without violations
// (preemption.go:430@v1.37.1, DryRunPreemption).
func (d *Decision) admitsOrder(o *Observation, observed map[string]*Outcome) *Disagreement {
	want, n := []string{}, len(d.PotentialNodes)
	candidates, without := 0, false
	for i := range n {
		if without && candidates >= d.Shortlist && d.Shortlist > 0 {
			break
		}
		name := d.PotentialNodes[(d.q.rules.offset(d.q.cluster.Settings)+i)%n]
		want = append(want, name)
		if _, tried := o.DryRuns[name]; !tried {
			break
		}
		if outcome := observed[name]; outcome != nil {
			candidates++
			without = without || outcome.Violations == 0
		}
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(o.DryRuns)); !slices.Equal(want, got) {
		return disagree(StageCandidates, "", fmt.Sprintf("%v tried", want), got).of("tries", listKind(want, got))
	}
	return nil
}

// admitsChoice is for systems that show only their answer.
func (d *Decision) admitsChoice(o *Observation) *Disagreement {
	choices := d.Choices()
	if o.Pick == nil {
		nothing, fails := false, false
		for _, w := range d.worlds {
			n, f := mayPickNone(d.candidatesIn(w), d.Shortlist)
			nothing, fails = nothing || n, fails || f
		}
		if fails && d.q.admitsNomination(o, d.q.noneLeft("fails")) == nil {
			return nil
		}
		if nothing {
			return d.q.admitsNomination(o, d.q.noneLeft(""))
		}
		if len(choices) > 0 {
			return disagree(StagePick, "", choiceNames(choices), "none").of(kindNoPick)
		}
		return d.q.admitsNomination(o, d.q.unhelped(len(d.PotentialNodes) > 0))
	}
	for _, c := range choices {
		if d.Gives(c, o) {
			return d.q.admitsNomination(o, d.q.actuate(d.q.byName[c.Node], d.pods(c.Node, o.Pick.Victims)))
		}
	}
	return disagree(StagePick, "", choiceNames(choices), *o.Pick).of(kindElsewhere)
}

// pods are the pods of a node with the given names.
func (d *Decision) pods(node string, keys []string) []*pod {
	var pods []*pod
	for _, key := range keys {
		for _, p := range d.q.byName[node].pods {
			if p.key == key {
				pods = append(pods, p)
			}
		}
	}
	return pods
}

func choiceNames(choices []Choice) []Pick {
	picks := make([]Pick, len(choices))
	for i, c := range choices {
		picks[i] = Pick{Node: c.Node, Victims: c.Outcome.Victims, Violations: c.Outcome.Violations}
	}
	return picks
}

// admitsNomination compares what reached the API.
func (q *question) admitsNomination(o *Observation, want *Actuation) *Disagreement {
	got := o.Actuation
	if got == nil {
		return nil
	}
	if q.rules.statusOverwritten {
		got = withoutOverwrites(got)
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
			return disagree(StageActuate, "", fmt.Sprintf("%s %v", list.name, list.want), list.got).of(list.kind, listKind(list.want, list.got))
		}
	}
	if want.Nomination != got.Nomination || want.NominatedNode != got.NominatedNode {
		return disagree(StageActuate, "", "nomination "+nominationText(want), nominationText(got)).of("nomination " + string(got.Nomination) + " but should be " + string(want.Nomination))
	}
	return nil
}

// nominationText says what became of the nomination, for example "set to n1".
func nominationText(a *Actuation) string {
	if a.Nomination == NominationSet {
		return "set to " + a.NominatedNode
	}
	return string(a.Nomination)
}
