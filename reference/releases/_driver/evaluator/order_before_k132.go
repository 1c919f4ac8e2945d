//go:build !k1.32

package main

import (
	"slices"
	"strings"

	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// SnapshotSharedLister sorts the nodes by name, in which order the dry runs are
// made: upstream's is that in which they came, zone by zone.
func (h handle) SnapshotSharedLister() framework.SharedLister {
	return sortedSnapshot{h.frameworkHandle.SnapshotSharedLister()}
}

type sortedSnapshot struct{ framework.SharedLister }

func (s sortedSnapshot) NodeInfos() nodeInfoLister { return sortedNodes{s.SharedLister.NodeInfos()} }

type sortedNodes struct{ nodeInfoLister }

func (n sortedNodes) List() ([]nodeInfo, error) {
	nodes, err := n.nodeInfoLister.List()
	nodes = slices.Clone(nodes)
	slices.SortFunc(nodes, func(a, b nodeInfo) int { return strings.Compare(a.Node().Name, b.Node().Name) })
	return nodes, err
}
