package apiserver

import (
	v1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	schedulinghelpers "k8s.io/kubernetes/pkg/apis/scheduling/v1"
)

// classes are a cluster's priority classes by name; "" is the global default.
type classes map[string]*schedulingv1.PriorityClass

// classesByName adds the system classes, which every API server creates, to the
// cluster's own. Of several global defaults the lowest counts
// (priority/admission.go:329@v1.37.1, getDefaultPriorityClass).
func classesByName(own []*schedulingv1.PriorityClass) classes {
	byName := classes{}
	for _, class := range append(schedulinghelpers.SystemPriorityClasses(), own...) {
		byName[class.Name] = class
		if lowest := byName[""]; class.GlobalDefault && (lowest == nil || class.Value < lowest.Value) {
			byName[""] = class
		}
	}
	return byName
}

// resolve does the Priority admission: it sets the pod's priority, and the
// preemption policy if it has none, from its class or from the global default
// (priority/admission.go:150@v1.37.1, admitPod).
//
// A pod that already has a priority keeps it: it was stored with it, and the
// class may have changed or gone since. A pod without priority, class and global
// default also stays as it is, which means priority 0 to a scheduler; so do pods
// that were stored while the admission was off.
func (c classes) resolve(pod *v1.Pod) *field.Error {
	stored := pod.Spec.Priority != nil
	name := pod.Spec.PriorityClassName
	if stored && name == "" {
		return nil
	}
	class := c[name]
	switch {
	case class == nil && name != "" && !stored:
		return field.NotFound(field.NewPath("spec", "priorityClassName"), name)
	case class == nil, stored && *pod.Spec.Priority != class.Value:
		return nil
	}
	priority := class.Value
	pod.Spec.Priority = &priority
	pod.Spec.PriorityClassName = class.Name
	if pod.Spec.PreemptionPolicy == nil && class.PreemptionPolicy != nil {
		policy := *class.PreemptionPolicy
		pod.Spec.PreemptionPolicy = &policy
	}
	return nil
}
