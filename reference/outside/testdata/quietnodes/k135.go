//go:build k1.35

package quietnodes

import fwk "k8s.io/kube-scheduler/framework"

type (
	preFilterResult = fwk.PreFilterResult
	extensions      = fwk.PreFilterExtensions
	handle          = fwk.Handle
	anyPlugin       = fwk.Plugin
)
