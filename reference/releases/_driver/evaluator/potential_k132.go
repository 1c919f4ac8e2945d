//go:build k1.32

package main

import (
	"context"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

func (r *recorder) PodEligibleToPreemptOthers(ctx context.Context, pod *v1.Pod, nominated *status) (bool, string) {
	ok, reason := r.Interface.PodEligibleToPreemptOthers(ctx, pod, nominated)
	r.eligible(ok, reason)
	return ok, reason
}

// potentialNodes sorts the nodes that preemption is tried on by name, where
// upstream ranges over a map, and records them.
type potentialNodes struct {
	statusReader
	r *recorder
}

func (p potentialNodes) NodesForStatusCode(lister nodeInfoLister, c code) ([]nodeInfo, error) {
	nodes, err := p.statusReader.NodesForStatusCode(lister, c)
	slices.SortFunc(nodes, func(a, b nodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	p.r.obs.PotentialNodes = make([]string, len(nodes))
	for i, n := range nodes {
		p.r.obs.PotentialNodes[i] = n.Node().Name
	}
	return nodes, err
}
