package generators

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/generators/draw"
	"github.com/preemptcheck/preemptcheck/model"
)

// hugeUnits spell quantities in units that are so large that a few of them pass
// 2^63-1 (milliCPU for cpu), by which a sum, or a single quantity, leaves 64 bits.
// Quantities of up to 18 digits, of more, and of a binary suffix are three different
// things to Quantity. API validation admits devices only without a remainder of their
// milli-units, which those of a binary suffix may leave when they are capped.
var hugeUnits = [resources][]string{
	cpu:     {"%dP", "%d000000000000001", "%dPi"},
	memory:  {"%dE", "%d000000000000000001", "%dEi"},
	storage: {"%dE", "%d000000000000000001", "%dEi"},
	gpu:     {"%dE"},
}

// enlarge spells all quantities of a resource in one of the huge units.
func (g *generator) enlarge(c *model.Cluster) {
	r := resource(draw.Weighted(g.Source, 35, 40, 10, 15))
	unit := draw.Pick(g.Source, hugeUnits[r]...)
	times := int64(draw.Pick(g.Source, 1, 3))
	one := quantity(r, 2)
	for _, list := range resourceLists(c) {
		q, there := list[resourceNames[r]]
		if !there || q.CmpInt64(1<<50) > 0 { // several lists may be one
			continue
		}
		units := (q.MilliValue() + one.MilliValue() - 1) / one.MilliValue()
		huge := apiresource.MustParse(fmt.Sprintf(unit, units*times))
		list[resourceNames[r]] = apiresource.MustParse(huge.String()) // as the API server stores it
	}
}

// resourceLists are all amounts of resources that nodes have and pods name.
func resourceLists(c *model.Cluster) (lists []v1.ResourceList) {
	for _, n := range c.Nodes {
		lists = append(lists, n.Status.Allocatable, n.Status.Capacity)
	}
	of := func(rs ...*v1.ResourceRequirements) {
		for _, r := range rs {
			if r != nil {
				lists = append(lists, r.Requests, r.Limits)
			}
		}
	}
	for _, p := range append([]*v1.Pod{c.Preemptor}, c.Pods...) {
		lists = append(lists, p.Spec.Overhead, p.Status.AllocatedResources)
		of(p.Spec.Resources, p.Status.Resources)
		for _, containers := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
			for i := range containers {
				of(&containers[i].Resources)
			}
		}
		for _, statuses := range [][]v1.ContainerStatus{p.Status.InitContainerStatuses, p.Status.ContainerStatuses} {
			for _, s := range statuses {
				lists = append(lists, s.AllocatedResources)
				of(s.Resources)
			}
		}
	}
	return lists
}
