//go:build !k1.26

package main

import v1 "k8s.io/api/core/v1"

func hasSchedulingGates(*v1.Pod) bool { return false }
