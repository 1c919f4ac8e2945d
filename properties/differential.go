package properties

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
)

// Differential is the name of the property that what a scheduler does is, stage
// by stage, one of the answers that the documented algorithm allows.
const Differential = "differential"

func differential(r *Result) []Finding {
	d := r.Decision.Admits(r.Observation)
	if d == nil {
		return nil
	}
	known := explain(r)
	if d.Undecided && known == nil {
		r.Undecided = d.String()
		return nil
	}
	return []Finding{{
		Property: Differential,
		Stage:    d.Stage,
		Node:     d.Node,
		Detail:   "want " + d.Want + ", got " + d.Got,
		Known:    known,
	}}
}

// explain finds the known bugs that together account for all that was observed:
// with their quirks switched on, the model agrees at every stage, and it would
// not with one of them less. nil means that not even all of them do.
func explain(r *Result) []string {
	var quirks []LedgerEntry
	for _, e := range Ledger() {
		if e.Quirk != "" {
			quirks = append(quirks, e)
		}
	}
	agreesWith := func(entries []LedgerEntry) bool {
		on := make([]model.Quirk, len(entries))
		for i, e := range entries {
			on[i] = e.Quirk
		}
		d, err := model.Decide(r.Cluster, model.Documented().With(on...))
		return err == nil && d.Admits(r.Observation) == nil
	}
	if !agreesWith(quirks) {
		return nil
	}
	for i := 0; i < len(quirks); {
		if fewer := slices.Delete(slices.Clone(quirks), i, i+1); agreesWith(fewer) {
			quirks = fewer
		} else {
			i++
		}
	}
	ids := make([]string, len(quirks))
	for i, e := range quirks {
		ids[i] = e.ID
	}
	return ids
}
