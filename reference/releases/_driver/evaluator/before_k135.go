//go:build !k1.35

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

type (
	extender         = framework.Extender
	frameworkHandle  = framework.Handle
	postFilterResult = framework.PostFilterResult
	nodeInfoLister   = framework.NodeInfoLister
)

const modeNoop = framework.ModeNoop

// deletesTerminating says that victims which are terminating are deleted again.
const deletesTerminating = true
