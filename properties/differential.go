package properties

import (
	"math/bits"

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
	return []Finding{{
		Property: Differential,
		Stage:    d.Stage,
		Node:     d.Node,
		Detail:   "want " + d.Want + ", got " + d.Got,
		Known:    explain(r),
	}}
}

// explain finds the fewest known bugs that together account for all that was
// observed: with their quirks switched on, the model agrees at every stage. nil
// means that no set of them does.
func explain(r *Result) []string {
	var quirks []LedgerEntry
	for _, e := range Ledger() {
		if e.Quirk != "" {
			quirks = append(quirks, e)
		}
	}
	for size := 1; size <= len(quirks); size++ {
		for set := uint(1); set < 1<<len(quirks); set++ {
			if bits.OnesCount(set) != size {
				continue
			}
			var ids []string
			var on []model.Quirk
			for i, e := range quirks {
				if set&(1<<i) != 0 {
					ids, on = append(ids, e.ID), append(on, e.Quirk)
				}
			}
			d, err := model.Decide(r.Cluster, model.Documented().With(on...))
			if err == nil && d.Admits(r.Observation) == nil {
				return ids
			}
		}
	}
	return nil
}
