package filter

import (
	"cmp"
	"net/netip"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// NodePorts: no host port of the pod may be in use on the node.
type NodePorts struct{}

// Name implements Plugin.
func (NodePorts) Name() string { return "NodePorts" }

// PreFilter implements Plugin.
func (NodePorts) PreFilter(s *Snapshot) (State, Answer) {
	st := &PortsState{}
	st.Read(s, Address)
	return st, Answer{}
}

// PortsState is the State of NodePorts.
type PortsState struct {
	// Ports are the host ports of each pod, by its Index.
	Ports [][]HostPort

	address func(text string) string
}

// Read reads the host ports of all pods; address makes texts that name one address the
// same.
func (st *PortsState) Read(s *Snapshot, address func(text string) string) {
	st.Ports, st.address = make([][]HostPort, s.Size()), address
	st.Ports[s.Preemptor.Index] = st.Of(s.Preemptor.Pod)
	s.Placed(func(_ *Node, p *Pod) { st.Ports[p.Index] = st.Of(p.Pod) })
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

// Address is the address that a hostIP names, in one spelling for each: it is an IP, and
// each combination of hostIP, hostPort and protocol must be unique (docs:
// concepts/configuration/overview, "Services"). Of IPv4-mapped ones it is the one of
// IPv4 (RFC 4291, 2.5.5.2). What names none stands for itself: validation admits any
// text.
func Address(text string) string {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return text
	}
	return ip.Unmap().String()
}

// Of are the host ports of the containers that run as long as the pod
// does: containers and sidecars (KEP-753).
func (st *PortsState) Of(p *v1.Pod) []HostPort {
	var ports []HostPort
	add := func(c *v1.Container) {
		for _, cp := range c.Ports {
			if cp.HostPort > 0 {
				ports = append(ports, HostPort{cmp.Or(st.address(cp.HostIP), anyIP), cmp.Or(cp.Protocol, v1.ProtocolTCP), cp.HostPort})
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

// ShareHostPort tells whether two pods take a host port that only one of them can have on a node.
func ShareHostPort(a, b *v1.Pod) bool {
	st := &PortsState{address: Address}
	used := st.Of(b)
	return slices.ContainsFunc(st.Of(a), func(want HostPort) bool { return slices.ContainsFunc(used, want.conflicts) })
}
