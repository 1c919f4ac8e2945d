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
	Name:     "violations-recounted",
	Promise:  "pods: a group of pods expected to be preempted. numPDBViolations: the count of violations of PodDisruptionBudget.",
	Source:   "kube-scheduler/extender/v1/types.go:50@v0.37.1, Victims; policy/v1 PodDisruptionBudgetStatus.disruptionsAllowed: \"Number of pod disruptions that are currently allowed.\", which is valid only if observedGeneration equals to PDB's object generation",
	PodByPod: true,
	Lies: []string{
		"a violation is not counted", "a violation is counted twice",
		"of overlapping budgets, one violation less than in the best order", "of overlapping budgets, one violation more than in the worst order",
		"the status of an earlier generation counts",
	},
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
	Name:     "no-fewer-violations",
	Promise:  "The scheduler tries to find victims whose PDB are not violated by preemption, but if no such victims are found, preemption will still happen, and lower priority Pods will be removed despite their PDBs being violated.",
	Source:   properties.DocsBudgets + "; pickOneNodeForPreemption: \"A node with minimum number of PDB violations\" (preemption.go:329@v1.37.1)",
	PodByPod: true,
	Lies:     []string{"the pick violates a budget"},
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
	case unhealthy(p) && evictsUnhealthy(b) && s.Holds(properties.UnhealthyPodsMayGo):
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

// maxExact is up to how many pods of budgets that overlap, and are exceeded, the bounds
// of violations are exact; for more they are safe.
const maxExact = 12

// Violations is how many of the pods gone violate a budget, a pod counting once
// however many budgets it violates ("the count of violations of PodDisruptionBudget"
// among the pods: extender/v1/types.go:50@v0.37.1, Victims). A budget allows a number of
// disruptions, so that pods violate it as far as they exceed that, whichever go first:
// where no two exceeded budgets have a pod in common the number is exact, however
// many pods and budgets there are. Where they overlap, the documents leave open in
// which order pods go, and what a pod that violates one budget takes from another:
//
//   - least: as many pods as possible go within all budgets, and those that do
//     not fit in take nothing from the budgets;
//   - most: every pod takes a disruption from each of its budgets, and they go in
//     the worst order.
//
// Every order of pods and of budgets, and every reading of what a violating pod
// takes from its other budgets, comes to a number between the two, and both are
// reached (TestViolationBoundsAreTight).
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
	var over []exceeded
	for _, b := range s.Cluster.PodDisruptionBudgets {
		e := exceeded{allowed: allowed(s, b)}
		for i, p := range pods {
			if costs(s, b, p) {
				e.members = append(e.members, i)
			}
		}
		if len(e.members) > e.allowed {
			over = append(over, e)
		}
	}
	for len(over) > 0 {
		var group []exceeded
		group, over = overlapping(over)
		low, high := boundsOf(group)
		least, most = least+low, most+high
	}
	if s.Assumes("budget-spent-by-reprieved-pod") {
		most = max(most, violatingInOrder(s, node, gone))
	}
	return least, most
}

// exceeded is a budget of which more pods go than it allows. Its members are indices of
// the pods gone, in order.
type exceeded struct {
	members []int
	allowed int
}

// overlapping are the first of some budgets and all that have pods in common with it, or
// with one of those; rest are the others.
func overlapping(all []exceeded) (group, rest []exceeded) {
	group, rest = all[:1:1], slices.Clone(all[1:])
	for i := 0; i < len(group); i++ {
		shares := func(e exceeded) bool {
			return slices.ContainsFunc(e.members, func(m int) bool { _, in := slices.BinarySearch(group[i].members, m); return in })
		}
		for _, e := range rest {
			if shares(e) {
				group = append(group, e)
			}
		}
		rest = slices.DeleteFunc(rest, shares)
	}
	return group, rest
}

// boundsOf are the bounds of the violations of budgets that overlap.
func boundsOf(group []exceeded) (least, most int) {
	index := map[int]int{}
	limits := make([]limit, len(group))
	for i, e := range group {
		limits[i].allowed = e.allowed
		for _, m := range e.members {
			if _, known := index[m]; !known {
				index[m] = len(index)
			}
			limits[i].members |= 1 << index[m] // too many for 64 bits are not looked at
		}
		excess := len(e.members) - e.allowed
		least, most = max(least, excess), most+excess
	}
	if len(group) > 1 && len(index) <= maxExact {
		return bounds(limits, 1<<len(index)-1)
	}
	return least, min(most, len(index))
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

// violatingInOrder counts the pods gone that may violate a budget if all pods on the
// node that could be preempted take from the budgets, most important first. Equally
// important ones go in any order: no more of them violate a budget than it has too few
// disruptions for.
func violatingInOrder(s *properties.Subject, node string, gone map[string]bool) int {
	possible := slices.SortedStableFunc(slices.Values(s.Preemptable(node)), s.CompareImportance)
	taken := make([]int, len(s.Cluster.PodDisruptionBudgets))
	violating := 0
	for len(possible) > 0 {
		n := 1
		for n < len(possible) && s.CompareImportance(possible[0], possible[n]) == 0 {
			n++
		}
		inAny, inEach := map[*v1.Pod]bool{}, 0
		for i, b := range s.Cluster.PodDisruptionBudgets {
			var going []*v1.Pod
			for _, p := range possible[:n] {
				if costs(s, b, p) {
					taken[i]++
					if gone[model.Key(p)] {
						going = append(going, p)
					}
				}
			}
			if excess := taken[i] - allowed(s, b); excess > 0 {
				inEach += min(excess, len(going))
				for _, p := range going {
					inAny[p] = true
				}
			}
		}
		violating += min(len(inAny), inEach)
		possible = possible[n:]
	}
	return violating
}
