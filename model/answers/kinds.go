package answers

import (
	"slices"
	"strings"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// The kinds of disagreement: see Disagreement.Kind. Where a filter decides, the
// kind ends in the name of its plugin; where a criterion, in the criterion.
const (
	KindFits         = "fits but should not"     // PLUGIN
	KindDoesNotFit   = "does not fit but should" // PLUGIN
	KindUnresolvable = "unresolvable but should be resolvable"
	KindResolvable   = "resolvable but should be unresolvable"
	kindFewFound     = "looks no further before enough nodes are found"
	kindManyFound    = "looks further when enough nodes are found"
	kindLeaps        = "leaves out nodes while it goes round"
	kindOtherNode    = "scheduled to another node than the nominated one"
	kindError        = "ends in an error" // CAUSE
	kindNoError      = "does not end in an error"

	kindEligible    = "may preempt but should not"
	kindNotEligible = "may not preempt but should"

	kindForbidden  = "preempts what it may not"
	kindSpares     = "spares what it may preempt"
	KindNeedless   = "preempts more than is needed"
	KindChoice     = "chooses victims otherwise" // and how it shows:
	kindOthers     = "others"
	kindOrder      = "another order"
	kindMore       = "more violations"
	kindFewer      = "fewer violations"
	kindOtherNodes = "tries a node that it should not"
	kindFewerNodes = "tries too few nodes"

	kindNoCandidate = "shortlists a node that is no candidate"
	kindShort       = "shortlist too short"
	kindLong        = "shortlist too long"

	kindNoPick    = "picks none"
	kindPick      = "picks one of none"
	KindWorse     = "not the best by" // CRITERION
	kindElsewhere = "picks something else than the dry run found"
)

// Closeness tells two disagreements about the victims on a node apart: it is the
// higher the more is as it should be.
func (d *Disagreement) Closeness() int {
	switch d.Kind {
	case KindChoice + ": " + kindOrder:
		return 3
	case KindChoice + ": " + kindMore, KindChoice + ": " + kindFewer:
		return 2
	}
	if strings.HasPrefix(d.Kind, KindFits) || strings.HasPrefix(d.Kind, KindDoesNotFit) {
		return 0 // there should be no victims, or there should be some
	}
	return 1
}

// kindOf is a kind about a plugin or a criterion, which may have no name.
func kindOf(kind, about string) string {
	if about == "" {
		return kind
	}
	return kind + ": " + about
}

// verdictKind compares two verdicts on a node; nil means that the pod fits. The
// filters run in turn, extenders after them, and the first one that fails is blamed:
// one that is blamed too late let the pod pass where it should not have.
func (s *Set) verdictKind(want, got *model.Verdict) string {
	plugins := s.Cycle.Plugins
	at := func(v *model.Verdict) int {
		switch {
		case v == nil:
			return len(plugins) + 1
		case v.Plugin == model.ExtenderName:
			return len(plugins)
		}
		return slices.IndexFunc(plugins, func(p filter.Plugin) bool { return p.Name() == v.Plugin })
	}
	switch w, g := at(want), at(got); {
	case w < g:
		return kindOf(KindFits, want.Plugin)
	case g < w:
		return kindOf(KindDoesNotFit, got.Plugin)
	case got.Unresolvable:
		return kindOf(KindUnresolvable, got.Plugin)
	default:
		return kindOf(KindResolvable, got.Plugin)
	}
}

// dryRunKind compares what was observed on a node with what run allows.
func (s *Set) dryRunKind(run *run, got model.DryRun) string {
	switch {
	case got.Error != "":
		return errorKind(got.Error)
	case got.Failed != nil && got.Failed.Plugin == "":
		return kindSpares
	case run.Failed != nil && run.Failed.Plugin == "":
		return kindForbidden
	case got.Failed != nil:
		return s.verdictKind(run.Failed, got.Failed)
	}
	// Victims that are allowed may still be more than are needed, by a known finding: what is wrong is how they are told.
	sorted := slices.Sorted(slices.Values(got.Victims))
	for _, o := range run.outcomes {
		switch {
		case !slices.Equal(sorted, slices.Sorted(slices.Values(o.Victims))):
		case got.Violations > o.Violations:
			return kindOf(KindChoice, kindMore)
		case got.Violations < o.Violations:
			return kindOf(KindChoice, kindFewer)
		default:
			return kindOf(KindChoice, kindOrder)
		}
	}
	isVictim := func(p *filter.Pod) bool { return slices.Contains(got.Victims, p.Key) }
	var gone []*unit.Unit
	for _, u := range s.Cycle.Units.On(run.Node) {
		if !slices.ContainsFunc(u.Pods, isVictim) {
			continue
		}
		if !s.Cycle.MayPreempt(s.Cycle, u) {
			return kindForbidden
		}
		gone = append(gone, u)
	}
	without := func(units []*unit.Unit) model.Scene {
		scene := model.SceneOf(run.Node).Away(units...)
		scene.Moves = nil
		return scene
	}
	if failed := s.Cycle.FitsIn(without(gone)); failed != nil {
		return s.verdictKind(failed, nil)
	}
	for i := range gone {
		if s.Cycle.FitsIn(without(slices.Delete(slices.Clone(gone), i, i+1))) == nil {
			return KindNeedless
		}
	}
	return kindOf(KindChoice, kindOthers)
}

// listKind compares two sorted lists.
func listKind(want, got []string) string {
	within := func(a, b []string) bool {
		return !slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
	}
	switch {
	case within(got, want) && len(got) < len(want):
		return "too few"
	case within(want, got) && len(want) < len(got):
		return "too many"
	default:
		return "others"
	}
}

// pickKind tells by which criterion the node picked loses against the best; got
// is nil if it is no candidate.
func (s *Set) pickKind(best, got *model.Outcome) string {
	if got == nil {
		return kindElsewhere
	}
	_, at := s.Cycle.Compare(best, got)
	return kindOf(KindWorse, s.Cycle.Criteria[at].Name)
}
