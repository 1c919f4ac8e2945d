//go:build !k1.27

package main

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

func newPodInfo(p *v1.Pod) *framework.PodInfo { return framework.NewPodInfo(p) }
