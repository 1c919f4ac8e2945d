//go:build k1.34 && !k1.35

package quietnodes

import "k8s.io/kubernetes/pkg/scheduler/framework"

type (
	preFilterResult = framework.PreFilterResult
	extensions      = framework.PreFilterExtensions
	handle          = framework.Handle
	anyPlugin       = framework.Plugin
)
