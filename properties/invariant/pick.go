package invariant

import (
	"fmt"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/explain"
	"github.com/preemptcheck/preemptcheck/properties"
)

// BestCandidate: no other candidate is better than the pick by the documented criteria.
var BestCandidate = properties.Property{
	Name:    "best-candidate",
	Promise: "1. A node with minimum number of PDB violations. 2. A node with minimum highest priority victim is picked. 3. Ties are broken by sum of priorities of all victims. 4. If there are still ties, node with the minimum number of victims is picked. 5. If there are still ties, node with the latest start time of all highest priority victims is picked.",
	Source:  "preemption.go:324@v1.37.1, doc comment of pickOneNodeForPreemption",
	Lies:    []string{"the pick violates a budget"},
	Applies: choiceShown,
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		p, o := picked(s), s.Observation
		own := Cost(s, p.victims, p.violations)
		names, runs := o.Candidates, o.DryRuns
		if o.AfterExtenders != nil {
			names, runs = slices.Sorted(maps.Keys(o.AfterExtenders)), o.AfterExtenders
		}
		if d := runs[p.node]; !slices.Contains(names, p.node) || !slices.Equal(d.Victims, p.victims) || d.Violations != p.violations {
			findings = append(findings, properties.FoundOf(model.StagePick, p.node, "", fmt.Sprintf("victims %v with %d violations are none of the candidates", p.victims, p.violations)))
		}
		for _, other := range names {
			d := runs[other]
			if their := Cost(s, d.Victims, d.Violations); slices.Compare(their, own) < 0 {
				findings = append(findings, properties.FoundOf(model.StagePick, p.node, other, fmt.Sprintf("%s is better by %s", other, decisive(their, own))))
			}
		}
		return findings, nil
	},
}

// choiceShown: preempted, by a system that shows what it chose from.
func choiceShown(s *properties.Subject) bool {
	return preempted(s) && s.Observation.Candidates != nil && s.Observation.DryRuns != nil
}

// Cost is what the victims of a candidate cost by each criterion of the pick in turn:
// violations, highest priority, sum of priorities, number of victims, and how early
// the first of the highest priority started, in seconds. Less is better. In their sum
// priorities count from the lowest possible one, so that every victim adds to it
// (preemption.go:365@v1.37.1).
func Cost(s *properties.Subject, keys []string, violations int) []int64 {
	victims, priorityOf := s.Pods(keys), s.Priority
	own := s.Assumes("pick-by-own-priority") && slices.ContainsFunc(victims, func(p *v1.Pod) bool { return s.Priority(p) != model.Priority(p) })
	if own {
		priorityOf = model.Priority
	}
	highest, sum := int64(math.MinInt64), int64(0)
	for _, p := range victims {
		highest = max(highest, int64(priorityOf(p)))
		sum += int64(priorityOf(p)) - math.MinInt32
	}
	counts := highest
	if len(victims) > 0 && (own || s.Assumes("first-victim-is-highest") || s.Assumes("victims-unsorted")) {
		counts = int64(priorityOf(victims[0]))
	}
	first := int64(math.MaxInt64)
	for _, p := range slices.DeleteFunc(victims, func(p *v1.Pod) bool { return int64(priorityOf(p)) < highest }) {
		first = min(first, s.Started(p).Unix())
	}
	return []int64{int64(violations), counts, sum, int64(len(keys)), -first}
}

// decisive is the name of the first criterion by which two costs differ.
func decisive(a, b []int64) string {
	for i, name := range explain.CriterionNames() {
		if a[i] != b[i] {
			return name
		}
	}
	return model.Tie
}

// stableSort is up to how many elements Go's sort keeps equal ones in order: it
// sorts them by insertion.
const stableSort = 12

// OrderDoesNotMatter asks again with the lists of the cluster in other orders.
// What the documentation leaves open is left out: equally important pods of one
// node keep their order among themselves, and candidates that all criteria find
// equal may stand in for each other. The promise says nothing where nobody can know
// the order of equally important pods: more than one of them has no start time, or
// there are too many for the scheduler's sort to be stable.
var OrderDoesNotMatter = properties.Property{
	Name:      "order-does-not-matter",
	Promise:   "6. If there are still ties, the first such node is picked (sort of randomly).",
	Source:    "preemption.go:334@v1.37.1, doc comment of pickOneNodeForPreemption: nothing else is random, and lists of the API have no order",
	Needs:     properties.NeedsRepetition,
	Ungrouped: true,
	Lies:      []string{"the order of pods decides who goes", "the order of nodes decides the pick"},
	Applies:   func(s *properties.Subject) bool { return preempted(s) && !leavesOrderOpen(s) },
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		for _, arrange := range arrangements(s) {
			other, err := s.System.Observe(s.Context, rearranged(s, arrange))
			if err != nil {
				return nil, err
			}
			if findings := differs(s, other); findings != nil {
				return findings, nil
			}
		}
		return nil, nil
	},
}

