package quietnodes

import (
	"context"

	v1 "k8s.io/api/core/v1"
)

type kept struct{ *counts }

// Clone implements the state's interface.
func (k kept) Clone() stateData { return kept{k.copied()} }

// count is what PreFilter does, whatever it is given.
func (p plugin) count(state cycleState, pod *v1.Pod, nodes []nodeInfo) *status {
	c := &counts{most: most(pod), loud: map[string]int{}}
	for _, node := range nodes {
		for _, other := range podsOf(node) {
			if isLoud(podOf(other)) {
				c.loud[node.Node().Name]++
			}
		}
	}
	state.Write(stateKey, kept{c})
	return nil
}

func read(state cycleState) (*counts, *status) {
	data, err := state.Read(stateKey)
	if err != nil {
		return nil, asStatus(err)
	}
	k, is := data.(kept)
	if !is {
		return nil, asStatus(errNoState)
	}
	return k.counts, nil
}

func (p plugin) PreFilterExtensions() extensions { return p }

func (plugin) AddPod(_ context.Context, state cycleState, _ *v1.Pod, added podInfo, node nodeInfo) *status {
	return move(state, added, node, 1)
}

func (plugin) RemovePod(_ context.Context, state cycleState, _ *v1.Pod, removed podInfo, node nodeInfo) *status {
	return move(state, removed, node, -1)
}

func move(state cycleState, p podInfo, node nodeInfo, by int) *status {
	c, st := read(state)
	if st == nil && isLoud(podOf(p)) {
		c.loud[node.Node().Name] += by
	}
	return st
}

func (plugin) Filter(_ context.Context, state cycleState, _ *v1.Pod, node nodeInfo) *status {
	c, st := read(state)
	if st == nil && c.loud[node.Node().Name] > c.most {
		return newStatus(unschedulable, "it is too loud")
	}
	return st
}
