package apiserver

import (
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"github.com/preemptcheck/preemptcheck/model/timeline"
)

// Timeline admits all objects of a timeline, in place: those of the start and those that
// steps create.
func Timeline(t *timeline.Timeline) error {
	all := *t.Cluster
	names := map[string]bool{}
	for _, o := range all.Objects() {
		names[NameOf(o)] = true
	}
	for i := range t.Steps {
		switch o := t.Steps[i].Create.(type) {
		case nil:
		default:
			if names[NameOf(o)] {
				continue // an object that is created again is admitted already
			}
			names[NameOf(o)] = true
			all.Extra = append(all.Extra, o)
		case *v1.Node:
			if !names[NameOf(o)] {
				all.Nodes = append(all.Nodes, o)
			}
			names[NameOf(o)] = true
		case *v1.Pod:
			if !names[NameOf(o)] {
				all.Pods = append(all.Pods, o)
			}
			names[NameOf(o)] = true
		case *policyv1.PodDisruptionBudget:
			if !names[NameOf(o)] {
				all.PodDisruptionBudgets = append(all.PodDisruptionBudgets, o)
			}
			names[NameOf(o)] = true
		case *schedulingv1.PriorityClass:
			if !names[NameOf(o)] {
				all.PriorityClasses = append(all.PriorityClasses, o)
			}
			names[NameOf(o)] = true
		}
	}
	return Objects(&all)
}
