package properties

import (
	"cmp"
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
)

// Differential is the name of the property that what a scheduler does is, stage
// by stage, one of the answers that the documented algorithm allows.
const Differential = "differential"

func differential(release model.Release, r *Result) []Finding {
	d := r.Decision.Admits(r.Observation)
	if d == nil {
		return nil
	}
	known, left := explain(release, r)
	besides := ""
	if known == nil && after(left, d) {
		// What is known at one stage hides nothing new at a later one.
		d, besides = left, ", besides what is known"
	}
	if d.Undecided && known == nil {
		r.Undecided = d.String()
		return nil
	}
	return []Finding{{
		Property: Differential,
		Stage:    d.Stage,
		Node:     d.Node,
		Kind:     d.Kind,
		Detail:   "want " + d.Want + ", got " + d.Got + besides,
		Known:    known,
	}}
}

// after tells whether a scheduler agreed with the model for longer before it came
// to a than before it came to b, where nil is no disagreement.
func after(a, b *model.Disagreement) bool {
	switch {
	case b == nil:
		return false
	case a == nil:
		return true
	}
	stages := model.Stages()
	return cmp.Or(
		cmp.Compare(slices.Index(stages, a.Stage), slices.Index(stages, b.Stage)),
		cmp.Compare(a.Node, b.Node),
		cmp.Compare(a.Closeness(), b.Closeness())) > 0
}

// explain finds the known bugs that together account for all that was observed:
// with their quirks switched on, the model agrees at every stage, and it would
// not with one of them less. known is nil if not even all of them do; left is the
// first disagreement then.
func explain(release model.Release, r *Result) (known []string, left *model.Disagreement) {
	var quirks []LedgerEntry
	for _, e := range LedgerOf(release) {
		if e.Quirk != "" {
			quirks = append(quirks, e)
		}
	}
	with := func(entries []LedgerEntry) *model.Disagreement {
		on := make([]model.Quirk, len(entries))
		for i, e := range entries {
			on[i] = e.Quirk
		}
		d, err := model.Decide(r.Cluster, release.Rules().With(on...))
		if err != nil {
			return &model.Disagreement{}
		}
		return d.Admits(r.Observation)
	}
	if left = with(quirks); left != nil {
		return nil, left
	}
	quirks, _ = needed(quirks, func(fewer []LedgerEntry) (bool, error) { return with(fewer) == nil, nil })
	ids := make([]string, len(quirks))
	for i, e := range quirks {
		ids[i] = e.ID
	}
	return ids, nil
}
