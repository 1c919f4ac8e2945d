//go:build !k1.30

package main

import v1 "k8s.io/api/core/v1"

// extendedNode is how extenders and score plugins are shown nodes.
type extendedNode = *v1.Node

func nameOf(n extendedNode) string { return n.Name }
