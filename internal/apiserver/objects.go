package apiserver

import (
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/core"
	corev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	"k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"

	"github.com/preemptcheck/preemptcheck/model"
)

// noImage stands for the image of a container whose manifest names none.
const noImage = "registry.invalid/none"

func (a *admitter) priorityClass(class *schedulingv1.PriorityClass) {
	var in scheduling.PriorityClass
	if object := "PriorityClass " + class.Name; a.convert(object, class, &in) {
		a.fail(object, schedulingvalidation.ValidatePriorityClass(&in)...)
	}
}

func (a *admitter) node(node *v1.Node) {
	if node.Status.Capacity == nil {
		node.Status.Capacity = maps.Clone(node.Status.Allocatable)
	}
	var in core.Node
	if object := "Node " + node.Name; a.convert(object, node, &in) {
		a.fail(object, validation.ValidateNode(&in)...)
	}
}

func (a *admitter) budget(budget *policyv1.PodDisruptionBudget) {
	setNamespace(&budget.ObjectMeta)
	var in policy.PodDisruptionBudget
	object := "PodDisruptionBudget " + model.Key(budget)
	if !a.convert(object, budget, &in) {
		return
	}
	a.fail(object, validation.ValidateObjectMeta(&in.ObjectMeta, true, budgetName, field.NewPath("metadata"))...)
	a.fail(object, policyvalidation.ValidatePodDisruptionBudget(&in, policyvalidation.PodDisruptionBudgetValidationOptions{})...)
	a.fail(object, policyvalidation.ValidatePodDisruptionBudgetStatusUpdate(in.Status, policy.PodDisruptionBudgetStatus{},
		field.NewPath("status"), policyv1.SchemeGroupVersion)...)
}

// budgetName: the name of a budget may be any segment of a path.
func budgetName(name string, _ bool) []string { return content.IsPathSegmentName(name) }

func (a *admitter) pod(pod *v1.Pod) {
	setNamespace(&pod.ObjectMeta)
	nameContainers(pod.Spec.InitContainers, "init-")
	nameContainers(pod.Spec.Containers, "container-")
	object := podName(pod)
	if err := a.classes.resolve(pod); err != nil {
		a.fail(object, err)
	}
	var in core.Pod
	if !a.convert(object, pod, &in) {
		return
	}
	if in.Spec.Resources != nil {
		// The API server defaults these after its webhooks ran, not with the
		// rest (registry/core/pod/strategy.go:101@v1.37.1, PrepareForCreate).
		podutil.DefaultPodLevelResources(&in)
		if err := corev1.Convert_core_ResourceRequirements_To_v1_ResourceRequirements(in.Spec.Resources, pod.Spec.Resources, nil); err != nil {
			a.fail(object, field.InternalError(field.NewPath("spec", "resources"), err))
		}
	}
	a.fail(object, validateStoredPod(&in)...)
}

// validateStoredPod validates metadata and spec as an update that changes
// nothing, which passes what older API servers let in, and the status as an
// update that sets all of it.
func validateStoredPod(pod *core.Pod) field.ErrorList {
	opts := podutil.GetValidationOptionsFromPodSpecAndMeta(&pod.Spec, &pod.Spec, &pod.ObjectMeta, &pod.ObjectMeta)
	opts.ResourceIsPod = true
	created := *pod
	created.Spec.EphemeralContainers = nil // never there at creation
	errs := validation.ValidatePodCreate(&created, opts)

	updated, old := *pod, *pod
	updated.ResourceVersion = "1" // an update must have one
	old.Status = core.PodStatus{QOSClass: pod.Status.QOSClass}
	if pod.Spec.NodeName != "" {
		// Only setting it anew is forbidden once the pod is bound.
		old.Status.NominatedNodeName = pod.Status.NominatedNodeName
	}
	for _, err := range validation.ValidatePodStatusUpdate(&updated, &old, opts) {
		if !slices.ContainsFunc(errs, func(e *field.Error) bool { return e.Field == err.Field }) {
			errs = append(errs, err) // metadata is validated by both
		}
	}
	status := field.NewPath("status")
	errs = append(errs, validateAllocated(pod.Status.InitContainerStatuses, status.Child("initContainerStatuses"))...)
	return append(errs, validateAllocated(pod.Status.ContainerStatuses, status.Child("containerStatuses"))...)
}

// validateAllocated refuses negative quantities in what the kubelet reports of
// a container, which upstream trusts.
func validateAllocated(statuses []core.ContainerStatus, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	check := func(list core.ResourceList, path *field.Path) {
		for _, name := range slices.Sorted(maps.Keys(list)) {
			errs = append(errs, validation.ValidateResourceQuantityValue(name, list[name], path.Key(string(name)))...)
		}
	}
	for i, s := range statuses {
		check(s.AllocatedResources, path.Index(i).Child("allocatedResources"))
		if s.Resources != nil {
			check(s.Resources.Requests, path.Index(i).Child("resources", "requests"))
		}
	}
	return errs
}

// convert applies the kind's defaults to obj and converts it to the type that
// upstream validates. It tells whether that worked.
func (a *admitter) convert(object string, obj, internal runtime.Object) bool {
	legacyscheme.Scheme.Default(obj)
	if err := legacyscheme.Scheme.Convert(obj, internal, nil); err != nil {
		a.fail(object, field.InternalError(field.NewPath("apiVersion"), err))
		return false
	}
	return true
}

func setNamespace(meta *metav1.ObjectMeta) {
	if meta.Namespace == "" {
		meta.Namespace = metav1.NamespaceDefault
	}
}

// nameContainers gives the containers that lack them a name and an image.
func nameContainers(containers []v1.Container, prefix string) {
	for i := range containers {
		if containers[i].Name == "" {
			containers[i].Name = prefix + strconv.Itoa(i)
		}
		if containers[i].Image == "" {
			containers[i].Image = noImage
		}
	}
}
