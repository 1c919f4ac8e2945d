package configuration

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

const spreading = "PodTopologySpread"

// defaultConstraints are those of the profile, and where they are.
func (p *Profile) defaultConstraints() (path string, all []v1.TopologySpreadConstraint) {
	var args struct {
		DefaultConstraints []v1.TopologySpreadConstraint `json:"defaultConstraints"`
	}
	path, _ = p.args(spreading, &args)
	return path + ".defaultConstraints", args.DefaultConstraints
}

// hardDefaults are the default constraints that have to be satisfied: others only score.
func (p *Profile) hardDefaults() []v1.TopologySpreadConstraint {
	_, all := p.defaultConstraints()
	return slices.DeleteFunc(all, func(c v1.TopologySpreadConstraint) bool { return !isHard(c) })
}

func isHard(c v1.TopologySpreadConstraint) bool { return c.WhenUnsatisfiable == v1.DoNotSchedule }

// SpreadsByDefault tells whether the pods of some profile have constraints by default that have to be satisfied.
func SpreadsByDefault(s model.Settings) (does bool) {
	EachDefault(s, func(string, *v1.TopologySpreadConstraint) { does = true })
	return does
}

// MaySpread tells whether a pod has constraints of its own that have to be satisfied, or may have such by default.
func MaySpread(s model.Settings, pod *v1.Pod) bool {
	return slices.ContainsFunc(Spread(s, pod), isHard)
}

// Spread are the constraints of a pod: its own, or those that have to be satisfied and that it has by default, if it belongs to anything.
// The latter have no selector.
func Spread(s model.Settings, pod *v1.Pod) []v1.TopologySpreadConstraint {
	if HasDefaults(s, pod) {
		return Of(s, pod.Spec.SchedulerName).hardDefaults()
	}
	return pod.Spec.TopologySpreadConstraints
}

// HasDefaults tells whether default constraints that have to be satisfied hold for a pod, if it belongs to anything.
func HasDefaults(s model.Settings, pod *v1.Pod) bool {
	p := Of(s, pod.Spec.SchedulerName)
	return p != nil && len(pod.Spec.TopologySpreadConstraints) == 0 && len(p.hardDefaults()) > 0
}

// EachDefault visits the default constraints of all profiles that have to be satisfied, with where they are.
func EachDefault(s model.Settings, visit func(at string, c *v1.TopologySpreadConstraint)) {
	for _, name := range s.Schedulers() {
		p := Of(s, name)
		if p == nil {
			continue
		}
		path, all := p.defaultConstraints()
		for i := range all {
			if isHard(all[i]) {
				visit(fmt.Sprintf("%s[%d]", path, i), &all[i])
			}
		}
	}
}

// spreadByDefault makes a PodTopologySpread that takes default constraints for those of a preemptor that has none
// (docs: concepts/scheduling-eviction/topology-spread-constraints, "Cluster-level default constraints";
// kube-scheduler/config/v1/types_pluginargs.go:100@v0.37.1, PodTopologySpreadArgs.DefaultConstraints; KEP-1258).
func spreadByDefault(hard []v1.TopologySpreadConstraint) variant.OfPlugin {
	none := func(s *filter.Snapshot) bool { return len(s.Preemptor.Spec.TopologySpreadConstraints) == 0 }
	return variant.Where(none, variant.Misread(func(s *filter.Snapshot) {
		s.Preemptor.Pod = variant.Changed(s.Preemptor.Pod, func(p *v1.Pod) {
			p.Spec.TopologySpreadConstraints = selecting(hard, p, s.Objects, s.Pods)
		})
	}))
}

// selecting are default constraints with the selector that the pod has by what it belongs to; none without such.
func selecting(constraints []v1.TopologySpreadConstraint, pod *v1.Pod, objects []runtime.Object, others []*v1.Pod) []v1.TopologySpreadConstraint {
	selector, _ := selectorOf(pod, objects, others)
	if selector == nil {
		return nil
	}
	return variant.Each(constraints, func(c *v1.TopologySpreadConstraint) { c.LabelSelector = selector })
}

// selectorOf is the selector of the Services, ReplicaSets, StatefulSets and ReplicationControllers of its namespace that the pod
// belongs to; nil if there are none. No document says how several are put together: they count as one if they select the same
// of the pods that there are, as any way to do it comes to the same then. open is what documents leave open; "" if nothing.
func selectorOf(pod *v1.Pod, objects []runtime.Object, others []*v1.Pod) (its *metav1.LabelSelector, open string) {
	services, open := servicesOf(pod, objects)
	if open != "" {
		return nil, open
	}
	workload, open := workloadOf(pod, objects)
	if open != "" {
		return nil, open
	}
	all := services
	if workload != nil {
		all = append(all, workload)
	}
	if len(all) == 0 {
		return nil, ""
	}
	for _, other := range all[1:] {
		if slices.ContainsFunc(others, func(p *v1.Pod) bool { return p.Namespace == pod.Namespace && selects(other, p) != selects(all[0], p) }) {
			return nil, "a pod that belongs to several, which select different pods"
		}
	}
	return all[0], ""
}

