package filter

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// NodePorts: no host port of the pod may be in use on the node.
type NodePorts struct{}

// Name implements Plugin.
func (NodePorts) Name() string { return "NodePorts" }

// PreFilter implements Plugin.
func (NodePorts) PreFilter(s *Snapshot) (State, Answer) {
	st := &PortsState{make([][]HostPort, s.Size())}
	st.Ports[s.Preemptor.Index] = HostPorts(s.Preemptor.Pod)
	s.Placed(func(_ *Node, p *Pod) { st.Ports[p.Index] = HostPorts(p.Pod) })
	return st, Answer{}
}

// PortsState is the State of NodePorts.
type PortsState struct {
	// Ports are the host ports of each pod, by its Index.
	Ports [][]HostPort
}

// Fits implements State.
func (st *PortsState) Fits(_ *Node, v View) *Verdict {
	if len(st.Ports[0]) == 0 {
		return nil
	}
	for _, p := range v.Pods {
		if verdict := st.FitsBeside(st.Ports[p.Index]); verdict != nil {
			return verdict
		}
	}
	return nil
}

// FitsBeside judges the preemptor on a node on which some ports are in use.
func (st *PortsState) FitsBeside(used []HostPort) *Verdict {
	for _, want := range st.Ports[0] {
		if slices.ContainsFunc(used, want.conflicts) {
			return Resolvable("node(s) didn't have free ports for the requested pod ports")
		}
	}
	return nil
}

// Alike implements State.
func (st *PortsState) Alike(a, b *Pod) bool {
	return slices.Equal(st.Ports[a.Index], st.Ports[b.Index])
}

// HostPort is a port of the node that a pod takes.
type HostPort struct {
	IP       string
	Protocol v1.Protocol
	Port     int32
}

const anyIP = "0.0.0.0"

// conflicts: the same protocol and port, on the same address or where one of
// both takes every address (API reference, ContainerPort.hostIP).
func (a HostPort) conflicts(b HostPort) bool {
	return a.Protocol == b.Protocol && a.Port == b.Port && (a.IP == b.IP || a.IP == anyIP || b.IP == anyIP)
}

// HostPorts are the host ports of the containers that run as long as the pod
// does: containers and sidecars (KEP-753).
func HostPorts(p *v1.Pod) []HostPort {
	var ports []HostPort
	add := func(c *v1.Container) {
		for _, cp := range c.Ports {
			if cp.HostPort > 0 {
				ports = append(ports, HostPort{cmp.Or(cp.HostIP, anyIP), cmp.Or(cp.Protocol, v1.ProtocolTCP), cp.HostPort})
			}
		}
	}
	for i := range p.Spec.InitContainers {
		if IsSidecar(&p.Spec.InitContainers[i]) {
			add(&p.Spec.InitContainers[i])
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	return ports
}
