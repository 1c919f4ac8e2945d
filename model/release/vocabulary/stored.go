package vocabulary

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/release"
)

// Stored makes of a cluster what an API server of the release would keep of it: fields that it does not know are dropped
// (docs: concepts/overview/kubernetes-api, reference/using-api/api-concepts, "Field validation"), as are the objects and the feature gates that the
// release does not have. What Unknown tells of the rest remains: amounts beyond 64 bits, pod groups, and what devices can do since 1.35.
func Stored(r release.Release, c *model.Cluster) {
	for _, d := range droppedOfPods {
		if r.In(d.in) {
			continue
		}
		for _, p := range everyPod(c) {
			d.drop(p)
		}
	}
	if !r.In(">=1.36.0") {
		for _, n := range c.Nodes {
			n.Status.DeclaredFeatures = nil
		}
	}
	if !r.In(">=1.27.0") {
		for _, b := range c.PodDisruptionBudgets {
			b.Spec.UnhealthyPodEvictionPolicy = nil
		}
	}
	c.Extra = slices.DeleteFunc(c.Extra, func(o runtime.Object) bool {
		switch o := o.(type) {
		case *v1.PersistentVolumeClaim:
			if !r.In(">=1.27.0") {
				o.Spec.AccessModes = oncePerNode(o.Spec.AccessModes)
			}
		case *v1.PersistentVolume:
			if !r.In(">=1.27.0") {
				o.Spec.AccessModes = oncePerNode(o.Spec.AccessModes)
			}
		case *storagev1.CSIDriver:
			if !r.In(">=1.37.0") {
				o.Spec.PreventPodSchedulingIfMissing = new(false) // as cases that are read say
			}
		case *resourcev1.ResourceClaim:
			for i := 0; o.Status.Allocation != nil && i < len(o.Status.Allocation.Devices.Results) && !r.In(">=1.37.0"); i++ {
				o.Status.Allocation.Devices.Results[i].SkipNodeOperations = nil
			}
			return !r.In(">=1.34.0")
		case *resourcev1.ResourceSlice:
			if !r.In(">=1.37.0") {
				o.Spec.SkipNodeOperations = nil
			}
			return !r.In(">=1.34.0")
		case *resourcev1.DeviceClass:
			return !r.In(">=1.34.0")
		case *resourcev1.DeviceTaintRule:
			return !r.In(">=1.37.0")
		}
		return false
	})
	if s := &c.Settings; len(s.FeatureGates) > 0 {
		s.FeatureGates = maps.Clone(s.FeatureGates) // all clusters of a campaign may have the same
		maps.DeleteFunc(s.FeatureGates, func(gate string, _ bool) bool { in, modelled := gatesIn[gate]; return modelled && !r.In(in) })
	}
}

// oncePerNode are access modes without that for one pod.
func oncePerNode(modes []v1.PersistentVolumeAccessMode) []v1.PersistentVolumeAccessMode {
	modes = slices.Clone(modes)
	for i := range modes {
		if modes[i] == v1.ReadWriteOncePod {
			modes[i] = v1.ReadWriteOnce
		}
	}
	return slices.Compact(modes)
}

// droppedOfPods are the fields of podFields that generated clusters have, and that a release from 1.25 on may not know.
var droppedOfPods = []struct {
	in   string
	drop func(*v1.Pod)
}{
	{">=1.26.0", constraints(func(c *v1.TopologySpreadConstraint) { c.NodeAffinityPolicy, c.NodeTaintsPolicy = nil, nil })},
	{">=1.27.0", constraints(func(c *v1.TopologySpreadConstraint) { c.MinDomains, c.MatchLabelKeys = nil, nil })},
	{">=1.27.0", func(p *v1.Pod) { p.Spec.SchedulingGates = nil }},
	{">=1.29.0", func(p *v1.Pod) {
		for i := range p.Spec.InitContainers {
			p.Spec.InitContainers[i].RestartPolicy = nil
		}
	}},
	{">=1.31.0", func(p *v1.Pod) {
		if a := p.Spec.Affinity; a != nil {
			if a.PodAffinity != nil {
				terms(a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
			}
			if a.PodAntiAffinity != nil {
				terms(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution)
			}
		}
	}},
	{">=1.33.0", func(p *v1.Pod) {
		p.Spec.HostUsers = nil
		p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodResizePending || c.Type == v1.PodResizeInProgress })
		for _, all := range [][]v1.ContainerStatus{p.Status.ContainerStatuses, p.Status.InitContainerStatuses} {
			for i := range all {
				all[i].Resources, all[i].AllocatedResources = nil, nil
			}
		}
	}},
	{">=1.34.0", func(p *v1.Pod) {
		p.Spec.Resources, p.Spec.ResourceClaims = nil, nil
		p.Status.ResourceClaimStatuses, p.Status.ExtendedResourceClaimStatus, p.Status.ObservedGeneration = nil, nil, 0
		for i := range p.Status.Conditions {
			p.Status.Conditions[i].ObservedGeneration = 0
		}
		containers(p, func(c *v1.Container) { c.Resources.Claims = nil })
	}},
	{">=1.35.0", func(p *v1.Pod) {
		containers(p, func(c *v1.Container) { c.RestartPolicyRules = nil })
		for i := range p.Spec.Containers {
			p.Spec.Containers[i].RestartPolicy = nil
		}
	}},
	{">=1.36.0", func(p *v1.Pod) { p.Status.Resources, p.Status.AllocatedResources = nil, nil }},
	{">=1.37.0", func(p *v1.Pod) {
		containers(p, func(c *v1.Container) {
			for i := range c.VolumeMounts {
				c.VolumeMounts[i].BindMountOptions = nil
			}
		})
	}},
}

func containers(p *v1.Pod, drop func(*v1.Container)) {
	for _, all := range [][]v1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range all {
			drop(&all[i])
		}
	}
}

func constraints(drop func(*v1.TopologySpreadConstraint)) func(*v1.Pod) {
	return func(p *v1.Pod) {
		for i := range p.Spec.TopologySpreadConstraints {
			drop(&p.Spec.TopologySpreadConstraints[i])
		}
	}
}

func terms(required []v1.PodAffinityTerm, preferred []v1.WeightedPodAffinityTerm) {
	for i := range required {
		required[i].MatchLabelKeys, required[i].MismatchLabelKeys = nil, nil
	}
	for i := range preferred {
		preferred[i].PodAffinityTerm.MatchLabelKeys, preferred[i].PodAffinityTerm.MismatchLabelKeys = nil, nil
	}
}
