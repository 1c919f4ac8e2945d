// Package all assembles the properties of all rooms, and a checker of everything.
package all

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/aftermath"
	"github.com/preemptcheck/preemptcheck/properties/contract"
	"github.com/preemptcheck/preemptcheck/properties/groups"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
	"github.com/preemptcheck/preemptcheck/properties/ledger"
	"github.com/preemptcheck/preemptcheck/properties/relation"
	"github.com/preemptcheck/preemptcheck/reference"
)

// Checker checks everything of each cluster.
func Checker(system reference.System) *properties.Checker {
	return &properties.Checker{System: system, Properties: Properties()}
}

// Properties are all properties but the differential, which a checker checks anyway.
func Properties() []properties.Property { return append(Cheap(), Costly()...) }

// Cheap are the properties that a campaign checks of each of its clusters.
func Cheap() []properties.Property {
	cheap := slices.DeleteFunc(invariant.All(), func(p properties.Property) bool {
		return slices.ContainsFunc(Repeating(), func(r properties.Property) bool { return r.Name == p.Name })
	})
	return slices.Concat([]properties.Property{properties.GetsThrough()}, cheap, aftermath.All(), groups.All())
}

// Costly are the properties that a campaign checks of a share of its clusters: they
// ask the system again, or take long.
func Costly() []properties.Property {
	return slices.Concat(Repeating(), relation.All(), askedAgain(), []properties.Property{properties.FiltersAlone()}, contract.All())
}

// Repeating are the invariants that ask the system again about whatever was preempted: in
// another order, and without the victims.
func Repeating() []properties.Property {
	return []properties.Property{invariant.PreemptorFits, invariant.JudgesAgree, invariant.OrderDoesNotMatter}
}

// RepeatingOneIn is of how many clusters of a campaign one is asked for Repeating: what those
// find is mostly found by what is asked of each cluster as well.
const RepeatingOneIn = 4

// askedAgain are the promises about the same cluster under other circumstances.
func askedAgain() []properties.Property {
	return append(append(aftermath.Costly(), groups.Costly()...), relation.UpdatesAgree, relation.TwinsAgree)
}

// twins is of how many clusters one is asked about equal pods one after another: few have
// room for two.
const twins = 4

// CanShow tells whether an observation can show a finding at all: promises about what a
// cycle leaves behind, and about other circumstances, are kept or broken where there is an
// Aftermath.
func CanShow(e ledger.Entry, o *model.Observation) bool {
	if e.Quirk != "" || len(e.Properties) == 0 || o.Aftermath != nil {
		return true
	}
	left := slices.Concat(askedAgain(), aftermath.All(), contract.All())
	return slices.ContainsFunc(e.Properties, func(name string) bool {
		return !slices.ContainsFunc(left, func(p properties.Property) bool { return p.Name == name })
	})
}

// Shares say of how many clusters of a campaign one is asked for what is costly.
type Shares struct {
	// Relations is how many of them each cluster gets.
	Relations int
	// One in Filters clusters has its filters asked one by one, one in Contracts has the contract of its plugins checked, and more have their queueing
	// hints: of those named, all if none is; 0 is none. One in Repeating gets the invariants that ask again.
	Filters, Contracts, Repeating int
	Plugins                       []string
}

// richer is how much more often rich clusters have their queueing hints checked than all clusters have the whole contract: there are many hints, and
// each is about few clusters.
const richer = 8

// isRich tells whether other plugins may reject the preemptor than those that each pod has to pass: for its volumes, its claims of devices, or other pods,
// or for a resource that not all nodes have.
func isRich(c *model.Cluster) bool {
	p := c.Preemptor
	if p == nil {
		return false
	}
	shuns := func(p *v1.Pod) bool { return len(filter.RequiredAntiAffinity(p)) > 0 }
	for i := range p.Spec.Containers {
		for name := range p.Spec.Containers[i].Resources.Requests {
			if name != v1.ResourceCPU && name != v1.ResourceMemory {
				return true
			}
		}
	}
	return len(p.Spec.Volumes) > 0 || len(p.Spec.ResourceClaims) > 0 || len(configuration.Spread(c.Settings, p)) > 0 || len(filter.RequiredAffinity(p)) > 0 ||
		shuns(p) || slices.ContainsFunc(c.Pods, shuns)
}

// Looks ask each cluster for all that is asked of some: the first without the contract of plugins, which costs most, but for its queueing hints,
// the second for everything.
func Looks(s Shares) *[2]func(*model.Cluster) []properties.Property {
	cheaper := s.thorough()
	cheaper.Contracts = 0
	first := Sample(cheaper)
	if s.Contracts > 0 {
		first = func(c *model.Cluster) []properties.Property {
			return append(Sample(cheaper)(c), contract.Hints(s.Plugins...))
		}
	}
	return &[2]func(*model.Cluster) []properties.Property{first, Sample(s.thorough())}
}

// thorough are the shares by which each cluster is asked for all that is asked of some.
func (s Shares) thorough() Shares {
	if s.Relations > 0 {
		s.Relations = relation.Count()
	}
	s.Filters, s.Contracts, s.Repeating = min(1, s.Filters), min(1, s.Contracts), min(1, s.Repeating)
	return s
}

// Sample draws, for properties.Checker, some of the costly properties. Each cluster
// gets that many relations. As often as each relation it gets the one of updates, and
// half as often the promises about failing calls and metrics; one in a few is asked
// about equal pods one after another.
func Sample(shares Shares) func(*model.Cluster) []properties.Property {
	relations, filters, repeating := shares.Relations, shares.Filters, shares.Repeating
	return func(c *model.Cluster) []properties.Property {
		drawn, all := relation.Some(c, relations), relation.Count()
		once := func(n int, what string) bool { return properties.Random(c, what).IntN(n) == 0 }
		if n := properties.Random(c, "circumstances").IntN(all); n < relations {
			drawn = append(drawn, relation.UpdatesAgree)
			if relations >= all || n < (relations+1)/2 {
				drawn = append(append(drawn, aftermath.Costly()...), groups.Costly()...)
			}
		}
		if relations > 0 && (relations >= all || once(twins, "twin")) {
			drawn = append(drawn, relation.TwinsAgree)
		}
		if filters > 0 && once(filters, "filters") {
			drawn = append(drawn, properties.FiltersAlone())
		}
		switch n := shares.Contracts; {
		case n > 0 && once(n, "contracts"):
			drawn = append(drawn, contract.All(shares.Plugins...)...)
		case n > 0 && isRich(c) && once(max(1, n/richer), "hints"):
			drawn = append(drawn, contract.Hints(shares.Plugins...))
		}
		if repeating > 0 && once(repeating, "repeating") {
			drawn = append(drawn, Repeating()...)
		}
		return drawn
	}
}