// servicesOf are the selectors of the Services that select a pod. One without a selector selects none; that of one of the type
// ExternalName is ignored (core/v1/types.go:6283@v0.37.1, ServiceSpec.Selector), and the scheduler does not ask for the type
// (framework/plugins/helper/spread.go:96@v1.37.1, GetPodServices).
func servicesOf(pod *v1.Pod, objects []runtime.Object) (all []*metav1.LabelSelector, open string) {
	told := false
	for _, o := range objects {
		s, is := o.(*v1.Service)
		told = told || is
		if !is || s.Namespace != pod.Namespace || len(s.Spec.Selector) == 0 {
			continue
		}
		selector := &metav1.LabelSelector{MatchLabels: s.Spec.Selector}
		switch {
		case !selects(selector, pod):
		case s.Spec.Type == v1.ServiceTypeExternalName:
			return nil, "a Service of the type ExternalName that selects the pod"
		default:
			all = append(all, selector)
		}
	}
	if !told { // each cluster has the Service kubernetes
		return nil, "which Services there are"
	}
	return all, ""
}

// workload is a ReplicaSet, StatefulSet or ReplicationController.
type workload struct {
	metav1.Object
	apiVersion, kind string
	selector         *metav1.LabelSelector
}

// is tells whether a workload is the owner that a pod names.
func (w *workload) is(owner metav1.OwnerReference) bool {
	return w.apiVersion == owner.APIVersion && w.kind == owner.Kind && w.GetName() == owner.Name && (w.GetUID() == "" || owner.UID == "" || w.GetUID() == owner.UID)
}

// OwnedBy are the selectors of the ReplicaSets, StatefulSets and ReplicationControllers that own a pod, whether they select it or not.
func OwnedBy(pod *v1.Pod, objects []runtime.Object) (all []*metav1.LabelSelector) {
	for _, w := range workloadsIn(pod.Namespace, objects) {
		if slices.ContainsFunc(pod.OwnerReferences, w.is) {
			all = append(all, w.selector)
		}
	}
	return all
}

func workloadsIn(namespace string, objects []runtime.Object) (all []workload) {
	for _, o := range objects {
		var w workload
		switch o := o.(type) {
		case *appsv1.ReplicaSet:
			w = workload{o, "apps/v1", "ReplicaSet", o.Spec.Selector}
		case *appsv1.StatefulSet:
			w = workload{o, "apps/v1", "StatefulSet", o.Spec.Selector}
		case *v1.ReplicationController:
			w = workload{o, "v1", "ReplicationController", &metav1.LabelSelector{MatchLabels: o.Spec.Selector}}
		default:
			continue
		}
		if w.GetNamespace() == namespace {
			all = append(all, w)
		}
	}
	return all
}

// workloadOf is the selector of the workload that controls a pod, as its ownerReferences say (docs:
// concepts/workloads/controllers/replicaset, "How a ReplicaSet works"); nil if none does. It is left open whether a pod
// belongs to one that owns it and does not select it, and the other way round.
func workloadOf(pod *v1.Pod, objects []runtime.Object) (its *metav1.LabelSelector, open string) {
	all := workloadsIn(pod.Namespace, objects)
	for _, owner := range pod.OwnerReferences {
		if !isWorkload(owner) {
			continue
		}
		i := slices.IndexFunc(all, func(w workload) bool { return w.is(owner) })
		switch {
		case i < 0:
			return nil, "a pod of a " + owner.Kind + " that is not there"
		case owner.Controller == nil || !*owner.Controller:
			return nil, "a pod of a " + owner.Kind + " that does not control it"
		case !selects(all[i].selector, pod):
			return nil, "a pod of a " + owner.Kind + " that does not select it"
		}
		its = all[i].selector
	}
	if metav1.GetControllerOfNoCopy(pod) == nil && slices.ContainsFunc(all, func(w workload) bool { return selects(w.selector, pod) }) {
		return nil, "a pod that a workload selects, and none controls"
	}
	return its, ""
}

// isWorkload tells whether an owner is of one of the kinds, in whichever version of its group.
func isWorkload(owner metav1.OwnerReference) bool {
	group, _, grouped := strings.Cut(owner.APIVersion, "/")
	switch owner.Kind {
	case "ReplicaSet", "StatefulSet":
		return grouped && (group == appsv1.GroupName || group == "extensions")
	case "ReplicationController":
		return !grouped
	}
	return false
}

// selects tells whether a selector that is not empty matches a pod.
func selects(selector *metav1.LabelSelector, pod *v1.Pod) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && !s.Empty() && s.Matches(labels.Set(pod.Labels))
}
