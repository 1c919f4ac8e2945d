// Package live reads a running cluster: all objects that decisions depend on, and nothing more.
// It only lists.
package live

import (
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// Kind is a kind of objects that decisions depend on.
type Kind struct {
	schema.GroupVersion
	// Resource is its name in addresses, and to kubectl.
	Resource string
	// Without is what cannot be said of a cluster that does not tell them: the end of a sentence
	// that begins "without them it cannot be said".
	Without string
	// Required kinds are those without which nothing can be said.
	Required bool
}

// Path is where the API server lists all of them.
func (k Kind) Path() string {
	if k.Group == "" {
		return "/api/" + k.Version + "/" + k.Resource
	}
	return "/apis/" + k.Group + "/" + k.Version + "/" + k.Resource
}

// Kinds are all that are read, in the order in which they are: no list is of the same instant as
// the next. The nodes come right after the pods, so that a pod is on a node that is not there only
// if the node was deleted meanwhile.
func Kinds() []Kind {
	return []Kind{
		{schedulingv1.SchemeGroupVersion, "priorityclasses", "which classes could preempt; the priorities that pods have are known", false},
		{policyv1.SchemeGroupVersion, "poddisruptionbudgets", "which budgets a preemption violates, and so which node and which pods it takes", false},
		{corev1.SchemeGroupVersion, "namespaces", "which pods a namespace selector of an affinity term means", false},
		{corev1.SchemeGroupVersion, "persistentvolumeclaims", "where pods with volumes fit", false},
		{corev1.SchemeGroupVersion, "persistentvolumes", "where pods with bound volumes fit", false},
		{storagev1.SchemeGroupVersion, "storageclasses", "where pods with unbound volumes fit", false},
		{storagev1.SchemeGroupVersion, "csinodes", "how many volumes a node takes", false},
		{storagev1.SchemeGroupVersion, "csidrivers", "whether storage has room for an unbound volume", false},
		{storagev1.SchemeGroupVersion, "csistoragecapacities", "whether storage has room for an unbound volume", false},
		{storagev1.SchemeGroupVersion, "volumeattachments", "which volumes a node still has attached", false},
		{resourcev1.SchemeGroupVersion, "deviceclasses", "where pods with devices fit", false},
		{resourcev1.SchemeGroupVersion, "resourceclaims", "which devices are taken, and where pods with devices fit", false},
		{resourcev1.SchemeGroupVersion, "resourceslices", "which devices nodes have", false},
		{schedulingv1beta1.SchemeGroupVersion, "podgroups", "which pods are scheduled and preempted together", false},
		{schedulingv1alpha3.SchemeGroupVersion, "compositepodgroups", "which pod groups are scheduled together", false},
		{corev1.SchemeGroupVersion, "pods", "anything", true},
		{corev1.SchemeGroupVersion, "nodes", "anything", true},
	}
}
