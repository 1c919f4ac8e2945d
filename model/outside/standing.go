package outside

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// Standing is how a pod of lower priority stands to the preemptor by its class.
type Standing string

// The standings.
const (
	NoPolicy     Standing = "its class asks for nothing"
	MinimumMet   Standing = "the preemptor has the priority that its class asks for"
	ForEver      Standing = "it tolerates the preemptor for ever"
	Still        Standing = "it tolerates the preemptor still"
	Over         Standing = "it tolerates the preemptor no longer"
	SinceUnknown Standing = "it is not known since when it is scheduled"
)

// StandingOf is how a pod stands to the preemptor by PreemptionToleration.
func StandingOf(cy *model.Cycle, p *filter.Pod) Standing {
	class := classOf(cy, p)
	if class == nil {
		return NoPolicy
	}
	policy, err := PolicyOf(class)
	switch {
	case err != nil || policy == (Policy{Minimum: class.Value + 1}):
		return NoPolicy
	case cy.Preemptor.Priority >= policy.Minimum:
		return MinimumMet
	case policy.Seconds < 0:
		return ForEver
	case scheduledAt(p.Pod) == nil:
		return SinceUnknown
	case new(tolerations).tolerates(cy, p):
		return Still
	}
	return Over
}

// Quotas is how a preemptor stands to the quotas by CapacityScheduling.
type Quotas struct {
	// Own says that its namespace has one, Max that it would use more than its max, Sum that all would use more than the sum of
	// their min, and Min that its own would use more than its min.
	Own, Max, Sum, Min bool
	usage              *usage
}

// QuotasOf is how the preemptor of a cycle stands.
func QuotasOf(cy *model.Cycle) Quotas {
	i := slices.IndexFunc(cy.Plugins, func(p filter.Plugin) bool { return p.Name() == CapacityScheduling })
	if i < 0 {
		return Quotas{}
	}
	u := cy.Plugins[i].(quotaPlugin).rules.in(cy)
	q := Quotas{Own: u.own != nil, Min: u.overMin, usage: u}
	if q.Own {
		q.Max = u.own.limits && over(u.rules.ofOwn(u.used[u.here].plus(u.nominatedHere, 1), u.nominatedHere), u.own.max, u.rules.unnamedMax)
		q.Sum = over(u.all.plus(u.nominated, 1), u.min, nothing)
	}
	return q
}

// Borrows tells whether the quota of a pod's namespace uses more than its min.
func (q Quotas) Borrows(p *filter.Pod) bool {
	return q.usage != nil && q.usage.quotas[p.Namespace] != nil && q.usage.borrows(p.Namespace)
}

// Has tells whether a pod's namespace has a quota.
func (q Quotas) Has(p *filter.Pod) bool { return q.usage != nil && q.usage.quotas[p.Namespace] != nil }
