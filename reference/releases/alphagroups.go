package releases

import (
	"maps"

	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/reference"
)

// alphaGroups is the minor release in which pod groups were alpha: the API is
// scheduling.k8s.io/v1alpha2 there.
const alphaGroups = 36

// alphaGates are the gates that GenericWorkload stands for since 1.37 (KEP-5710, which says that
// the gate of preemption is removed and tied to GenericWorkload).
var alphaGates = []string{"GangScheduling", "WorkloadAwarePreemption"}

// withAlphaGates are feature gates with those that GenericWorkload stood for only later.
func withAlphaGates(gates map[string]bool) map[string]bool {
	on, pinned := gates[model.GateWorkload]
	if !pinned {
		return gates
	}
	gates = maps.Clone(gates)
	for _, gate := range alphaGates {
		gates[gate] = on
	}
	return gates
}

// alphaGroup is a PodGroup of v1beta1 as one of v1alpha2. The two name disruption modes and templates
// otherwise. A group of v1alpha2 has no parent, and no preemption policy: a group with one is refused.
func alphaGroup(g *schedulingv1beta1.PodGroup, release string) (object, error) {
	type fields map[string]any
	spec := fields{"schedulingPolicy": g.Spec.SchedulingPolicy}
	if ref := g.Spec.WorkloadRef; ref != nil {
		spec["podGroupTemplateRef"] = fields{"workload": fields{"workloadName": ref.WorkloadName, "podGroupTemplateName": ref.TemplateName}}
	}
	if constraints := g.Spec.SchedulingConstraints; constraints != nil {
		spec["schedulingConstraints"] = constraints
	}
	if claims := g.Spec.ResourceClaims; len(claims) > 0 {
		spec["resourceClaims"] = claims
	}
	if mode := g.Spec.DisruptionMode; mode != nil {
		spec["disruptionMode"] = "Pod"
		if mode.All != nil {
			spec["disruptionMode"] = "PodGroup"
		}
	}
	if class := g.Spec.PriorityClassName; class != "" {
		spec["priorityClassName"] = class
	}
	if priority := g.Spec.Priority; priority != nil {
		spec["priority"] = priority
	}
	var refused string
	switch {
	case g.Spec.ParentCompositePodGroupName != nil:
		refused = "spec.parentCompositePodGroupName"
	case g.Spec.PreemptionPolicy != nil:
		refused = "spec.preemptionPolicy"
	default:
		return object{"scheduling.k8s.io/v1alpha2", "PodGroup", fields{"metadata": g.ObjectMeta, "spec": spec}}, nil
	}
	return object{}, &reference.Refusal{System: release, What: "PodGroup " + model.Key(g) + ": " + refused}
}
