package minimize

import (
	v1 "k8s.io/api/core/v1"
	resourcehelpers "k8s.io/component-helpers/resource"

	"github.com/preemptcheck/preemptcheck/model"
)

// crowded counts the nodes with pods that do not all fit on them. There is no
// rule against such nodes, but a scheduler makes none: no step may make more of
// them than there are, however small the cluster would become.
func crowded(c *model.Cluster) int {
	used := used(c.Pods)
	count := 0
	for _, n := range c.Nodes {
		for name, q := range used[n.Name] {
			if room := n.Status.Allocatable[name]; q.Cmp(room) > 0 {
				count++
				break
			}
		}
	}
	return count
}

// used is what bound pods take of each node.
func used(pods []*v1.Pod) map[string]v1.ResourceList {
	used := map[string]v1.ResourceList{}
	for _, p := range pods {
		if p.Spec.NodeName == "" {
			continue
		}
		sum := used[p.Spec.NodeName]
		if sum == nil {
			sum = v1.ResourceList{}
			used[p.Spec.NodeName] = sum
		}
		requests := requests(p)
		requests[v1.ResourcePods] = quantity(v1.ResourcePods, 1)
		for name, q := range requests {
			total := sum[name]
			total.Add(q)
			sum[name] = total
		}
	}
	return used
}

func requests(p *v1.Pod) v1.ResourceList {
	return resourcehelpers.PodRequests(p, resourcehelpers.PodResourcesOptions{UseStatusResources: true})
}

// withRoom takes from nodes what one pod, the object i, requests less in next than
// in c: from its own node, or from all if it is not bound.
func withRoom(c, next *model.Cluster, i int) *model.Cluster {
	before, after := c.Objects()[i].(*v1.Pod), next.Objects()[i].(*v1.Pod)
	less, left := v1.ResourceList{}, requests(after)
	for name, q := range requests(before) {
		if q.Sub(left[name]); q.Sign() > 0 {
			less[name] = q
		}
	}
	if len(less) == 0 {
		return nil
	}
	for j, n := range next.Nodes {
		if after.Spec.NodeName == "" || after.Spec.NodeName == n.Name {
			next.Nodes[j] = resized(n, less, minus)
		}
	}
	return next
}
