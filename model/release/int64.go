package release

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// int64WrapsAround: amounts are numbers of 64 bits, and so are their sums, whether
// they have room in them or not. An amount that has none is 0, or what its last 64
// bits are, by how many digits the quantity has (apimachinery
// resource/quantity.go:828@v0.37.1, ScaledValue); the preemptor's is at least 0
// (framework/types.go:1665@v1.37.1, SetMaxResource).
func int64WrapsAround(s *filter.Snapshot, st filter.State, of *filter.ResourcesState) filter.State {
	needs := make([]v1.ResourceList, s.Size()) // by Pod.Index
	needs[0] = resourcehelper.PodRequests(s.Preemptor.Pod, resourcehelper.PodResourcesOptions{})
	s.Placed(func(_ *filter.Node, p *filter.Pod) {
		needs[p.Index] = resourcehelper.PodRequests(p.Pod, resourcehelper.PodResourcesOptions{UseStatusResources: true, InPlacePodLevelResourcesVerticalScalingEnabled: true})
	})
	concerned := false
	for _, list := range needs {
		concerned = concerned || AnyHuge(list)
	}
	for _, n := range s.Nodes {
		concerned = concerned || AnyHuge(n.Status.Allocatable)
	}
	if !concerned {
		return st
	}
	fits := func(n *filter.Node, v filter.View) (failed *filter.Verdict) {
		fail := func(reason string, unresolvable bool) {
			if failed == nil {
				failed = &filter.Verdict{}
			}
			failed.Reasons = append(failed.Reasons, reason)
			failed.Unresolvable = failed.Unresolvable || unresolvable
		}
		if int64(len(v.Pods))+1 > asInt64(n.Status.Allocatable, v1.ResourcePods) {
			fail("Too many pods", false)
		}
		for name := range needs[0] {
			if !slices.ContainsFunc(of.Wanted, func(a filter.Amount) bool { return a.Name == name }) { // it is ignored
				continue
			}
			request, allocatable := asInt64(needs[0], name), asInt64(n.Status.Allocatable, name)
			free := allocatable
			for _, p := range v.Pods {
				free -= asInt64(needs[p.Index], name)
			}
			leftToDevices := slices.Contains(of.Backed, name) && allocatable <= 0
			if filter.IsScheduled(name) && !leftToDevices && request > 0 && request > free {
				fail("Insufficient "+string(name), request > allocatable)
			}
		}
		return failed
	}
	return variant.Judge{State: st, Verdict: fits}
}

// nothingOfHuge: a node has none of an extended resource if its amount wraps around to 0, though it says that it has the resource, and a
// pod whose requests for one do, all together, asks for none.
func nothingOfHuge(s *filter.Snapshot) {
	s.Preemptor.Pod = variant.Changed(s.Preemptor.Pod, withoutHuge)
	for _, n := range s.Nodes {
		if !AnyHuge(n.Status.Allocatable) {
			continue
		}
		n.Node = n.Node.DeepCopy()
		for name := range n.Status.Allocatable {
			if filter.IsExtended(name) && asInt64(n.Status.Allocatable, name) == 0 {
				n.Status.Allocatable[name] = resource.Quantity{}
			}
		}
	}
}

// withoutHuge takes from the containers of a pod the extended resources of which it requests 0 by their last 64 bits.
func withoutHuge(p *v1.Pod) {
	total := resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{})
	for name := range total {
		if !filter.IsExtended(name) || !AnyHuge(v1.ResourceList{name: total[name]}) || asInt64(total, name) > 0 {
			continue
		}
		without := func(containers []v1.Container) []v1.Container {
			containers = slices.Clone(containers)
			for i := range containers {
				requests := maps.Clone(containers[i].Resources.Requests)
				delete(requests, name)
				containers[i].Resources.Requests = requests
			}
			return containers
		}
		p.Spec.Containers, p.Spec.InitContainers = without(p.Spec.Containers), without(p.Spec.InitContainers)
	}
}

func asInt64(list v1.ResourceList, name v1.ResourceName) int64 {
	q := list[name]
	if name == v1.ResourceCPU {
		return q.MilliValue()
	}
	return q.Value()
}

// AnyHuge tells whether a few of the quantities may pass 64 bits.
func AnyHuge(list v1.ResourceList) bool {
	for _, q := range list {
		if q.CmpInt64(resource.MaxMilliValue/1000) > 0 {
			return true
		}
	}
	return false
}
