package releasediff

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

var one = resource.NewQuantity(1, resource.DecimalSI)

func pod(name string, priority int32) *v1.Pod {
	p := &v1.Pod{}
	p.Name, p.Namespace, p.Spec.Priority, p.Spec.SchedulerName = name, "default", &priority, v1.DefaultSchedulerName
	p.Spec.Containers = []v1.Container{{Name: "c"}}
	return p
}
