package minimize

import (
	"cmp"
	"maps"
	"math"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/corpus/fingerprint"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/properties"
)

// aspects do without what tells causes apart, wherever it is used: a pod that
// needs a port in use may need a place as well, so that a finding that has
// nothing to do with ports is not told apart by them.
func aspects(c *model.Cluster) []step {
	var steps []step
	for name := range fingerprint.Without(c) {
		strip := func(c *model.Cluster) *model.Cluster { return fingerprint.Strip(c, name) }
		on := func(nodes func(c *model.Cluster)) func(c *model.Cluster) *model.Cluster {
			return func(c *model.Cluster) *model.Cluster {
				next := strip(c)
				if next != nil {
					nodes(next)
				}
				return next
			}
		}
		steps = append(steps, step{without + name, strip},
			step{without + name + ", on full nodes", on(justFull)},
			step{without + name + ", on nodes to be emptied", on(toBeEmptied)})
	}
	for i, o := range c.Objects() {
		if p, ok := o.(*v1.Pod); ok {
			steps = append(steps, step{title(p) + ": requests of one container", func(c *model.Cluster) *model.Cluster {
				return editAt(c, i, func(o runtime.Object) bool { return plainRequests(o.(*v1.Pod)) })
			}})
		}
	}
	for i, p := range c.Pods {
		steps = append(steps, step{without + title(p) + ", its room and its disruptions", func(c *model.Cluster) *model.Cluster {
			next := shallow(c)
			cutRoom(next, i, i+1)
			return withoutDisruptions(next, p)
		}})
	}
	return append(steps, step{"importance by priority alone", byPriority}, step{"all in one namespace", func(c *model.Cluster) *model.Cluster {
		return moved(c, preemptorOf(c).GetNamespace())
	}})
}

// withoutDisruptions takes from the budgets of a pod the disruption that evicting
// it would cost; nil if none allows any.
func withoutDisruptions(c *model.Cluster, p *v1.Pod) *model.Cluster {
	changed := false
	next := edit(c, func(_ int, o runtime.Object) bool {
		b, ok := o.(*policyv1.PodDisruptionBudget)
		if !ok || b.Namespace != p.Namespace || b.Status.DisruptionsAllowed == 0 || !properties.Selects(b, p) {
			return false
		}
		b.Status.DisruptionsAllowed--
		changed = true
		return true
	})
	if !changed {
		return nil
	}
	return next
}

// byPriority gives pods that differ in their start times alone different
// priorities instead: nil if all start at one time.
func byPriority(c *model.Cluster) *model.Cluster {
	type importance struct {
		priority int32
		start    int64
	}
	of := func(p *v1.Pod) importance {
		if p.Status.StartTime == nil {
			return importance{model.Priority(p), math.MaxInt64}
		}
		return importance{model.Priority(p), p.Status.StartTime.Unix()}
	}
	starts := map[int64]bool{} // of other pods
	for _, p := range c.Pods {
		if p.Status.StartTime != nil {
			starts[p.Status.StartTime.Unix()] = true
		}
	}
	var all []importance
	for _, p := range pods(c) {
		all = append(all, of(p))
	}
	slices.SortFunc(all, func(a, b importance) int {
		return cmp.Or(cmp.Compare(a.priority, b.priority), cmp.Compare(b.start, a.start))
	})
	all = slices.Compact(all)
	next := edit(c, func(_ int, o runtime.Object) bool {
		p, ok := o.(*v1.Pod)
		if !ok { // a group has the rank of its pods that wait
			return ranked(o, func(priority int32) int { return slices.Index(all, importance{priority, math.MaxInt64}) })
		}
		rank := int32(slices.Index(all, of(p)))
		p.Spec.Priority = &rank
		if p.Status.StartTime != nil {
			p.Status.StartTime = minute(epoch.Unix())
		}
		return true
	})
	if len(starts) < 2 {
		return nil
	}
	return next
}

// justFull gives each node just as many places as it has pods.
func justFull(c *model.Cluster) {
	count := podsPerNode(c)
	for _, n := range c.Nodes {
		if n.Status.Allocatable == nil {
			n.Status.Allocatable = v1.ResourceList{}
		}
		n.Status.Allocatable[v1.ResourcePods] = quantity(v1.ResourcePods, count[n.Name])
		n.Status.Capacity = maps.Clone(n.Status.Allocatable)
	}
}

// toBeEmptied makes the preemptor request all that a node has, and pods take some
// of it, and nothing else.
func toBeEmptied(c *model.Cluster) {
	count := podsPerNode(c)
	room := int64(1)
	for _, n := range c.Nodes {
		room = max(room, count[n.Name])
	}
	for _, n := range c.Nodes {
		n.Status.Allocatable = v1.ResourceList{
			v1.ResourceMemory: quantity(v1.ResourceMemory, room),
			v1.ResourcePods:   quantity(v1.ResourcePods, count[n.Name]),
		}
		n.Status.Capacity = maps.Clone(n.Status.Allocatable)
	}
	preemptors := c.Preemptors()
	for _, p := range pods(c) {
		request := int64(1)
		if slices.Contains(preemptors, p) {
			request = room
		}
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].Resources = v1.ResourceRequirements{}
			if i == 0 {
				p.Spec.Containers[i].Resources.Requests = v1.ResourceList{v1.ResourceMemory: quantity(v1.ResourceMemory, request)}
			}
		}
	}
}

func podsPerNode(c *model.Cluster) map[string]int64 {
	count := map[string]int64{}
	for _, p := range c.Pods {
		count[p.Spec.NodeName]++
	}
	return count
}

// plainRequests makes a pod request as much as before, and use the same ports, in its
// first container alone, and tells whether that changes it.
func plainRequests(p *v1.Pod) bool {
	if len(p.Spec.Containers) == 0 || len(p.Spec.Containers) == 1 && len(p.Spec.InitContainers) == 0 && p.Spec.Overhead == nil && p.Spec.Resources == nil && p.Status.ContainerStatuses == nil && p.Status.Resources == nil {
		return false
	}
	all := requests(p)
	ports := p.Spec.Containers[0].Ports
	for _, c := range p.Spec.Containers[1:] {
		ports = append(ports, c.Ports...)
	}
	for _, c := range p.Spec.InitContainers {
		if c.RestartPolicy != nil { // a sidecar, which goes on running
			ports = append(ports, c.Ports...)
		}
	}
	p.Spec.Containers = p.Spec.Containers[:1:1]
	p.Spec.Containers[0].Ports = ports
	p.Spec.Containers[0].Resources = v1.ResourceRequirements{Requests: all}
	p.Spec.InitContainers, p.Spec.Overhead, p.Spec.Resources = nil, nil, nil
	p.Status.ContainerStatuses, p.Status.InitContainerStatuses, p.Status.AllocatedResources, p.Status.Resources = nil, nil, nil, nil
	return true
}
