// Package all assembles the properties of all rooms, and a checker of everything.
package all

import (
	"slices"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/aftermath"
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
	return slices.Concat([]properties.Property{properties.GetsThrough()}, invariant.All(), aftermath.All())
}

// Costly are the properties that a campaign checks of a share of its clusters: they
// ask the system again, or take long.
func Costly() []properties.Property {
	return slices.Concat(relation.All(), askedAgain(), []properties.Property{properties.FiltersAlone()})
}

// askedAgain are the promises about the same cluster under other circumstances.
func askedAgain() []properties.Property { return append(circumstances(), relation.TwinsAgree) }

func circumstances() []properties.Property {
	return append(aftermath.Costly(), relation.UpdatesAgree)
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
	left := append(askedAgain(), aftermath.All()...)
	return slices.ContainsFunc(e.Properties, func(name string) bool {
		return !slices.ContainsFunc(left, func(p properties.Property) bool { return p.Name == name })
	})
}

// Sample draws, for properties.Checker, some of the costly properties. Each cluster
// gets that many relations. As often as each of them it gets the promises about
// other circumstances, all at once; and one in a few is asked about equal pods one after
// another. One in filters clusters has its filters asked one by
// one; 0 is none.
func Sample(relations, filters int) func(*model.Cluster) []properties.Property {
	if relations == 0 && filters == 0 {
		return nil
	}
	return func(c *model.Cluster) []properties.Property {
		drawn := relation.Some(c, relations)
		if properties.Random(c, "circumstances").IntN(len(relation.All())) < relations {
			drawn = append(drawn, circumstances()...)
		}
		if relations > 0 && properties.Random(c, "twin").IntN(twins) == 0 {
			drawn = append(drawn, relation.TwinsAgree)
		}
		if filters > 0 && properties.Random(c, "filters").IntN(filters) == 0 {
			drawn = append(drawn, properties.FiltersAlone())
		}
		return drawn
	}
}
