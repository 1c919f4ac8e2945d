package invariant

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/properties"
)

// NominatedKeepDevices: where the preemptor goes, there are the devices that it claims,
// and pods that are nominated there, and that it has to yield to, find theirs, too.
var NominatedKeepDevices = properties.Property{
	Name: "nominated-keep-devices",
	Promise: "We want to test whether the pod is schedulable on the node with all the existing pods on the node plus higher and equal priority pods nominated to run on the node. " +
		"The current \"pod\" must yield to them and not take a space opened for running them.",
	Source: "doc comment of RunFilterPluginsWithNominatedPods (runtime/framework.go:1268@v1.37.1); nominatedNodeName \"helps the scheduler track resources reserved for Pod P\": " + properties.DocsNominated,
	Lies:   []string{"no device is free where the pod goes"},
	Applies: func(s *properties.Subject) bool {
		return destination(s) != "" && device.Uses(s.Cluster.Extra, s.Cluster.Preemptor)
	},
	Check: func(s *properties.Subject) (findings []properties.Finding, err error) {
		c, to := s.Cluster, destination(s)
		at := slices.IndexFunc(c.Nodes, func(n *v1.Node) bool { return n.Name == to })
		if at < 0 {
			return nil, nil
		}
		read := func(r *device.Reading) {
			r.SharesAreFree, r.NamesAreText = s.Assumes("shared-device-given-whole"), s.Assumes("capacity-names-are-text")
			r.SkipsAreUnseen = s.Assumes("skipped-operations-ignored")
		}
		if enough, known := device.Enough(c.Extra, c.Settings.FeatureGates, c.Nodes[at], read, c.Preemptor); known && !enough {
			return properties.Found(model.StageFilter, to, "the pod goes to "+to+", where there are fewer devices free than it claims"), nil
		}
		if s.Assumes("nominated-devices-ignored") {
			return nil, nil
		}
		for _, p := range c.Pods {
			if p.Spec.NodeName != "" || p.Status.NominatedNodeName != to || !device.Uses(c.Extra, p) ||
				!c.Settings.Schedules(p.Spec.SchedulerName) || model.Priority(p) < model.Priority(c.Preemptor) {
				continue
			}
			alone, known := device.Enough(c.Extra, c.Settings.FeatureGates, c.Nodes[at], read, p)
			both, knownBoth := device.Enough(c.Extra, c.Settings.FeatureGates, c.Nodes[at], read, p, c.Preemptor)
			if known && knownBoth && alone && !both {
				findings = append(findings, properties.FoundOf(model.StageFilter, to, model.Key(p), "the pod goes to "+to+", and takes devices that "+model.Key(p)+" claims, which is nominated there"))
			}
		}
		return findings, nil
	},
}

// destination is the node that the preemptor is sent or nominated to, or "".
func destination(s *properties.Subject) string {
	if pick := s.Observation.Pick; pick != nil {
		return pick.Node
	}
	return s.Observation.ScheduledTo
}

// DeallocationSparesPods: where a claim is deallocated for the preemptor, it is just
// one, and no pod is preempted as well.
var DeallocationSparesPods = properties.Property{
	Name: "deallocation-spares-pods",
	Promise: "If there is a problem with a Pod and PostFilter gets called to resolve the problem, it is better to first deallocate an idle ResourceClaim " +
		"than it is to evict some Pod that might be doing useful work. PostFilter picks one and requests its deallocation.",
	Source: "doc comment of PostFilter (dynamicresources.go:1146@v1.37.1); comment on the order of the two plugins (apis/config/v1/default_plugins.go:81@v1.37.1, applyDynamicResources)",
	Lies:   []string{"two claims are deallocated"},
	Applies: func(s *properties.Subject) bool {
		return actuated(s) && len(s.Observation.Actuation.Deallocated) > 0
	},
	Check: func(s *properties.Subject) ([]properties.Finding, error) {
		pick, claims := s.Observation.Pick, s.Observation.Actuation.Deallocated
		if len(claims) > 1 {
			return properties.Found(model.StageActuate, "", fmt.Sprintf("deallocates %v", claims)), nil
		}
		if pick == nil || s.Assumes("deallocates-and-preempts") {
			return nil, nil
		}
		return properties.Found(model.StageActuate, pick.Node, "preempts although it has deallocated "+claims[0]), nil
	},
}
