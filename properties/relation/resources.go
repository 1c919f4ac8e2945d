package relation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/properties"
)

// scalingResources: amounts that are not whole (milliCPU for cpu) are rounded up,
// which does not scale: of 1.5 bytes the scheduler makes 2, of twice that 3.
var scalingResources = relation{
	name: "scaling-resources",
	promise: "A pod fits if what is requested stays within allocatable, so it makes no difference to multiply all amounts but the number of pods by the same factor; " +
		"provided that they are whole.",
	source: "docs: concepts/configuration/manage-resources-containers, \"How Pods with resource requests are scheduled\"",
	lies:   []string{"big nodes are worse", "big nodes have room"},
	vary: func(s *properties.Subject, random *rand.Rand) *variation {
		if device.Backs(s.Cluster.Extra, s.Cluster.Preemptor) {
			return nil // there are as many devices as there are
		}
		factor := []int64{2, 3, 10}[random.IntN(3)]
		out, pods := copyOf(s.Cluster)
		var lists []v1.ResourceList
		for _, n := range out.Nodes {
			lists = append(lists, n.Status.Allocatable, n.Status.Capacity)
		}
		for _, p := range pods {
			lists = append(lists, resourceLists(p)...)
		}
		for _, list := range lists {
			for name, q := range list {
				if name == v1.ResourcePods {
					continue
				}
				scaled, exact := multiplied(name, q, factor)
				if !exact {
					return nil
				}
				list[name] = scaled
			}
		}
		return &variation{cluster: out}
	},
}

// resourceLists are all amounts of resources that a pod names.
func resourceLists(p *v1.Pod) []v1.ResourceList {
	lists := []v1.ResourceList{p.Spec.Overhead, p.Status.AllocatedResources}
	requirements := []*v1.ResourceRequirements{p.Spec.Resources, p.Status.Resources}
	for _, containers := range [][]v1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			requirements = append(requirements, &containers[i].Resources)
		}
	}
	for _, s := range slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses) {
		lists, requirements = append(lists, s.AllocatedResources), append(requirements, s.Resources)
	}
	for _, r := range requirements {
		if r != nil {
			lists = append(lists, r.Requests, r.Limits)
		}
	}
	return lists
}

// multiplied is an amount times a factor, if it is whole.
func multiplied(name v1.ResourceName, q resource.Quantity, factor int64) (product resource.Quantity, exact bool) {
	whole, of := q.Value(), func(n int64) *resource.Quantity { return resource.NewQuantity(n, q.Format) }
	if name == v1.ResourceCPU {
		whole, of = q.MilliValue(), func(n int64) *resource.Quantity { return resource.NewMilliQuantity(n, q.Format) }
	}
	if whole > math.MaxInt64/1000/factor || of(whole).Cmp(q) != 0 {
		return q, false
	}
	return *of(whole * factor), true
}

// addingCapacity: more room does not mean fewer victims, nor fewer violations, because
// the reprieve is greedy. Take pods of size 3, 1 and 1, in order of importance. With
// room for 2, only the first has to go. With room for 3, it may stay, and both others
// go. This is true: pods are reprieved one after the other, and the first for which
// more room makes a difference may stay, because the same pods are present up to
// there. Where no budget protects a pod, that is the order of importance. And where
// all pods need the same, no node has more victims.
//
// The relation says nothing where pods of other nodes matter. The filters that look at
// them come after NodeResourcesFit, so with more room a node may fail for good by one
// of them.
var addingCapacity = relation{
	name: "adding-capacity",
	// Before, the first filter to reject a node could be one that other pods change.
	releases: ">=1.20.0",
	promise: "Room on one node changes nothing on the others. A node that fits still fits, a candidate stays one unless the pod now fits, " +
		"and the most important pod for which it makes a difference is spared.",
	source: "docs: concepts/scheduling-eviction/pod-priority-preemption, \"Preemption\"; SelectVictimsOnNode (default_preemption.go:286@v1.37.1)",
	lies:   []string{"room elsewhere counts", "big nodes are no candidates", "on big nodes the most important has to go", "on big nodes all have to go"},
	vary:   addCapacity,
}

