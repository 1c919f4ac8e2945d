package generators

import (
	"time"

	v1 "k8s.io/api/core/v1"
	apiresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func renderNode(i int, n *node) *v1.Node {
	labels := map[string]string{v1.LabelHostname: NodeName(i)}
	for key, value := range map[string]string{"zone": zones[n.zone], "disk": disks[n.disk], "generation": generations[n.generation]} {
		if value != "" {
			labels[key] = value
		}
	}
	n.csi.LabelZone(labels, zones[n.zone])
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: NodeName(i), Labels: labels}}
	node.Spec.Unschedulable = n.cordoned
	for _, t := range n.taints {
		node.Spec.Taints = append(node.Spec.Taints, taints[t])
	}
	if n.level > 0 {
		node.Spec.Taints = append(node.Spec.Taints, levels[n.level-1])
	}
	node.Status.DeclaredFeatures = declaredFeatures[n.declares]
	node.Status.Allocatable = amounts(n.room, 2, 2)
	node.Status.Allocatable[v1.ResourcePods] = *apiresource.NewQuantity(int64(n.maxPods), apiresource.DecimalSI)
	node.Status.Capacity = node.Status.Allocatable.DeepCopy()
	return node
}

// Node makes a plain node with room for so many units of CPU.
func Node(i, units int) *v1.Node {
	return renderNode(i, &node{room: sizes{cpu: units}, maxPods: mostPods})
}

// Pod makes a plain pod, unbound, that requests units of CPU and has been running
// since so many hours after the epoch, or is pending if start is negative.
func Pod(name string, units int, priority int32, start int) *v1.Pod {
	return new(generator).render(name, &pod{size: sizes{cpu: units}, priority: priority, start: start})
}

// amounts returns part/2 of the sizes, devices only for the main part.
func amounts(s sizes, part, devices int) v1.ResourceList {
	list := make(v1.ResourceList, 4)
	for r, size := range s {
		half := size * part
		if resource(r) == gpu {
			half = size * devices
		}
		if half > 0 {
			list[resourceNames[r]] = quantity(resource(r), half)
		}
	}
	return list
}

// render makes the planned pod, unbound.
func (g *generator) render(name string, plan *pod) *v1.Pod {
	p := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: metav1.NamespaceDefault}}
	if plan.otherSpace {
		p.Namespace = otherNamespace
	}
	p.UID = types.UID(p.Namespace + "/" + name)
	if labels := podLabels[plan.labels]; labels[0] != "" {
		p.Labels = map[string]string{"app": labels[0]}
		if labels[1] != "" {
			p.Labels["tier"] = labels[1]
		}
	}
	if !plan.noPriority {
		p.Spec.Priority = new(plan.priority)
		p.Spec.PreemptionPolicy = new(v1.PreemptLowerPriority)
	}
	setDefaults(&p.Spec)
	renderContainers(&p.Spec, plan)
	renderStatus(p, plan)
	if len(plan.volumes) > 0 {
		g.mounts.Mount(p, plan.volumes)
	}
	if plan.shuns {
		g.shun(p)
	}
	return p
}

// setDefaults sets what the API server sets in every pod.
func setDefaults(spec *v1.PodSpec) {
	spec.RestartPolicy = v1.RestartPolicyAlways
	spec.DNSPolicy = v1.DNSClusterFirst
	spec.SchedulerName = v1.DefaultSchedulerName
	spec.TerminationGracePeriodSeconds = new(int64(30))
	spec.EnableServiceLinks = new(true)
	spec.SecurityContext = &v1.PodSecurityContext{}
}

