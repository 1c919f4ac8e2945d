package filter_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/internal/mk"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// A hostIP is an address, however it is spelt.
func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "10.0.0.1": "10.0.0.1", "::ffff:10.0.0.1": "10.0.0.1", "0:0:0:0:0:0:0:1": "::1", "FE80::1": "fe80::1", "localhost": "localhost", "10.0.0.01": "10.0.0.01",
	} {
		require.Equal(t, want, filter.Address(text), text)
	}
}

// Two pods want one port if address, protocol and number are the same; a container's port is none of the node.
func TestSharedHostPorts(t *testing.T) {
	pod := func(ports ...v1.ContainerPort) *v1.Pod {
		return mk.Pod("p", 9, func(p *v1.Pod) { p.Spec.Containers = []v1.Container{{}, {Ports: ports}} })
	}
	port := func(ip string, protocol v1.Protocol, n int32) v1.ContainerPort {
		return v1.ContainerPort{HostIP: ip, Protocol: protocol, HostPort: n, ContainerPort: 8080}
	}
	for _, tt := range []struct {
		name string
		a, b v1.ContainerPort
		want bool
	}{
		{"no port of the node", port("", "", 0), port("", "", 0), false},
		{"the first port", port("", "", 1), port("", "", 1), true},
		{"another port", port("", "", 80), port("", "", 81), false},
		{"TCP by default", port("", "", 80), port("", v1.ProtocolTCP, 80), true},
		{"UDP", port("", "", 80), port("", v1.ProtocolUDP, 80), false},
		{"any address, and one", port("0.0.0.0", "", 80), port("10.0.0.1", "", 80), true},
		{"one address", port("10.0.0.1", "", 80), port("::ffff:10.0.0.1", "", 80), true},
		{"two addresses", port("10.0.0.1", "", 80), port("10.0.0.2", "", 80), false},
	} {
		other := port("10.0.0.9", v1.ProtocolSCTP, 9)
		require.Equal(t, tt.want, filter.ShareHostPort(pod(tt.a), pod(tt.b)), tt.name)
		require.Equal(t, tt.want, filter.ShareHostPort(pod(tt.b), pod(other, tt.a)), tt.name)
		verdict := ""
		if tt.want {
			verdict = "NodePorts"
		}
		bound := pod(tt.b)
		bound.Name, bound.Spec.NodeName = "x", "n"
		require.Equal(t, verdict, verdictOnN(pod(tt.a), mk.Node("n", "9"), bound), tt.name)
	}
}

// Sidecars take their ports as long as the pod is there; other init containers are gone before (KEP-753).
func TestPortsOfInitContainers(t *testing.T) {
	pod := func(init ...v1.Container) *v1.Pod {
		return mk.Pod("p", 9, func(p *v1.Pod) {
			for i := range init {
				init[i].Ports = []v1.ContainerPort{{HostPort: 80}}
			}
			p.Spec.InitContainers = init
		})
	}
	require.True(t, filter.ShareHostPort(pod(mk.Sidecar()), pod(mk.Container(), mk.Sidecar())))
	require.False(t, filter.ShareHostPort(pod(mk.Sidecar()), pod(mk.Container())))
	require.False(t, filter.ShareHostPort(pod(mk.Container()), pod(mk.Container())))
}
