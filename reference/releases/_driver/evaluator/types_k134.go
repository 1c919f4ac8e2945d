//go:build k1.34 && !k1.35

package main

import (
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	nodeInfo         = fwk.NodeInfo
	cycleState       = fwk.CycleState
	extender         = framework.Extender
	frameworkHandle  = framework.Handle
	status           = fwk.Status
	postFilterResult = framework.PostFilterResult
	statusReader     = framework.NodeToStatusReader
	nodeInfoLister   = framework.NodeInfoLister
	code             = fwk.Code
)

const (
	success      = fwk.Success
	unresolvable = fwk.UnschedulableAndUnresolvable
	modeNoop     = framework.ModeNoop
)

func asStatus(err error) *status { return fwk.AsStatus(err) }
