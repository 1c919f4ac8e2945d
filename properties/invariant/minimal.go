package invariant

import (
	"fmt"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// maxSubsets is up to how many victims, or pods that share volumes, every subset of
// them is tried.
const maxSubsets = 8

// MinimalVictims: no victim could have stayed, and no set of victims. For no such set
// does the preemptor fit on the node once only the other victims are gone.
//
// For most filters, PodTopologySpread among them, fewer pods never make a node worse.
// Then single pods say as much as sets. With others, such as affinity to a victim,
// they do not. A greedy reprieve tries each pod once, so it can break the promise
// although it follows its own steps. That is a finding about the steps.
//
// Single pods are tried in all dry runs, larger sets for the pick.
var MinimalVictims = properties.Property{
	Name:    "minimal-victims",
	Promise: "Preemption does not necessarily remove all lower-priority Pods. If the pending Pod can be scheduled by removing fewer than all lower-priority Pods, then only a portion of the lower-priority Pods are removed.",
	Source:  "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Inter-Pod affinity on lower-priority Pods\", note; \"the minimum set of pods\": default_preemption.go:279@v1.37.1, SelectVictimsOnNode",
	Lies:    []string{"one victim too many"},
	Applies: proposed,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			largest := 1
			if pick := s.Observation.Pick; pick != nil && pick.Node == p.node && len(p.victims) <= maxSubsets {
				largest = len(p.victims)
			}
			stay, err := couldStay(p.victims, largest, func(gone map[string]bool) (bool, error) { return couldRun(s, p.node, gone) })
			if err != nil {
				return nil, err
			}
			if stay != nil {
				findings = append(findings, properties.FoundOf(p.stage, p.node, "", fmt.Sprintf("of victims %v, %v could have stayed", p.victims, stay)))
			}
		}
		return findings, nil
	},
}

// couldStay is the smallest set of victims, of up to largest, without which the
// rest is enough to fit; nil if there is none.
func couldStay(victims []string, largest int, fits func(gone map[string]bool) (bool, error)) ([]string, error) {
	var extend func(stay []string, from, more int) ([]string, error)
	extend = func(stay []string, from, more int) ([]string, error) {
		if more == 0 {
			gone := set(victims...)
			for _, key := range stay {
				delete(gone, key)
			}
			if ok, err := fits(gone); err != nil || !ok {
				return nil, err
			}
			return stay, nil
		}
		for i := from; i <= len(victims)-more; i++ {
			if found, err := extend(append(stay, victims[i]), i+1, more-1); err != nil || found != nil {
				return found, err
			}
		}
		return nil, nil
	}
	for size := 1; size <= largest; size++ {
		if stay, err := extend(nil, 0, size); err != nil || stay != nil {
			return stay, err
		}
	}
	return nil, nil
}

// NoSwap: no victim could be spared by taking a less important pod in its place.
var NoSwap = properties.Property{
	Name:    "no-swap",
	Promise: "Try to reprieve as many pods as possible. We first try to reprieve the PDB violating victims and then other non-violating ones. In both cases, we start from the highest importance victims.",
	Source:  "default_preemption.go:384@v1.37.1, SelectVictimsOnNode; \"tries to find victims whose PDB are not violated\": " + properties.DocsBudgets,
	Lies:    []string{"a more important victim than needed"},
	Applies: proposed,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			victims := set(p.victims...)
			most := func(gone map[string]bool) int { _, m := Violations(s, p.node, gone); return m }
			least, _ := Violations(s, p.node, victims)
			possible := s.Preemptable(p.node)
		next:
			for _, key := range p.victims {
				victim := s.Pod(key)
				for _, other := range possible {
					if victim == nil || victims[model.Key(other)] || s.CompareImportance(victim, other) >= 0 {
						continue
					}
					gone := set(p.victims...)
					delete(gone, key)
					gone[model.Key(other)] = true
					if most(gone) > least {
						continue
					}
					fits, err := couldRun(s, p.node, gone)
					if err != nil {
						return nil, err
					}
					if fits {
						findings = append(findings, properties.FoundOf(p.stage, p.node, key, fmt.Sprintf("%s could have been spared by taking the less important %s, without more violations", key, model.Key(other))))
						continue next
					}
				}
			}
		}
		return findings, nil
	},
}
