package properties

// Premise is a rule of a scheduler that properties rest on, and that older
// releases do not follow. The documentation of a release says so, or its source.
type Premise struct {
	Name string
	// Releases is the range of those that follow the rule (model.Release.In).
	Releases string
}

// The premises. Sources: those of the flags of a release.
var (
	StartTimesCount        = Premise{"start times count", ">=1.15.0"}
	BudgetsAreSpent        = Premise{"victims take from budgets", ">=1.18.0"} // before, each pod violated a budget by itself, or none did
	DisruptedPodsAreExempt = Premise{"disrupted pods are exempt", ">=1.19.0"}
	NominatedNodeIsFirst   = Premise{"the nominated node is tried first", ">=1.22.0"}
	VictimsAreMarked       = Premise{"victims are marked", ">=1.26.0"}
)

// Premises are all premises.
func Premises() []Premise {
	return []Premise{StartTimesCount, BudgetsAreSpent, DisruptedPodsAreExempt, NominatedNodeIsFirst, VictimsAreMarked}
}

// Holds tells whether the scheduler's release follows a rule.
func (s *Subject) Holds(p Premise) bool { return promisedBy(s.Release, p.Releases) }
