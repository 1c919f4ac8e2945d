//go:build k1.32 && !k1.34

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

type (
	statusReader   = framework.NodeToStatusReader
	nodeInfoLister = framework.NodeInfoLister
	code           = framework.Code
)
