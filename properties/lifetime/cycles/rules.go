package cycles

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/timeline/account"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/lifetime/known"
)

// ofClusters are the findings that change which clusters the cycles of a scheduler are about.
var ofClusters = []release.Quirk{known.DeletedStays, known.BoundPreempts, known.NamesakePreempts, known.LateDeletion, known.NominationOutlives, known.CycleCutShort}

// QuirksOf are the quirks of a release, and those of ofClusters that it has.
func QuirksOf(r release.Release) []release.Quirk {
	quirks := ledger.QuirksOf(r)
	for _, q := range ofClusters {
		if e, _ := ledger.LookUp(string(q)); r.In(e.Releases) {
			quirks = append(quirks, q)
		}
	}
	return quirks
}

// RulesWith are the rules of a release with some of QuirksOf, and what these are of the clusters.
func RulesWith(r release.Release, quirks []release.Quirk) (*answers.Rules, account.Bugs) {
	bugs := account.Bugs{
		PortsForgotten:     slices.Contains(quirks, release.HostPortsForgotten),
		DeletedStay:        slices.Contains(quirks, known.DeletedStays),
		BoundPreempt:       slices.Contains(quirks, known.BoundPreempts),
		NamesakePreempts:   slices.Contains(quirks, known.NamesakePreempts),
		LateStay:           slices.Contains(quirks, known.LateDeletion),
		NominationOutlives: slices.Contains(quirks, known.NominationOutlives),
		LeftBehind:         slices.Contains(quirks, known.CycleCutShort),
	}
	rules := r.Rules()
	if quirks = slices.DeleteFunc(slices.Clone(quirks), func(q release.Quirk) bool { return slices.Contains(ofClusters, q) }); len(quirks) > 0 {
		rules = release.With(rules, quirks...)
	}
	return rules, bugs
}

// rulesIn are the rules in a state of a cycle.
func rulesIn(s *account.State, rules *answers.Rules) *answers.Rules {
	if s.Units == nil {
		return rules
	}
	rules = rules.Clone()
	rules.Units = s.Units
	return rules
}

// LeastOf drops the quirks without which the others still explain something.
func LeastOf(quirks []release.Quirk, explain func([]release.Quirk) bool) []release.Quirk {
	for i := 0; i < len(quirks); {
		if fewer := slices.Delete(slices.Clone(quirks), i, i+1); explain(fewer) {
			quirks = fewer
		} else {
			i++
		}
	}
	return quirks
}
