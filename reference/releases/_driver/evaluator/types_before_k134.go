//go:build !k1.34

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

// The types of plugins, which moved over the releases.
type (
	nodeInfo         = *framework.NodeInfo
	cycleState       = *framework.CycleState
	extender         = framework.Extender
	frameworkHandle  = framework.Handle
	status           = framework.Status
	postFilterResult = framework.PostFilterResult
)

const (
	success      = framework.Success
	unresolvable = framework.UnschedulableAndUnresolvable
	modeNoop     = framework.ModeNoop
)

func asStatus(err error) *status { return framework.AsStatus(err) }
