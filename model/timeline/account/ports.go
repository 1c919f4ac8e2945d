package account

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ports are the host ports in use, by node, as a scheduler has them that keeps a set and does
// not count (kube-scheduler/framework/types.go:610@v0.37.1, HostPortInfo.Remove): those of a
// pod that goes are free, whoever else uses them. Only the finding host-ports-forgotten takes
// them.
type ports map[string]map[hostPort]bool

type hostPort struct {
	ip       string
	protocol v1.Protocol
	port     int32
}

func hostPortOf(p *v1.ContainerPort) hostPort {
	return hostPort{cmp.Or(p.HostIP, "0.0.0.0"), cmp.Or(p.Protocol, v1.ProtocolTCP), p.HostPort}
}

func (p ports) add(pod *v1.Pod) { p.set(pod, true) }

func (p ports) remove(pod *v1.Pod) { p.set(pod, false) }

func (p ports) set(pod *v1.Pod, used bool) {
	for _, port := range portsOf(pod) {
		node := pod.Spec.NodeName
		if p[node] == nil {
			p[node] = map[hostPort]bool{}
		}
		p[node][hostPortOf(port)] = used
	}
}

// forgotten is a pod whose ports that are free by mistake are called so.
func (p ports) forgotten(pod *v1.Pod) *v1.Pod {
	free := func(port *v1.ContainerPort) bool {
		return port.HostPort > 0 && port.Name != variant.ForgottenPort && !p[pod.Spec.NodeName][hostPortOf(port)]
	}
	if !slices.ContainsFunc(portsOf(pod), free) {
		return pod
	}
	out := pod.DeepCopy()
	for _, port := range portsOf(out) {
		if free(port) {
			port.Name = variant.ForgottenPort
		}
	}
	return out
}

// portsOf are the ports of the containers of a pod, and of its sidecars.
func portsOf(pod *v1.Pod) (ports []*v1.ContainerPort) {
	add := func(c *v1.Container) {
		for i := range c.Ports {
			ports = append(ports, &c.Ports[i])
		}
	}
	for i := range pod.Spec.InitContainers {
		if filter.IsSidecar(&pod.Spec.InitContainers[i]) {
			add(&pod.Spec.InitContainers[i])
		}
	}
	for i := range pod.Spec.Containers {
		add(&pod.Spec.Containers[i])
	}
	return ports
}

// withoutPortsOf is a pod whose ports are called so that are forgotten as another leaves its node.
func withoutPortsOf(pod, gone *v1.Pod) *v1.Pod {
	if pod.Spec.NodeName != gone.Spec.NodeName {
		return pod
	}
	used := ports{}
	used.add(pod)
	used.remove(gone)
	return used.forgotten(pod)
}

// freePorts has those of pods whose binding has failed be free where another pod comes that has one of them: it would not come otherwise.
func (a *account) freePorts(came *v1.Pod) {
	for uid, s := range a.assumed {
		if other := a.onNodes[uid]; s.failed && !s.freed && withoutPortsOf(other, came) != other {
			a.ports.remove(other)
			s.freed = true
		}
	}
}
