// Package mutant makes models that are each wrong in one place. A check that does
// not notice a mutant does not check the rule that it breaks.
package mutant

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// Mutant is a model that is wrong in one place.
type Mutant struct {
	// Name says which rule is broken and how.
	Name string

	rules *answers.Rules
	// distort changes a copy of the cluster before it is read; nil leaves it alone.
	distort func(*model.Cluster)
}

// Decide decides as answers.Decide does, but for the broken rule.
func (m Mutant) Decide(c *model.Cluster) (*answers.Set, error) {
	if m.distort != nil {
		c = variant.Changed(c, m.distort)
	}
	return answers.Decide(c, m.rules)
}

// With is the mutant of the algorithm with quirks switched on.
func (m Mutant) With(quirks ...release.Quirk) Mutant {
	m.rules = release.With(m.rules, quirks...)
	return m
}

// Seeing is the mutant that knows which nodes the scheduler looked at.
func (m Mutant) Seeing(o *model.Observation) Mutant {
	m.rules = answers.Searched(m.rules, o)
	return m
}

// All are models that each break one rule of the algorithm: every criterion,
// filter, budget rule, and the rest of the decision core.
func All() []Mutant {
	var all []Mutant
	for _, m := range slices.Concat(ofCriteria(), ofPlugins(), ofDevices, ofExtended, ofSearch, ofBudgets, ofEligibility, ofVictims, ofNominated, ofActuation) {
		rules := answers.Documented()
		m.change(rules)
		all = append(all, Mutant{m.name, rules, nil})
	}
	for _, m := range ofSettings {
		all = append(all, Mutant{m.name, answers.Documented(), func(c *model.Cluster) {
			c.Settings = c.Settings.DeepCopy()
			m.change(&c.Settings)
		}})
	}
	for _, m := range slices.Concat(ofConstraints, ofRequests, ofTerms) {
		all = append(all, Mutant{m.name, answers.Documented(), func(c *model.Cluster) {
			c.Preemptor = variant.Changed(c.Preemptor, m.change)
			c.Pods = variant.Each(c.Pods, func(p **v1.Pod) { *p = variant.Changed(*p, m.change) })
		}})
	}
	return all
}

// breaks is a mutant that changes the rules.
type breaks = mutation[answers.Rules]

type mutation[T any] struct {
	name   string
	change func(*T)
}

// asBefore is the algorithm of releases without a flag.
func asBefore(flag string) func(*answers.Rules) {
	return func(r *answers.Rules) { *r = *release.Algorithm(func(f release.Flag) bool { return f.Name != flag }) }
}
