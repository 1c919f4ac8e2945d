package properties

import "github.com/preemptcheck/preemptcheck/model"

// What is promised of preemption beside the properties, to which they refer.
const (
	startTimesCount  = "start times count"
	victimsAreMarked = "victims are marked"
	disruptedExempt  = "disrupted pods are exempt"
	nominatedFirst   = "the nominated node is tried first"
	budgetsSpent     = "victims take from budgets"
)

// since says of which releases a promise is made, where that is not all. The
// sources are those of model.Flags.
var since = map[string]string{
	startTimesCount:  ">=1.15.0",
	victimsAreMarked: ">=1.26.0",
	disruptedExempt:  ">=1.19.0",
	nominatedFirst:   ">=1.22.0",

	// Before, a budget was violated by each pod, or by none.
	budgetsSpent:       ">=1.18.0",
	"raising-a-budget": ">=1.18.0",

	// Before, the first filter to reject a node need not have been one that other
	// pods do not change.
	"adding-an-important-pod": ">=1.20.0",
	"adding-capacity":         ">=1.20.0",

	// Before, a nomination was cleared only if there was no node to try.
	"adding-a-useless-node": ">=1.24.0",
}

// makes tells whether the release makes a promise.
func (s *Subject) makes(promise string) bool {
	releases, limited := since[promise]
	return !limited || s.Release == model.Linked || s.Release.In(releases)
}
