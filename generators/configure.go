package generators

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
)

// Configure has the scheduler of a generated cluster configured by a KubeSchedulerConfiguration, as JSON:
// see model.Settings.Under. The pods of its profiles become those of the first and of the last that is
// configured. later are pods that are not in the cluster yet.
func Configure(c *model.Cluster, configuration json.RawMessage, later ...*v1.Pod) {
	if len(configuration) == 0 {
		return
	}
	before := c.Settings
	c.Settings = before.Under(configuration)
	names := c.Settings.Schedulers()
	pods := append(later, c.Pods...)
	if c.Preemptor != nil {
		pods = append(pods, c.Preemptor)
	}
	for _, p := range pods {
		switch name := p.Spec.SchedulerName; {
		case name == model.DefaultSchedulerName:
			p.Spec.SchedulerName = names[0]
		case before.Schedules(name):
			p.Spec.SchedulerName = names[len(names)-1]
		}
	}
}
