package model

import (
	"fmt"
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

// modelledGates are the feature gates whose both positions Decide speaks for.
var modelledGates = map[string]bool{GateAsyncPreemption: true, GateTaintComparison: true}

// maxAllFiltered is up to how many nodes all are filtered, also when a pod fits
// on some (schedule_one.go:53@v1.37.1, minFeasibleNodesToFind).
const maxAllFiltered = 100

// unmodelled finds everything in c that could matter and is not covered. What
// only scores nodes does not matter.
func unmodelled(c *Cluster) Unmodelled {
	var u Unmodelled
	p := c.Preemptor
	preemptor := "Pod " + Key(p)
	add := func(object, field, why string) { u = append(u, UnmodelledField{object, field, why}) }

	for gate := range c.Settings.FeatureGates {
		if !modelledGates[gate] {
			add("scheduler", "featureGates."+gate, "feature gate")
		}
	}
	if p.Spec.SchedulerName != DefaultSchedulerName {
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
	}
	for i := range p.Spec.TopologySpreadConstraints {
		if _, err := metav1.LabelSelectorAsSelector(p.Spec.TopologySpreadConstraints[i].LabelSelector); err != nil {
			add(preemptor, fmt.Sprintf("spec.topologySpreadConstraints[%d].labelSelector", i), "a selector that cannot be parsed")
		}
	}
	c.unmodelledTerms(p, "podAffinity", requiredAffinity(p), add)
	c.unmodelledTerms(p, "podAntiAffinity", requiredAntiAffinity(p), add)
	if len(p.Spec.ResourceClaims) > 0 {
		add(preemptor, "spec.resourceClaims", "dynamic resource allocation")
	}
	if p.Spec.SchedulingGroup != nil {
		add(preemptor, "spec.schedulingGroup", "pod groups")
	}
	declaredFeatures(p, func(field string) { add(preemptor, field, "features a node has to declare") })
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodResizePending {
			add(preemptor, fmt.Sprintf("status.conditions[%d]", i), "resize of the preemptor")
		}
	}
	for _, other := range c.Pods {
		if other.Spec.NodeName == "" && !knownNominated(other) {
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
		if class, ok := o.(*resourcev1.DeviceClass); ok {
			add("DeviceClass "+class.Name, "spec.extendedResourceName", "extended resources backed by dynamic resource allocation")
		}
	}
	return u
}

// declaredFeatures calls report with each field of the preemptor that only nodes
// which declare a feature can honour (KEP-5328).
func declaredFeatures(p *v1.Pod, report func(field string)) {
	if p.Spec.HostNetwork && p.Spec.HostUsers != nil && !*p.Spec.HostUsers {
		report("spec.hostUsers")
	}
	for _, list := range []struct {
		field      string
		containers []v1.Container
	}{{"spec.containers", p.Spec.Containers}, {"spec.initContainers", p.Spec.InitContainers}} {
		for i := range list.containers {
			c := &list.containers[i]
			for j := range c.VolumeMounts {
				if len(c.VolumeMounts[j].BindMountOptions) > 0 {
					report(fmt.Sprintf("%s[%d].volumeMounts[%d].bindMountOptions", list.field, i, j))
				}
			}
			for j := range c.RestartPolicyRules {
				if c.RestartPolicyRules[j].Action == v1.ContainerRestartRuleActionRestartAllContainers {
					report(fmt.Sprintf("%s[%d].restartPolicyRules[%d]", list.field, i, j))
				}
			}
		}
	}
}