// shuffledOneIn is at what rate clusters are also shuffled: it costs a cycle.
const shuffledOneIn = 4

// arrangements are the orders that are tried: reversed, and for some clusters,
// always the same ones, shuffled.
func arrangements(s *properties.Subject) []func(n int, swap func(i, j int)) {
	reverse := func(n int, swap func(i, j int)) {
		for i := range n / 2 {
			swap(i, n-1-i)
		}
	}
	random := properties.Random(s.Cluster, "order-does-not-matter")
	if random.IntN(shuffledOneIn) > 0 {
		return []func(int, func(i, j int)){reverse}
	}
	return []func(int, func(i, j int)){reverse, random.Shuffle}
}

// equals are the pods of one node that are equally important.
type equals struct {
	node     string
	priority int32
	start    int64
}

func equalsOf(s *properties.Subject, p *v1.Pod) equals {
	return equals{p.Spec.NodeName, model.Priority(p), s.Started(p).UnixNano()}
}

func leavesOrderOpen(s *properties.Subject) bool {
	groups, perNode, tied := map[equals]int{}, map[string]int{}, map[string]bool{}
	for _, p := range s.Cluster.Pods {
		if p.Spec.NodeName == "" || model.Priority(p) >= model.Priority(s.Cluster.Preemptor) {
			continue
		}
		g := equalsOf(s, p)
		groups[g]++
		perNode[g.node]++
		if groups[g] > 1 && p.Status.StartTime == nil {
			return true
		}
		tied[g.node] = tied[g.node] || groups[g] > 1
	}
	for node, n := range perNode {
		if n > stableSort && tied[node] {
			return true
		}
	}
	return false
}

// rearranged is the cluster with its lists in another order. If
// budget-order is assumed, budgets keep theirs.
func rearranged(s *properties.Subject, arrange func(int, func(i, j int))) *model.Cluster {
	c := *s.Cluster
	c.Nodes, c.Pods, c.PodDisruptionBudgets = slices.Clone(c.Nodes), slices.Clone(c.Pods), slices.Clone(c.PodDisruptionBudgets)
	arrange(len(c.Nodes), func(i, j int) { c.Nodes[i], c.Nodes[j] = c.Nodes[j], c.Nodes[i] })
	arrange(len(c.Pods), func(i, j int) { c.Pods[i], c.Pods[j] = c.Pods[j], c.Pods[i] })
	if !s.Assumes("budget-order") {
		b := c.PodDisruptionBudgets
		arrange(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	}
	// The places of equally important pods are filled in their first order.
	inOrder := map[equals][]*v1.Pod{}
	for _, p := range s.Cluster.Pods {
		g := equalsOf(s, p)
		inOrder[g] = append(inOrder[g], p)
	}
	for i, p := range c.Pods {
		g := equalsOf(s, p)
		c.Pods[i], inOrder[g] = inOrder[g][0], inOrder[g][1:]
	}
	return &c
}

// differs says where the answer to a rearranged cluster is another one.
func differs(s *properties.Subject, other *model.Observation) (findings []properties.Finding) {
	o := s.Observation
	for _, p := range proposals(s) {
		d, tried := other.DryRuns[p.node]
		if p.stage == model.StageDryRun && tried && (!slices.Equal(d.Victims, p.victims) || d.Violations != p.violations) {
			findings = append(findings, properties.FoundOf(p.stage, p.node, "", fmt.Sprintf("victims %v with %d violations, but in another order %v", p.victims, p.violations, d)))
		}
	}
	if findings != nil {
		return findings
	}
	mine, theirs := picked(s), other.Pick
	switch {
	case theirs == nil:
		return properties.Found(model.StagePick, "", "preempted on "+mine.node+", but in another order nowhere")
	case theirs.Node == mine.node && slices.Equal(theirs.Victims, mine.victims) && theirs.Violations == mine.violations:
		return nil
	case theirs.Node != mine.node && (!slices.Contains(o.Candidates, theirs.Node) || !slices.Contains(other.Candidates, mine.node)):
		return nil // a node that was not tried both times
	case theirs.Node != mine.node && slices.Equal(Cost(s, mine.victims, mine.violations), Cost(s, theirs.Victims, theirs.Violations)):
		return nil // a tie
	}
	return properties.Found(model.StagePick, "", fmt.Sprintf("picked %s with victims %v and %d violations, but in another order %v", mine.node, mine.victims, mine.violations, *theirs))
}
