package filter

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Controls tells whether an object was made for the pod: whether the pod is its
// controller.
func Controls(p *v1.Pod, o metav1.Object) bool {
	owner := metav1.GetControllerOfNoCopy(o)
	return owner != nil && owner.UID == PodUID(p)
}

// PodUID is the pod's UID; a pod without one goes by its Key.
func PodUID(p *v1.Pod) types.UID {
	if p.UID == "" {
		return types.UID(Key(p))
	}
	return p.UID
}
