package invariant

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
)

// PreemptorFits: without the victims the preemptor fits, by the model and by the system itself.
var PreemptorFits = properties.Property{
	Name:    "preemptor-fits",
	Promise: "After the Pods are gone, P can be scheduled on the Node.",
	Source:  properties.DocsPreemption + "; pods of equal or higher priority nominated to the node count (runtime/framework.go:1268@v1.37.1)",
	Needs:   properties.NeedsModel,
	Lies:    []string{"too few victims"},
	Applies: proposed,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			ok, err := s.FitsByModel(p.node, set(p.victims...))
			if err != nil {
				return nil, err
			}
			if !ok && !overlooked(s, p) {
				findings = append(findings, properties.FoundOf(p.stage, p.node, "", fmt.Sprintf("by the model's filters the preemptor does not fit once %v are gone", p.victims)))
			}
		}
		if !decisionShown(s) {
			return findings, nil
		}
		p := decided(s)
		victims := set(p.victims...)
		judged, err := s.Fits(p.node, victims)
		if err != nil || judged.BySystem {
			return findings, err
		}
		seems, err := s.FitsByModel(p.node, victims)
		if explained := s.AssumesAny() && seems && !judged.ByModel || overlooked(s, p); err == nil && !explained {
			findings = append(findings, properties.FoundOf(model.StagePick, p.node, "by the system", fmt.Sprintf("%s itself does not schedule the preemptor there once %v are gone", s.System.Name(), p.victims)))
		}
		return findings, err
	},
}

// overlooked tells whether a dry run may come to these victims by the finding least-of-two-domains, and by the documented rules may not:
// others were given back beside which the preemptor does not fit.
func overlooked(s *properties.Subject, p proposal) bool {
	seen, shown := s.Observation.DryRuns[p.node]
	if !shown || s.Decision == nil || !s.Assumes("least-of-two-domains") {
		return false
	}
	faulty, err := s.Decision.Under(s.Rules())
	return err == nil && faulty.AllowsDryRun(p.node, seen) && !s.Decision.AllowsDryRun(p.node, seen)
}

// JudgesAgree: model and system agree whether the preemptor fits once the victims are gone.
var JudgesAgree = properties.Property{
	Name:    "judges-agree",
	Promise: "The filtering step finds the set of Nodes where it's feasible to schedule the Pod.",
	Source:  "docs: concepts/scheduling-eviction/kube-scheduler, \"Node selection in kube-scheduler\"; asked of the cluster without the victims, in a full cycle and of the model's filters",
	Needs:   properties.NeedsModel,
	Lies:    []string{"not scheduled once the victims are gone"},
	Applies: decisionShown,
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		p := decided(s)
		judged, err := s.Fits(p.node, set(p.victims...))
		if err != nil || judged.Unmodelled || judged.ByModel == judged.BySystem {
			return nil, err
		}
		return properties.Found(model.StageFilter, p.node, fmt.Sprintf("once %v are gone, the preemptor fits: %t by the model, %t by %s", p.victims, judged.ByModel, judged.BySystem, s.System.Name())), nil
	},
}

