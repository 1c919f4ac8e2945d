package configuration

import (
	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// Defaults are the default constraints of a pod that has none of its own, with their selector.
func Defaults(c *model.Cluster, pod *v1.Pod) []v1.TopologySpreadConstraint {
	return selecting(Spread(c.Settings, pod), pod, c.Extra, c.Pods)
}
