//go:build k1.35

package main

import fwk "k8s.io/kube-scheduler/framework"

type (
	extender         = fwk.Extender
	frameworkHandle  = fwk.Handle
	postFilterResult = fwk.PostFilterResult
	nodeInfoLister   = fwk.NodeInfoLister
	nodePluginScores = fwk.NodePluginScores
)

const modeNoop = fwk.ModeNoop

const deletesTerminating = false
