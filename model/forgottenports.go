package model

import "slices"

// The quirk HostPortsForgotten needs to know not just which pods are on a node,
// but in which order they came and went: upstream keeps the ports in use as a
// set, without counting how many pods use each, so removing one pod frees the
// port of all (kube-scheduler/framework/types.go:610@v0.37.1,
// HostPortInfo.Remove). Without the quirk a view is just the pods present.

// without is the view of n after possible were removed from it.
func (q *question) without(n *node, staying, possible []*pod) view {
	v := view{pods: staying}
	if q.rules.hostPortsForgotten {
		v.ports = portsAfter(n.pods, possible)
	}
	return v
}

// view is what the node holds while the victims are reprieved one by one: of
// possible, those of tried were given back in turn, and gone taken away again
// directly after.
func (q *question) view(d *dryRun, present, possible []*pod, tried []int, gone []*pod) view {
	v := view{pods: present, givenBack: true}
	if q.rules.hostPortsForgotten {
		v.ports = portsAfter(d.node.pods, possible)
		for at, i := range tried {
			v.ports = append(v.ports, possible[i].ports...)
			if at < len(tried)-1 && slices.Contains(gone, possible[i]) {
				v.ports = removePorts(v.ports, possible[i])
			}
		}
	}
	return v
}

func portsAfter(pods, removed []*pod) []hostPort {
	ports := []hostPort{}
	for _, p := range pods {
		ports = append(ports, p.ports...)
	}
	for _, p := range removed {
		ports = removePorts(ports, p)
	}
	return ports
}

func removePorts(ports []hostPort, p *pod) []hostPort {
	return slices.DeleteFunc(ports, func(port hostPort) bool { return slices.Contains(p.ports, port) })
}
