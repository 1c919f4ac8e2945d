package groups

import (
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	internalqueue "k8s.io/kubernetes/pkg/scheduler/backend/queue"

	"github.com/preemptcheck/preemptcheck/model"
)

// WithUID is a pod group or a resource claim, or a copy that has what the API server gives each: a UID, by which the scheduler tells
// them apart. Any other object stays as it is.
func WithUID(obj runtime.Object) runtime.Object {
	switch o := obj.(type) {
	case *schedulingv1beta1.PodGroup:
		if o.UID == "" {
			named := *o
			named.UID = model.UIDOfGroup(o)
			return &named
		}
	case *schedulingv1alpha3.CompositePodGroup:
		if o.UID == "" {
			named := *o
			named.UID = model.UIDOfGroup(o)
			return &named
		}
	case *resourcev1.ResourceClaim:
		if o.UID == "" {
			named := *o
			named.UID = types.UID("ResourceClaim " + model.Key(o))
			return &named
		}
	}
	return obj
}

// GatedBy is the plugin that keeps a group out of the active queue, or "unknown".
func GatedBy(queue internalqueue.SchedulingQueue, group metav1.Object) string {
	kind := fwk.PodGroupKeyType
	if _, composite := group.(*schedulingv1alpha3.CompositePodGroup); composite {
		kind = fwk.CompositePodGroupKeyType
	}
	if info, ok := queue.GetPodGroup(group.GetName(), group.GetNamespace(), kind); ok && info.GetGatingPlugin() != "" {
		return info.GetGatingPlugin()
	}
	return "unknown"
}