// NoFreeNode: nobody is preempted if the preemptor fits somewhere as it is.
var NoFreeNode = properties.Property{
	Name:    "no-free-node",
	Promise: "If no Node is found that satisfies all the specified requirements of the Pod, preemption logic is triggered for the pending Pod.",
	Source:  properties.DocsPreemption,
	Needs:   properties.NeedsModel,
	Lies:    []string{"a free node is not seen"},
	Applies: preempted,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		if to := s.Observation.ScheduledTo; to != "" {
			findings = append(findings, properties.FoundOf(model.StagePick, to, "", "preempted, although the pod was scheduled there"))
		}
		for _, n := range s.Cluster.Nodes {
			fits, err := s.FitsByModel(n.Name, nil)
			if err != nil {
				return nil, err
			}
			if s.Assumes("free-node-is-not-looked-at") && s.Decision.Search != nil && slices.Contains(s.Observation.Absent, n.Name) {
				continue
			}
			if fits && !explain.RejectedByExtender(s.Decision, n.Name) {
				findings = append(findings, properties.FoundOf(model.StagePick, n.Name, "free", "preempted, although the preemptor fits there as it is"))
			}
		}
		return findings, nil
	},
}

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
	Name:     "minimal-victims",
	Promise:  "Preemption does not necessarily remove all lower-priority Pods. If the pending Pod can be scheduled by removing fewer than all lower-priority Pods, then only a portion of the lower-priority Pods are removed.",
	Source:   "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Inter-Pod affinity on lower-priority Pods\", note; \"the minimum set of pods\": default_preemption.go:279@v1.37.1, SelectVictimsOnNode",
	Needs:    properties.NeedsModel,
	PodByPod: true,
	Lies:     []string{"one victim too many"},
	Applies:  proposed,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			largest := 1
			if pick := s.Observation.Pick; pick != nil && pick.Node == p.node && len(p.victims) <= maxSubsets {
				largest = len(p.victims)
			}
			if s.Assumes(string(release.QuantitiesWrapAround)) && slices.ContainsFunc(s.Cluster.Nodes, hasHuge) {
				// More pods may then fit where fewer do not. A reprieve that tries each pod
				// once says nothing of sets.
				largest = 1
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

// hasHuge tells whether a node has more of something than 64 bits can count a few times.
func hasHuge(n *v1.Node) bool { return release.AnyHuge(n.Status.Allocatable) }

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
	Name:     "no-swap",
	Promise:  "Try to reprieve as many pods as possible. We first try to reprieve the PDB violating victims and then other non-violating ones. In both cases, we start from the highest importance victims.",
	Source:   "default_preemption.go:384@v1.37.1, SelectVictimsOnNode; \"tries to find victims whose PDB are not violated\": " + properties.DocsBudgets,
	Needs:    properties.NeedsModel,
	PodByPod: true,
	Lies:     []string{"a more important victim than needed"},
	Applies:  proposed,
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
					if victim == nil || s.CompareImportance(victim, other) >= 0 || victims[model.Key(other)] {
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

// couldRun tells whether the preemptor fits on a node once the pods gone are gone, and
// no known finding that is assumed explains why they were not spared:
//
//   - sharer-reprieved-later: the preemptor fits only because pods stay that mount its
//     volumes. Each of them is tried by itself, and may be given back too late for that,
//     or never, if it takes another one of them.
//   - reprieved-pods-shunned: pods that stay may count for all terms of the
//     preemptor's anti-affinity.
func couldRun(s *properties.Subject, node string, gone map[string]bool) (bool, error) {
	fits, err := s.FitsByModel(node, gone)
	if err != nil || !fits {
		return false, err
	}
	if s.Assumes(string(release.ReprievedPodsShunned)) && hasSeveralAntiAffinityTerms(s.Cluster.Preemptor) {
		return false, nil
	}
	if !s.Assumes("sharer-reprieved-later") {
		return true, nil
	}
	volumes := mounted(s, s.Cluster.Preemptor)
	var sharers []string
	for _, p := range s.Preemptable(node) {
		sharer := slices.ContainsFunc(mounted(s, p), func(v string) bool { return slices.Contains(volumes, v) })
		if sharer && !gone[model.Key(p)] {
			sharers = append(sharers, model.Key(p))
		}
	}
	for late := 1; late < 1<<min(len(sharers), maxSubsets); late++ {
		without := maps.Clone(gone)
		for i, key := range sharers {
			if late&(1<<i) != 0 {
				without[key] = true
			}
		}
		if fits, err = s.FitsByModel(node, without); err != nil || !fits {
			return false, err
		}
	}
	return true, nil
}

// mounted are the volumes that a pod mounts, as their driver calls them; and the
// claims that have none yet.
func mounted(s *properties.Subject, p *v1.Pod) []string {
	var names []string
	claims := s.Claims(p)
	for _, v := range volume.CSIVolumes(p, claims) {
		if !v.Pending {
			names = append(names, v.Driver+"/"+v.Handle)
		}
	}
	for _, c := range claims {
		if c.PVC != nil && c.PVC.Spec.VolumeName != "" {
			names = append(names, c.PVC.Spec.VolumeName)
		}
		if !c.Ephemeral {
			names = append(names, c.Key)
		}
	}
	return names
}

// hasSeveralAntiAffinityTerms tells whether a pod has more than one required term of
// anti-affinity.
func hasSeveralAntiAffinityTerms(p *v1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 1
}
