//go:build k1.27 && !k1.35

package main

import "k8s.io/kubernetes/pkg/scheduler/framework"

type nodePluginScores = framework.NodePluginScores
