//go:build k1.30

package main

// extendedNode is how extenders and score plugins are shown nodes.
type extendedNode = nodeInfo

func nameOf(n extendedNode) string { return n.Node().Name }
