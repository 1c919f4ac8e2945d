package filter

import "slices"

// Topology is a node label by which domains are told apart.
type Topology struct {
	// Domains are the numbers of the nodes' domains, by Node.Index; -1 without the
	// label. Two nodes are in one domain if both have the label, with the same value
	// (API reference, PodAffinityTerm.topologyKey).
	Domains []int
	size    int // how many domains there are
}

func newTopology(key string, nodes []*Node) *Topology {
	t := &Topology{Domains: make([]int, len(nodes))}
	numbers := map[string]int{}
	for i, n := range nodes {
		t.Domains[i] = -1
		if value, ok := n.Labels[key]; ok {
			if _, known := numbers[value]; !known {
				numbers[value] = len(numbers)
			}
			t.Domains[i] = numbers[value]
		}
	}
	t.size = len(numbers)
	return t
}

// InAny tells whether a node has the label of one of the topologies.
func InAny(topologies []*Topology, n *Node) bool {
	return slices.ContainsFunc(topologies, func(t *Topology) bool { return t.Domains[n.Index] >= 0 })
}