func addCapacity(s *properties.Subject, random *rand.Rand) *variation {
	c := s.Cluster
	if s.OtherNodesMatter() || judgedLate(c) {
		return nil
	}
	// Whether the preemptor waits for victims on its nominated node depends on
	// whether the node could ever fit.
	nodes := slices.DeleteFunc(slices.Clone(c.Nodes), func(n *v1.Node) bool { return n.Name == c.Preemptor.Status.NominatedNodeName })
	if len(nodes) == 0 {
		return nil
	}
	if tried := candidates(s.Observation); len(tried) > 0 && random.IntN(4) > 0 { // where most can go wrong
		nodes = slices.DeleteFunc(nodes, func(n *v1.Node) bool { return !slices.Contains(tried, n.Name) })
		if len(nodes) == 0 {
			return nil
		}
	}
	like := c.Preemptor
	if n := len(c.Pods); n > 0 && random.IntN(4) > 0 {
		like = c.Pods[random.IntN(n)]
	}
	bigger := nodes[random.IntN(len(nodes))].DeepCopy()
	if bigger.Status.Allocatable == nil {
		bigger.Status.Allocatable = v1.ResourceList{}
	}
	for i := range like.Spec.Containers {
		for name, q := range like.Spec.Containers[i].Resources.Requests {
			more := bigger.Status.Allocatable[name]
			more.Add(q)
			if s.Assumes("quantities-wrap-around") && more.CmpInt64(resource.MaxMilliValue) > 0 {
				return nil
			}
			bigger.Status.Allocatable[name] = more
		}
	}
	pods := bigger.Status.Allocatable[v1.ResourcePods]
	pods.Add(*resource.NewQuantity(int64(random.IntN(2)), resource.DecimalSI))
	bigger.Status.Allocatable[v1.ResourcePods] = pods

	out := *c
	out.Nodes = slices.Clone(c.Nodes)
	out.Nodes[slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == bigger.Name })] = bigger
	return &variation{
		cluster: &out,
		better:  map[string]bool{bigger.Name: true},
		also:    func(c *comparison) []properties.Finding { return c.spares(bigger.Name) },
	}
}

// spares checks the victims on a node that has got more room.
func (c *comparison) spares(node string) []properties.Finding {
	before, was := c.Observation.DryRuns[node]
	after, is := c.after.DryRuns[node]
	if !was || !is || before.Failed != nil || before.Error != "" {
		return nil
	}
	worse := func(why string) []properties.Finding {
		return properties.Found(model.StageDryRun, node, fmt.Sprintf("%v became %v with more room: %s", before, after, why))
	}
	if uniform(c.Subject, node) && (len(after.Victims) > len(before.Victims) || after.Violations > before.Violations) {
		return worse("more victims or violations, of pods that all need the same")
	}
	if hasTies(c.Subject, node) || anyProtected(c.Subject, node) {
		return nil
	}
	pods := c.Preemptable(node)
	for len(pods) > 0 {
		group := 1
		for group < len(pods) && c.CompareImportance(pods[0], pods[group]) == 0 {
			group++
		}
		b, a := 0, 0
		for _, p := range pods[:group] {
			if slices.Contains(before.Victims, model.Key(p)) {
				b++
			}
			if slices.Contains(after.Victims, model.Key(p)) {
				a++
			}
		}
		if a > b {
			return worse("a pod more important than those spared has to go")
		}
		if a < b {
			return nil
		}
		pods = pods[group:]
	}
	return nil
}

// uniform tells whether all possible victims of a node need the same. Then it only
// matters how many of them may stay. It does not hold with host ports, because a pod
// whose port the preemptor needs may never stay, nor with anti-affinity.
func uniform(s *properties.Subject, node string) bool {
	if s.OtherNodesMatter() {
		return false
	}
	pods := s.Preemptable(node)
	return !slices.ContainsFunc(pods, func(p *v1.Pod) bool { return !sameNeeds(p, pods[0]) || hasPorts(p) })
}

func hasPorts(p *v1.Pod) bool {
	with := func(c v1.Container) bool { return len(c.Ports) > 0 }
	return slices.ContainsFunc(p.Spec.Containers, with) || slices.ContainsFunc(p.Spec.InitContainers, with)
}
