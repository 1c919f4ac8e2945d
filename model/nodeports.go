package model

import v1 "k8s.io/api/core/v1"

// hostPort is a port of the node that a pod takes.
type hostPort struct {
	ip       string
	protocol v1.Protocol
	port     int32
}

const anyIP = "0.0.0.0"

// conflicts: the same protocol and port, on the same address or where one of
// both takes every address (API reference, ContainerPort.hostIP).
func (a hostPort) conflicts(b hostPort) bool {
	return a.protocol == b.protocol && a.port == b.port && (a.ip == b.ip || a.ip == anyIP || b.ip == anyIP)
}

// hostPorts are the host ports of the containers that run as long as the pod
// does: containers and, if they count, sidecars (KEP-753).
func hostPorts(p *v1.Pod, sidecars bool) []hostPort {
	var ports []hostPort
	add := func(c *v1.Container) {
		for _, cp := range c.Ports {
			if cp.HostPort <= 0 {
				continue
			}
			port := hostPort{cp.HostIP, cp.Protocol, cp.HostPort}
			if port.ip == "" {
				port.ip = anyIP
			}
			if port.protocol == "" {
				port.protocol = v1.ProtocolTCP
			}
			ports = append(ports, port)
		}
	}
	for i := range p.Spec.InitContainers {
		if sidecars && isSidecar(&p.Spec.InitContainers[i]) {
			add(&p.Spec.InitContainers[i])
		}
	}
	for i := range p.Spec.Containers {
		add(&p.Spec.Containers[i])
	}
	return ports
}

// nodePortsFails: no host port of the pod may be in use on the node.
func nodePortsFails(q *question, _ *node, v view) *Verdict {
	for _, want := range q.preemptor.ports {
		for _, used := range v.ports {
			if want.conflicts(used) {
				return resolvable("node(s) didn't have free ports for the requested pod ports")
			}
		}
		if v.ports != nil {
			continue
		}
		for _, p := range v.pods {
			for _, used := range p.ports {
				if want.conflicts(used) {
					return resolvable("node(s) didn't have free ports for the requested pod ports")
				}
			}
		}
	}
	return nil
}
