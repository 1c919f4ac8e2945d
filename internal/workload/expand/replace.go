package expand

import (
	"fmt"
	"maps"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/preemptcheck/preemptcheck/internal/workload"
)

// Replace is what a pod's controller makes once the pod is told to end, as number n of all
// replacements: the same spec, on no node. It is nil for pods without a controller, which are gone for
// good (docs: concepts/workloads/pods/pod-lifecycle, "Pod lifetime"), and for static pods, which their
// kubelet starts.
//
// A StatefulSet makes a pod of the same name (docs: concepts/workloads/controllers/statefulset,
// "Stable Network ID"), a DaemonSet one for the same node, to which the spec ties it. All other controllers,
// unknown ones included, make one of another name.
func Replace(p *v1.Pod, n int) *v1.Pod {
	owner := metav1.GetControllerOfNoCopy(p)
	if owner == nil || owner.Kind == "Node" || workload.IsMirror(p) {
		return nil
	}
	next := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: p.Namespace, Name: p.Name, Labels: maps.Clone(p.Labels), Annotations: maps.Clone(p.Annotations),
			OwnerReferences: p.OwnerReferences, Finalizers: p.Finalizers,
		},
		Spec:   *p.Spec.DeepCopy(),
		Status: v1.PodStatus{Phase: v1.PodPending, QOSClass: p.Status.QOSClass},
	}
	next.Spec.NodeName = ""
	if owner.Kind != "StatefulSet" {
		base := p.Name
		if i := strings.LastIndex(base, Again); i > 0 {
			base = base[:i]
		}
		next.Name = fmt.Sprintf("%s%s%d", base, Again, n)
	}
	next.UID = uid("Pod", next.Namespace, fmt.Sprintf("%s%s%d", next.Name, Again, n))
	return next
}

// Again is between the name of a pod and the number of its replacement.
const Again = "-again-"
