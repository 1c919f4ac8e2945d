//go:build k1.35

package main

import fwk "k8s.io/kube-scheduler/framework"

type (
	nodeInfo         = fwk.NodeInfo
	cycleState       = fwk.CycleState
	extender         = fwk.Extender
	frameworkHandle  = fwk.Handle
	status           = fwk.Status
	postFilterResult = fwk.PostFilterResult
	statusReader     = fwk.NodeToStatusReader
	nodeInfoLister   = fwk.NodeInfoLister
	nodePluginScores = fwk.NodePluginScores
	code             = fwk.Code
)

const (
	success      = fwk.Success
	unresolvable = fwk.UnschedulableAndUnresolvable
	modeNoop     = fwk.ModeNoop
)

func asStatus(err error) *status { return fwk.AsStatus(err) }
