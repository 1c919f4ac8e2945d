// Package mutant makes models that are each wrong in one place. A check that does
// not notice a mutant does not check the rule that it breaks.
package mutant

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Mutant is a model that is wrong in one place.
type Mutant struct {
	// Name says which rule is broken and how.
	Name string

	rules *answers.Rules
	// distort changes the cluster before it is read; nil leaves it alone.
	distort func(*model.Cluster) *model.Cluster
}

// Decide decides as answers.Decide does, but for the broken rule.
func (m Mutant) Decide(c *model.Cluster) (*answers.Set, error) {
	if m.distort != nil {
		c = m.distort(c)
	}
	return answers.Decide(c, m.rules)
}

// With is the mutant of the algorithm with quirks switched on.
func (m Mutant) With(quirks ...release.Quirk) Mutant {
	m.rules = release.With(m.rules, quirks...)
	return m
}

// All are models that each break one rule of the algorithm: every criterion,
// filter, budget rule, and the rest of the decision core.
func All() []Mutant {
	var mutants []Mutant
	breaks := func(name string, change func(r *answers.Rules)) {
		rules := answers.Documented()
		change(rules)
		mutants = append(mutants, Mutant{name, rules, nil})
	}
	misreads := func(name string, distort func(p *v1.Pod)) {
		mutants = append(mutants, Mutant{name, answers.Documented(), misreadPods(distort)})
	}
	ofCriteria(breaks)
	ofPlugins(breaks)
	ofSteps(breaks)
	ofSettings(func(name string, distort func(s *model.Settings)) {
		mutants = append(mutants, Mutant{name, answers.Documented(), func(c *model.Cluster) *model.Cluster {
			out := *c
			out.Settings = c.Settings.DeepCopy()
			distort(&out.Settings)
			return &out
		}})
	})
	ofConstraints(misreads)
	ofRequests(misreads)
	ofTerms(misreads)
	return mutants
}
