package unmodelled

import (
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// Group is what a model of pods says of a cluster whose preemptor is a pod group; nil for the others.
func Group(c *model.Cluster) (u model.Unmodelled) {
	if c.PreemptorGroup != "" && c.Preemptor == nil {
		u.Add(model.GroupTitle(c.PreemptorGroup), "preemptor", "the scheduling of a pod group as a whole")
	}
	return u
}

// InGroup finds everything that could matter and is not covered in a cluster whose preemptor is a pod group:
// what could of one of its members, and what they do to each other before any of them is bound.
func InGroup(c *model.Cluster) (u model.Unmodelled) {
	title := model.GroupTitle(c.PreemptorGroup)
	if len(c.Members()) == 0 {
		u.Add(title, "preemptor", "it has no pod")
		return u
	}
	for i := range c.Settings.Extenders {
		if c.Settings.Extenders[i].Filter != nil && len(c.Nodes) > model.NodesToFind(c.Settings.PercentageOfNodesToScore, len(c.Nodes)) {
			u.Add("scheduler", fmt.Sprintf("extenders[%d].filter", i), "for each pod of a group it is asked about some of so many nodes")
		}
	}
	groups := c.GroupsOfPreemptor()
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		if g, ok := groups[key].(*schedulingv1beta1.PodGroup); ok && c.Settings.FeatureGates[device.GateGroupClaims] {
			if why := device.UnmodelledGroup(c.Extra, g); why != "" {
				u.Add(model.GroupTitle(key), "spec.resourceClaims", why)
			}
		}
	}
	claimants := map[string]string{} // the group of which members name a claim
	for _, m := range c.Members() {
		object := "Pod " + model.Key(m)
		switch {
		case !c.Settings.Schedules(m.Spec.SchedulerName):
			u.Add(object, "spec.schedulerName", "another scheduler's pod")
		case m.Spec.NodeName != "":
			continue
		case volume.Mounts(m):
			// KEP-5710, "In place victim reprieval": these plugins "produce false negatives".
			u.Add(object, "spec.volumes", "what members before it take of volumes")
		case device.Gated(c.Extra, c.Settings.FeatureGates, m):
			u.Add(object, "spec.resourceClaims", "a claim that cannot be used keeps its group waiting")
		case len(m.Spec.ResourceClaims) > 0 && len(device.Conditional(c.Extra)) > 0:
			u.Add(object, "spec.resourceClaims", "devices that are not ready at once")
		case device.Backs(c.Extra, m):
			u.Add(object, "spec.containers", "what members before it take of devices for extended resources")
		}
		for i := range m.Spec.ResourceClaims {
			if why := device.UnmodelledEntry(c.Extra, c.Settings.FeatureGates, m, &m.Spec.ResourceClaims[i]); why != "" {
				u.Add(object, "spec.resourceClaims", why)
			}
		}
		for i, key := range device.Named(m) {
			if slices.Contains(device.Named(m)[:i], key) {
				u.Add(object, "spec.resourceClaims", "a claim that a member names twice")
			}
			if group := *m.Spec.SchedulingGroup.PodGroupName; claimants[key] == "" {
				claimants[key] = group
			} else if claimants[key] != group {
				// It is allocated in "a single PodGroup scheduling cycle" (dynamicresources.go:653@v1.37.1): whether that is the one of the
				// whole tree is not said.
				u.Add(object, "spec.resourceClaims", "a claim of members of several groups")
			}
		}
		world := *c
		world.Preemptor = m
		world.Pods = slices.DeleteFunc(slices.Clone(c.Pods), func(p *v1.Pod) bool { return p == m })
		for _, f := range In(&world, model.NewSnapshot(&world)) {
			if !slices.Contains(u, f) {
				u = append(u, f)
			}
		}
	}
	return u
}
