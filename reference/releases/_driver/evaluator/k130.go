//go:build k1.30

package main

type extendedNode = nodeInfo

func nameOf(n extendedNode) string { return n.Node().Name }
