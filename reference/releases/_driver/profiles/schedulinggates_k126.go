//go:build k1.26

package main

import v1 "k8s.io/api/core/v1"

func hasSchedulingGates(p *v1.Pod) bool { return len(p.Spec.SchedulingGates) > 0 }