// renderContainers makes containers such that the pod as a whole requests
// plan.size.
func renderContainers(spec *v1.PodSpec, plan *pod) {
	add := func(list *[]v1.Container, name string, requests v1.ResourceList) *v1.Container {
		*list = append(*list, v1.Container{
			Name: name, Image: "registry.invalid/none", ImagePullPolicy: v1.PullAlways,
			TerminationMessagePath:   v1.TerminationMessagePathDefault,
			TerminationMessagePolicy: v1.TerminationMessageReadFile,
		})
		c := &(*list)[len(*list)-1]
		if len(requests) > 0 {
			c.Resources.Requests = requests
		}
		// Devices cannot be overcommitted: the API wants limits too.
		if devices, ok := requests[resourceNames[gpu]]; ok {
			c.Resources.Limits = v1.ResourceList{resourceNames[gpu]: devices}
		}
		return c
	}
	half := func(devices int) v1.ResourceList { return amounts(plan.size, 1, devices) }
	withPorts := 0 // the container, after the init containers, that has the ports

	switch plan.form {
	case oneContainer:
		add(&spec.Containers, "main", amounts(plan.size, 2, 2))
	case twoContainers:
		add(&spec.Containers, "main", half(2))
		add(&spec.Containers, "helper", half(0))
		withPorts = 1
	case initContainer:
		add(&spec.InitContainers, "init", amounts(plan.size, 2, 0))
		add(&spec.Containers, "main", half(2))
	case sidecar:
		add(&spec.InitContainers, "sidecar", half(0)).RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		add(&spec.Containers, "main", half(2))
	case sidecarThenInit:
		add(&spec.InitContainers, "sidecar", half(0)).RestartPolicy = new(v1.ContainerRestartPolicyAlways)
		add(&spec.InitContainers, "init", half(2))
		add(&spec.Containers, "main", nil)
	case overhead:
		add(&spec.Containers, "main", half(2))
		spec.Overhead = half(0)
	case podLevel:
		// Pods as a whole request cpu and memory only.
		whole := v1.ResourceList{}
		rest := plan.size
		for _, r := range []resource{cpu, memory} {
			if size := plan.size[r]; size > 0 {
				whole[resourceNames[r]] = quantity(r, 2*size)
				rest[r] = 0
			}
		}
		if len(whole) > 0 {
			spec.Resources = &v1.ResourceRequirements{Requests: whole}
		}
		add(&spec.Containers, "main", amounts(rest, 2, 2))
		if plan.size[cpu] > 1 {
			add(&spec.Containers, "helper", v1.ResourceList{v1.ResourceCPU: quantity(cpu, 1)})
		}
	case limits:
		c := add(&spec.Containers, "main", amounts(plan.size, 2, 2))
		if len(c.Resources.Requests) > 0 {
			c.Resources.Limits = amounts(plan.size, 2, 2)
		}
	}
	for _, port := range plan.hostPorts {
		c := &spec.Containers[withPorts]
		switch { // the ports of sidecars count, those of other init containers do not
		case plan.form == sidecar && port > 0, plan.form == sidecarThenInit && port%3 == 1, plan.form == initContainer && port%2 == 1:
			c = &spec.InitContainers[0]
		case plan.form == sidecarThenInit && port%3 == 2:
			c = &spec.InitContainers[1]
		}
		c.Ports = append(c.Ports, ports[port])
	}
}

func renderStatus(p *v1.Pod, plan *pod) {
	p.Status.Phase = v1.PodPending
	if plan.start >= 0 {
		p.Status.Phase = v1.PodRunning
		p.Status.StartTime = new(metav1.NewTime(epoch.Add(time.Duration(plan.start) * time.Hour)))
	}
	if plan.end == terminating || plan.end == preempted {
		Terminate(p)
	}
	if plan.end == preempted || plan.end == marked {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue}, v1.PodCondition{
			Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler})
	}
	if plan.unready && plan.start >= 0 {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodReady, Status: v1.ConditionFalse})
	}
	if plan.resize != notResized {
		renderResize(p, plan)
	}
}

// Terminate makes the pod one that is being deleted.
func Terminate(p *v1.Pod) {
	p.DeletionTimestamp, p.DeletionGracePeriodSeconds = new(metav1.NewTime(epoch.AddDate(1, 0, 0))), new(int64(30))
}

// renderResize makes the status of a pod that is resized in place: what is
// allocated to its first container, and what is in effect there; of a sidecar or
// an init container before it; and of the pod as a whole.
func renderResize(p *v1.Pod, plan *pod) {
	allocated, inEffect := plan.size, plan.size
	for r := range allocated {
		switch {
		case allocated[r] == 0 || resource(r) != cpu && resource(r) != memory:
		case plan.resize == actuating:
			inEffect[r]++
		case plan.resize == shrinking:
			allocated[r]++
			inEffect[r]++
		default:
			allocated[r]--
			inEffect[r]--
		}
	}
	status := func(name string, part int) v1.ContainerStatus {
		return v1.ContainerStatus{Name: name, AllocatedResources: amounts(allocated, part, part),
			Resources: &v1.ResourceRequirements{Requests: amounts(inEffect, part, part)}}
	}
	switch plan.form {
	case podLevel:
		whole := func(s sizes) v1.ResourceList { s[storage], s[gpu] = 0, 0; return amounts(s, 2, 2) }
		p.Status.AllocatedResources, p.Status.Resources = whole(allocated), &v1.ResourceRequirements{Requests: whole(inEffect)}
	case sidecar, initContainer:
		p.Status.InitContainerStatuses = []v1.ContainerStatus{status(p.Spec.InitContainers[0].Name, 1)}
	default:
		p.Status.ContainerStatuses = []v1.ContainerStatus{status(p.Spec.Containers[0].Name, 2)}
	}
	if reason := map[resize]string{infeasible: v1.PodReasonInfeasible, deferred: v1.PodReasonDeferred}[plan.resize]; reason != "" {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.PodResizePending, Status: v1.ConditionTrue, Reason: reason})
	}
}
