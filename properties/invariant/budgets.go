package invariant

import (
	"fmt"
	"maps"
	"math/bits"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// ViolationsRecounted: the number of budget violations is one that the victims can come to.
var ViolationsRecounted = properties.Property{
	Name:    "violations-recounted",
	Promise: "pods: a group of pods expected to be preempted. numPDBViolations: the count of violations of PodDisruptionBudget.",
	Source:  "kube-scheduler/extender/v1/types.go:50@v0.37.1, Victims; policy/v1 PodDisruptionBudgetStatus.disruptionsAllowed: \"Number of pod disruptions that are currently allowed.\", which is valid only if observedGeneration equals to PDB's object generation",
	Lies:    []string{"a violation is not counted", "the status of an earlier generation counts"},
	Applies: func(s *properties.Subject) bool { return proposed(s) && len(s.Cluster.PodDisruptionBudgets) > 0 },
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		for _, p := range proposals(s) {
			least, most := Violations(s, p.node, set(p.victims...))
			if p.violations < least || p.violations > most {
				findings = append(findings, properties.FoundOf(p.stage, p.node, "", fmt.Sprintf("victims %v violate budgets %s times, not %d", p.victims, span(least, most), p.violations)))
			}
		}
		return findings, nil
	},
}

func span(least, most int) string {
	if least == most {
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// NoFewerViolations: no other candidate violates fewer budgets than the pick.
var NoFewerViolations = properties.Property{
	Name:    "no-fewer-violations",
	Promise: "The scheduler tries to find victims whose PDB are not violated by preemption, but if no such victims are found, preemption will still happen, and lower priority Pods will be removed despite their PDBs being violated.",
	Source:  properties.DocsBudgets + "; pickOneNodeForPreemption: \"A node with minimum number of PDB violations\" (preemption.go:329@v1.37.1)",
	Lies:    []string{"the pick violates a budget"},
	Applies: func(s *properties.Subject) bool {
		return choiceShown(s) && !s.Extended() && len(s.Observation.Candidates) > 1 && len(s.Cluster.PodDisruptionBudgets) > 0
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		p := picked(s)
		least, _ := Violations(s, p.node, set(p.victims...))
		for _, other := range s.Observation.Candidates {
			if other == p.node {
				continue
			}
			victims := s.Observation.DryRuns[other].Victims
			if _, most := Violations(s, other, set(victims...)); most < least {
				findings = append(findings, properties.FoundOf(model.StagePick, p.node, other, fmt.Sprintf("victims %v violate budgets %d times, on %s %v only %d times", p.victims, least, other, victims, most)))
			}
		}
		return findings, nil
	},
}

// costs tells whether evicting the pod takes a disruption from the budget, read
// from the API documentation of policy/v1 and from what evictions do, not from
// the scheduler.
func costs(s *properties.Subject, b *policyv1.PodDisruptionBudget, p *v1.Pod) bool {
	if b.Namespace != p.Namespace || !properties.Selects(b, p) {
		return false
	}
	if properties.SelectsAll(b) && s.Assumes("empty-selector") || len(p.Labels) == 0 && s.Assumes("unlabelled-pod") {
		return false
	}
	if _, evicted := b.Status.DisruptedPods[p.Name]; evicted && s.Holds(properties.DisruptedPodsAreExempt) {
		return false // counted already (PodDisruptionBudgetStatus.disruptedPods)
	}
	switch {
	case p.DeletionTimestamp != nil:
		// No longer counted as healthy (disruption.go:924@v1.37.1), and no
		// obstacle to evictions (eviction.go:394@v1.37.1).
		return s.Assumes("terminating-victim-violates-budget")
	case p.Status.Phase == v1.PodPending:
		// docs: tasks/run-application/configure-pdb, "Unhealthy Pod Eviction
		// Policy": pods in phase Pending are always considered for eviction.
		return s.Assumes("pending-victim-violates-budget")
	case unhealthy(p) && evictsUnhealthy(b):
		return s.Assumes("unhealthy-pod-eviction-policy")
	}
	return true
}

// allowed is how many disruptions a budget is known to allow. "DisruptionsAllowed and
// other status information is valid only if observedGeneration equals to PDB's object
// generation" (policy/v1/types.go:100@v0.37.1, PodDisruptionBudgetStatus); evictions
// take it for none until then (eviction.go:426@v1.37.1, checkAndDecrement).
func allowed(s *properties.Subject, b *policyv1.PodDisruptionBudget) int {
	if b.Status.ObservedGeneration != b.Generation && !s.Assumes("budget-status-lags") {
		return 0
	}
	return int(b.Status.DisruptionsAllowed)
}

// unhealthy: the pod runs and says that it is not ready. One that says neither is
// taken for healthy, since the kubelet always says.
func unhealthy(p *v1.Pod) bool {
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodReady {
			return p.Status.Phase == v1.PodRunning && c.Status != v1.ConditionTrue
		}
	}
	return false
}

// evictsUnhealthy: unhealthy pods do not count, and may go whatever is allowed
// (PodDisruptionBudgetSpec.unhealthyPodEvictionPolicy; eviction.go:242@v1.37.1).
func evictsUnhealthy(b *policyv1.PodDisruptionBudget) bool {
	if policy := b.Spec.UnhealthyPodEvictionPolicy; policy != nil && *policy == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// maxExact is up to how many pods of exceeded budgets the bounds of violations
// are exact; for more they are safe.
const maxExact = 12

// violations is how many of the pods gone violate a budget, a pod counting once
// however many budgets it violates. Pods that share one budget violate it as far
// as they exceed it, whichever go first. With overlapping budgets it depends:
//
//   - least: as many pods as possible go within all budgets, and those that do
//     not fit in take nothing from the budgets;
//   - most: every pod takes a disruption from each of its budgets, and they go in
//     the worst order.
//
// Every order of pods and of budgets, and every reading of what a violating pod
// takes from its other budgets, comes to a number between the two.
//
// Where victims take nothing from budgets, each of those violates a budget that
// one with nothing left protects.
//
// If budget-spent-by-reprieved-pod is assumed, all pods that could be preempted on
// the node take from the budgets, most important first.
func Violations(s *properties.Subject, node string, gone map[string]bool) (least, most int) {
	var pods []*v1.Pod
	for _, key := range slices.Sorted(maps.Keys(gone)) {
		if p := s.Pod(key); p != nil {
			pods = append(pods, p)
		}
	}
	if !s.Holds(properties.BudgetsAreSpent) {
		for _, p := range pods {
			if slices.ContainsFunc(s.Cluster.PodDisruptionBudgets, func(b *policyv1.PodDisruptionBudget) bool { return allowed(s, b) <= 0 && costs(s, b, p) }) {
				least++
			}
		}
		return least, least
	}
	var over []limit // of the budgets that are exceeded
	index := map[*v1.Pod]int{}
	var members []*v1.Pod
	for _, b := range s.Cluster.PodDisruptionBudgets {
		members = members[:0]
		for _, p := range pods {
			if costs(s, b, p) {
				members = append(members, p)
			}
		}
		l := limit{allowed: allowed(s, b)}
		excess := len(members) - l.allowed
		if excess <= 0 {
			continue
		}
		for _, p := range members {
			if _, known := index[p]; !known {
				index[p] = len(index)
			}
			l.members |= 1 << index[p]
		}
		over = append(over, l)
		least, most = max(least, excess), most+excess
	}
	most = min(most, len(index))
	if n := len(index); n > 0 && n <= maxExact {
		least, most = bounds(over, 1<<n-1)
	}
	if s.Assumes("budget-spent-by-reprieved-pod") {
		most = max(most, violatingInOrder(s, node, gone))
	}
	return least, most
}

// limit is a budget: how many of its members may go.
type limit struct {
	members uint64
	allowed int
}

func (l limit) excess(gone uint64) int { return bits.OnesCount64(l.members&gone) - l.allowed }

// bounds goes through the sets of pods gone, smaller ones first: which of them
// keep to all limits, and how many violations they come to at most.
func bounds(limits []limit, affected uint64) (least, most int) {
	within := 0
	worst := map[uint64]int{0: 0}
	// Subsets of affected in increasing order, so that those of a set precede it.
	for set := uint64(0); ; {
		set = (set - affected) & affected
		var exceeded uint64
		for _, l := range limits {
			if l.excess(set) > 0 {
				exceeded |= l.members & set
			}
		}
		if exceeded == 0 {
			within = max(within, bits.OnesCount64(set))
		}
		for rest := set; rest > 0; rest &= rest - 1 {
			last := rest & -rest
			violations := worst[set&^last]
			if exceeded&last != 0 {
				violations++
			}
			worst[set] = max(worst[set], violations)
		}
		if set == affected {
			return bits.OnesCount64(affected) - within, worst[affected]
		}
	}
}

// violatingInOrder counts the pods gone for which some budget has nothing left
// after all pods on the node that could be preempted and are as important.
func violatingInOrder(s *properties.Subject, node string, gone map[string]bool) int {
	possible := s.Preemptable(node)
	violating := 0
	for _, p := range possible {
		if !gone[model.Key(p)] {
			continue
		}
		for _, b := range s.Cluster.PodDisruptionBudgets {
			if !costs(s, b, p) {
				continue
			}
			taken := 0
			for _, other := range possible {
				if s.CompareImportance(other, p) <= 0 && costs(s, b, other) {
					taken++
				}
			}
			if taken > allowed(s, b) {
				violating++
				break
			}
		}
	}
	return violating
}
