package apiserver

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
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
	"k8s.io/kubernetes/pkg/apis/resource"
	resourcevalidation "k8s.io/kubernetes/pkg/apis/resource/validation"
	schedulingvalidation "k8s.io/kubernetes/pkg/apis/scheduling/validation"
	"k8s.io/kubernetes/pkg/apis/storage"
	storagevalidation "k8s.io/kubernetes/pkg/apis/storage/validation"
)

// noImage stands for the image of a container whose manifest names none.
const noImage = "registry.invalid/none"

// admit admits an object: it fills in the defaults of its kind, and validates it if
// it is of a kind that pods, budgets, storage or devices are made of.
func (a *admitter) admit(object runtime.Object) {
	switch o := object.(type) {
	case *schedulingv1.PriorityClass:
		check(a, o, schedulingvalidation.ValidatePriorityClass)
	case *v1.Node:
		if o.Status.Capacity == nil {
			o.Status.Capacity = maps.Clone(o.Status.Allocatable)
		}
		check(a, o, validation.ValidateNode)
	case *policyv1.PodDisruptionBudget:
		setNamespace(o)
		check(a, o, validateBudget)
	case *v1.Pod:
		setNamespace(o)
		nameContainers(o.Spec.InitContainers, "init-")
		nameContainers(o.Spec.Containers, "container-")
		if err := a.classes.resolve(o); err != nil {
			a.fail(NameOf(o), err)
		}
		legacyscheme.Scheme.Default(o)
		key, canTell := a.alike.key(o)
		if canTell && a.alike.valid.has(key) {
			return
		}
		before := len(a.errs)
		check(a, o, func(in *core.Pod) field.ErrorList { return append(defaultResources(in, o), validateStoredPod(in)...) })
		if canTell && len(a.errs) == before {
			a.alike.valid.add(key)
		}
	case *v1.PersistentVolumeClaim:
		setNamespace(o)
		check(a, o, validateClaim)
	case *v1.PersistentVolume:
		check(a, o, func(in *core.PersistentVolume) field.ErrorList {
			return validation.ValidatePersistentVolume(in, validation.ValidationOptionsForPersistentVolume(in, in))
		})
	case *storagev1.StorageClass:
		check(a, o, storagevalidation.ValidateStorageClass)
	case *storagev1.CSINode:
		check(a, o, storagevalidation.ValidateCSINode)
	case *storagev1.CSIDriver:
		check(a, o, storagevalidation.ValidateCSIDriver)
	case *storagev1.CSIStorageCapacity:
		setNamespace(o)
		check(a, o, func(in *storage.CSIStorageCapacity) field.ErrorList {
			return storagevalidation.ValidateCSIStorageCapacity(in, storagevalidation.CSIStorageCapacityValidateOptions{})
		})
	case *storagev1.VolumeAttachment:
		check(a, o, storagevalidation.ValidateVolumeAttachment)
	case *resourcev1.ResourceClaim:
		setNamespace(o)
		check(a, o, validateResourceClaim)
	case *resourcev1.ResourceSlice:
		for i := range o.Spec.Devices {
			for j := range o.Spec.Devices[i].Taints {
				setTimeAdded(&o.Spec.Devices[i].Taints[j])
			}
		}
		check(a, o, resourcevalidation.ValidateResourceSlice)
	case *resourcev1.DeviceTaintRule:
		setTimeAdded(&o.Spec.Taint)
		legacyscheme.Scheme.Default(o)
	case *resourcev1.DeviceClass:
		check(a, o, resourcevalidation.ValidateDeviceClass)
	case *schedulingv1beta1.PodGroup:
		a.podGroup(o)
	case *schedulingv1alpha3.CompositePodGroup:
		a.compositePodGroup(o)
	case *schedulingv1alpha3.PodGroup:
		a.fail(NameOf(o), field.NotSupported(field.NewPath("apiVersion"), schedulingv1alpha3.SchemeGroupVersion.String(), []string{schedulingv1beta1.SchemeGroupVersion.String()}))
	default:
		legacyscheme.Scheme.Default(object)
	}
}

// check fills in the defaults of an object, and validates it as the type that
// upstream validates.
func check[T any, Internal interface {
	*T
	runtime.Object
}](a *admitter, object runtime.Object, validate func(Internal) field.ErrorList) {
	legacyscheme.Scheme.Default(object)
	in := Internal(new(T))
	if err := legacyscheme.Scheme.Convert(object, in, nil); err != nil {
		a.fail(NameOf(object), field.InternalError(field.NewPath("apiVersion"), err))
		return
	}
	a.fail(NameOf(object), validate(in)...)
}

// setTimeAdded says when a taint was added that says nothing of it. The API server
// takes the time of the request; here, a cluster is the same whenever it is read.
func setTimeAdded(taint *resourcev1.DeviceTaint) {
	if taint.TimeAdded == nil {
		taint.TimeAdded = new(metav1.NewTime(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
}

func validateBudget(in *policy.PodDisruptionBudget) field.ErrorList {
	// The name of a budget may be any segment of a path.
	budgetName := func(name string, _ bool) []string { return content.IsPathSegmentName(name) }
	return slices.Concat(
		validation.ValidateObjectMeta(&in.ObjectMeta, true, budgetName, field.NewPath("metadata")),
		policyvalidation.ValidatePodDisruptionBudget(in, policyvalidation.PodDisruptionBudgetValidationOptions{}),
		policyvalidation.ValidatePodDisruptionBudgetStatusUpdate(in.Status, policy.PodDisruptionBudgetStatus{},
			field.NewPath("status"), policyv1.SchemeGroupVersion))
}

// validateClaim validates metadata and spec of a claim, and the status as an update
// that changes nothing else.
func validateClaim(in *core.PersistentVolumeClaim) field.ErrorList {
	opts := validation.ValidationOptionsForPersistentVolumeClaim(in, in)
	errs := validation.ValidatePersistentVolumeClaim(in, opts)
	updated := *in
	updated.ResourceVersion = "1" // an update must have one
	for _, err := range validation.ValidatePersistentVolumeClaimStatusUpdate(&updated, &updated, opts) {
		if strings.HasPrefix(err.Field, "status") { // metadata is validated by both
			errs = append(errs, err)
		}
	}
	return errs
}

// validateResourceClaim validates a claim of devices, and its status as an update
// that sets all of it, before the claim was deleted.
func validateResourceClaim(in *resource.ResourceClaim) field.ErrorList {
	errs := resourcevalidation.ValidateResourceClaim(in)
	updated := *in
	updated.ResourceVersion, updated.DeletionTimestamp = "1", nil
	old := updated
	old.Status = resource.ResourceClaimStatus{}
	return append(errs, resourcevalidation.ValidateResourceClaimStatusUpdate(&updated, &old)...)
}

// defaultResources does what the API server does to the resources of a pod after its
// webhooks ran, not with the other defaults (registry/core/pod/strategy.go:101@v1.37.1,
// PrepareForCreate).
func defaultResources(in *core.Pod, pod *v1.Pod) field.ErrorList {
	if in.Spec.Resources == nil {
		return nil
	}
	podutil.DefaultPodLevelResources(in)
	if err := corev1.Convert_core_ResourceRequirements_To_v1_ResourceRequirements(in.Spec.Resources, pod.Spec.Resources, nil); err != nil {
		return field.ErrorList{field.InternalError(field.NewPath("spec", "resources"), err)}
	}
	return nil
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

func setNamespace(object metav1.Object) {
	if object.GetNamespace() == "" {
		object.SetNamespace(metav1.NamespaceDefault)
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
