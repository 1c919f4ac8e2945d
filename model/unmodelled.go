package model

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Unmodelled lists what in a cluster could change the scheduler's decision and
// is not covered by the model. It is an error: Decide answers nothing then.
type Unmodelled []UnmodelledField

// UnmodelledField is a field of an object that the model does not cover.
type UnmodelledField struct {
	Object string // kind and name: "Pod default/web-0"
	Field  string // "spec.volumes[0].persistentVolumeClaim"
	Why    string // what would have to be modelled
}

func (f UnmodelledField) String() string { return fmt.Sprintf("%s: %s: %s", f.Object, f.Field, f.Why) }

func (u Unmodelled) Error() string {
	lines := make([]string, len(u))
	for i, f := range u {
		lines[i] = f.String()
	}
	return "not modelled: " + strings.Join(lines, "; ")
}

// modelledGates are the feature gates whose both positions Decide speaks for. The
// value says whether the decision depends on the gate.
var modelledGates = map[string]bool{
	GateAsyncPreemption: true,
	GateTaintComparison: true,
	// How nominations are used on the way to binding, pods after the first of a
	// kind, and the queue.
	"NominatedNodeNameForExpectation": false,
	"OpportunisticBatching":           false,
	"SchedulerPopFromBackoffQ":        false,
	// A shorter way to the same answer.
	"InterPodAffinityHostnameFastPath": false,
}

// IdleGates are the feature gates that may be set, but that no decision depends
// on.
func IdleGates() []string {
	var names []string
	for name, matters := range modelledGates {
		if !matters {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// maxAllFiltered is up to how many nodes all are filtered, also when a pod fits
// on some (schedule_one.go:53@v1.37.1, minFeasibleNodesToFind).
const maxAllFiltered = 100

// unmodelled finds everything in c that could matter and is not covered. What
// only scores nodes does not matter.
func unmodelled(c *Cluster, rules *Rules) Unmodelled {
	u := Unmodelled(slices.Clone(c.NotGiven))
	p := c.Preemptor
	preemptor := "Pod " + Key(p)
	add := func(object, field, why string) { u = append(u, UnmodelledField{object, field, why}) }

	for gate := range c.Settings.FeatureGates {
		if _, modelled := modelledGates[gate]; !modelled {
			add("scheduler", "featureGates."+gate, "feature gate")
		}
	}
	if !c.Settings.Schedules(p.Spec.SchedulerName) {
		add(preemptor, "spec.schedulerName", "another scheduler's pod")
	}
	if len(p.Spec.SchedulingGates) > 0 {
		add(preemptor, "spec.schedulingGates", "the pod is not scheduled yet")
	}
	if p.DeletionTimestamp != nil {
		add(preemptor, "metadata.deletionTimestamp", "a terminating pod is not scheduled")
	}
	unmodelledStorage(c, add)
	for i := range c.Settings.Extenders {
		if e := &c.Settings.Extenders[i]; e.Filter != nil && len(c.Nodes) > maxAllFiltered {
			add("scheduler", fmt.Sprintf("extenders[%d].filter", i), "it is not asked about all of so many nodes")
		}
		if e := &c.Settings.Extenders[i]; e.Filter != nil && !rules.zeroVictimsFail {
			add("scheduler", fmt.Sprintf("extenders[%d].filter", i), "a node that nothing but an extender rejects is a candidate without victims")
		}
	}
	for i := range p.Spec.TopologySpreadConstraints {
		if _, err := metav1.LabelSelectorAsSelector(p.Spec.TopologySpreadConstraints[i].LabelSelector); err != nil {
			add(preemptor, fmt.Sprintf("spec.topologySpreadConstraints[%d].labelSelector", i), "a selector that cannot be parsed")
		}
	}
	c.unmodelledTerms(p, "podAffinity", requiredAffinity(p), add)
	c.unmodelledTerms(p, "podAntiAffinity", requiredAntiAffinity(p), add)
	unmodelledClaims(c, add)
	if p.Spec.SchedulingGroup != nil {
		add(preemptor, "spec.schedulingGroup", "pod groups")
	}
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodResizePending {
			add(preemptor, fmt.Sprintf("status.conditions[%d]", i), "resize of the preemptor")
		}
	}
	for _, other := range c.Pods {
		if other.Spec.NodeName == "" && !knownNominated(c, other) {
			continue
		}
		c.unmodelledTerms(other, "podAntiAffinity", requiredAntiAffinity(other), add)
		if other.Spec.NodeName == "" && len(other.Spec.SchedulingGates) > 0 {
			add("Pod "+Key(other), "spec.schedulingGates", "a nominated pod that is gated")
		}
		if len(other.Status.NodeAllocatableResourceClaimStatuses) > 0 && c.Settings.FeatureGates["DRANodeAllocatableResources"] {
			add("Pod "+Key(other), "status.nodeAllocatableResourceClaimStatuses", "dynamic resource allocation")
		}
	}
	for _, o := range c.Extra {
		if class, ok := o.(*resourcev1.DeviceClass); ok && backsRequest(class, p) {
			add("DeviceClass "+class.Name, "spec.extendedResourceName", "extended resources backed by dynamic resource allocation")
		}
	}
	return u
}

// backsRequest tells whether the pod may get a resource that it requests from
// devices of the class (KEP-5004).
func backsRequest(class *resourcev1.DeviceClass, p *v1.Pod) bool {
	needs := requested(p)
	return class.Spec.ExtendedResourceName != nil && needs.get(v1.ResourceName(*class.Spec.ExtendedResourceName)) != (quantity{}) ||
		needs.get(v1.ResourceName(resourcev1.ResourceDeviceClassPrefix+class.Name)) != (quantity{})
}
