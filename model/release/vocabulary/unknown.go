// Package vocabulary says what of a cluster a release can express: which fields and kinds it knows, and what is left of a cluster that is
// stored by it.
package vocabulary

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/utils/ptr"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/configuration"
	"github.com/preemptcheck/preemptcheck/model/device"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/podgroup"
	"github.com/preemptcheck/preemptcheck/model/release"
	"github.com/preemptcheck/preemptcheck/model/release/storage"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// beyond64Bits lists the amounts of which a few leave 64 bits. How a release adds them up,
// and what score it makes of them, is not modelled before 1.36, from which on the balance
// of a node with the pod is held against that without (balanced_allocation.go:217@v1.37.1).
func beyond64Bits(r release.Release, c *model.Cluster) (u model.Unmodelled) {
	report := func(object string, list v1.ResourceList) {
		if release.AnyHuge(list) {
			u.Add(object, "amounts beyond 64 bits", fmt.Sprintf("how %s adds them up, and scores them, is not modelled", r))
		}
	}
	for _, n := range c.Nodes {
		report("Node "+n.Name, n.Status.Allocatable)
	}
	for _, p := range everyPod(c) {
		report("Pod "+model.Key(p), resourcehelper.PodRequests(p, resourcehelper.PodResourcesOptions{UseStatusResources: true}))
	}
	return u
}

// hasDisksOf tells whether a cluster has volumes of a plugin of Kubernetes itself, or may get such.
func hasDisksOf(plugin string, c *model.Cluster) bool {
	names := func(p *v1.Pod) bool {
		return p != nil && slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return volume.InlinePluginOf(&v) == plugin })
	}
	return names(c.Preemptor) || slices.ContainsFunc(c.Pods, names) || slices.ContainsFunc(c.Extra, func(o runtime.Object) bool {
		switch o := o.(type) {
		case *v1.PersistentVolume:
			return volume.PluginOf(&o.Spec.PersistentVolumeSource) == plugin
		case *storagev1.StorageClass:
			return o.Provisioner == plugin
		}
		return false
	})
}

// inTreeLimits reports disks of in-tree plugins that the preemptor mounts, beside a pod whose ephemeral volume has somebody else's claim: up to 1.31 such
// disks were counted by plugins of their own (nodevolumelimits/non_csi.go@v1.31.14), which ends in an error there.
func inTreeLimits(c *model.Cluster, report filter.Report) {
	if c.Preemptor == nil {
		return
	}
	index := volume.NewIndex(c.Extra)
	isForeign := func(claim volume.Claim) bool { return claim.PVC != nil && !claim.Owned }
	if !slices.ContainsFunc(c.Pods, func(p *v1.Pod) bool { return slices.ContainsFunc(index.ClaimsOf(p), isForeign) }) {
		return
	}
	const why = "a volume of an in-tree plugin, which is counted beside a claim that is not its pod's"
	for _, v := range c.Preemptor.Spec.Volumes {
		if v.AWSElasticBlockStore != nil || v.GCEPersistentDisk != nil || v.AzureDisk != nil {
			report("Pod "+model.Key(c.Preemptor), "spec.volumes", why)
		}
	}
	for _, claim := range index.ClaimsOf(c.Preemptor) {
		if claim.PVC == nil {
			continue
		}
		if v := index.Volumes[claim.PVC.Spec.VolumeName]; v != nil && (v.Spec.AWSElasticBlockStore != nil || v.Spec.GCEPersistentDisk != nil || v.Spec.AzureDisk != nil) {
			report("PersistentVolume "+v.Name, "spec", why)
		}
	}
}

// everyPod are all pods of a cluster: the members of a group that preempts are among the others.
func everyPod(c *model.Cluster) []*v1.Pod {
	if c.PreemptorGroup != "" {
		return c.Pods
	}
	return append(c.Preemptors(), c.Pods...)
}

// Unknown lists what in a cluster a release cannot express, or keeps behind a
// feature gate that is off by default: the cluster is none of that release's, and
// what the release would make of the rest says nothing about it.
func Unknown(r release.Release, c *model.Cluster) model.Unmodelled {
	var u model.Unmodelled
	report := func(object, field, in string) {
		if !r.In(in) {
			u.Add(object, field, fmt.Sprintf("%s does not know it, or has it switched off", r))
		}
	}
	pods := everyPod(c)
	for _, f := range podFields {
		if r.In(f.in) {
			continue
		}
		for _, p := range pods {
			if f.set(p) {
				report("Pod "+model.Key(p), f.path, f.in)
			}
		}
	}
	u = append(u, unknownGroups(r, c)...)
	if !r.In(">=1.36.0") {
		u = append(u, beyond64Bits(r, c)...)
	}
	if !r.In(">=1.37.0") {
		gatedNominations(c, u.Add)
	}
	if !r.In(">=1.32.0") {
		inTreeLimits(c, u.Add)
	}
	for _, n := range c.Nodes {
		if len(n.Status.DeclaredFeatures) > 0 {
			report("Node "+n.Name, "status.declaredFeatures", ">=1.36.0") // KEP-5328
		}
	}
	for _, b := range c.PodDisruptionBudgets {
		// policy/v1beta1 has empty selectors match no pod.
		if b.Spec.Selector != nil && len(b.Spec.Selector.MatchLabels)+len(b.Spec.Selector.MatchExpressions) == 0 {
			report("PodDisruptionBudget "+model.Key(b), "spec.selector: empty", ">=1.21.0")
		}
		if b.Spec.UnhealthyPodEvictionPolicy != nil {
			report("PodDisruptionBudget "+model.Key(b), "spec.unhealthyPodEvictionPolicy", ">=1.27.0") // KEP-3017
		}
	}
	index := sync.OnceValue(func() *volume.Index { return volume.NewIndex(c.Extra) })
	for _, o := range c.Extra {
		switch o := o.(type) {
		case *v1.PersistentVolume:
			if !r.In(">=1.33.0") && index().Translates(o) { // from which on no plugin can be left out
				u.Add("PersistentVolume "+o.Name, "spec", fmt.Sprintf("in which zones %s looks for volumes of plugins that nodes have migrated is not modelled", r))
			}
		case *v1.PersistentVolumeClaim:
			if slices.Contains(o.Spec.AccessModes, v1.ReadWriteOncePod) {
				report("PersistentVolumeClaim "+model.Key(o), "spec.accessModes", ">=1.27.0") // KEP-2485
			}
		case *storagev1.CSINode:
			report("CSINode "+o.Name, "apiVersion", ">=1.17.0")
			for _, plugin := range strings.Split(o.Annotations[v1.MigratedPluginsAnnotationKey], ",") {
				if since, is := storage.CountOnEachNode[plugin]; is && !r.In(since) && hasDisksOf(plugin, c) {
					u.Add("CSINode "+o.Name, "metadata.annotations", fmt.Sprintf("whether %s counts the volumes of %s that the node has migrated is not modelled", r, plugin))
				}
			}
		case *storagev1.CSIDriver:
			report("CSIDriver "+o.Name, "apiVersion", ">=1.18.0")
			if ptr.Deref(o.Spec.PreventPodSchedulingIfMissing, false) {
				report("CSIDriver "+o.Name, "spec.preventPodSchedulingIfMissing", ">=1.37.0")
			}
		case *storagev1.CSIStorageCapacity:
			report("CSIStorageCapacity "+model.Key(o), "apiVersion", ">=1.24.0")
		case *resourcev1.ResourceClaim:
			report("ResourceClaim "+model.Key(o), "apiVersion", ">=1.34.0")
			if tolerates(o) {
				report("ResourceClaim "+model.Key(o), "spec.devices.requests: tolerations", ">=1.36.0") // KEP-5055
			}
			if takesParts(o) {
				report("ResourceClaim "+model.Key(o), "spec.devices: capacity, distinctAttribute; status.allocation: shareID", ">=1.36.0") // KEP-5075
			}
			if o.Status.Allocation != nil && slices.ContainsFunc(o.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool {
				return len(r.BindingConditions)+len(r.BindingFailureConditions) > 0
			}) {
				report("ResourceClaim "+model.Key(o), "status.allocation.devices.results: bindingConditions", ">=1.36.0") // KEP-5007
			}
			if device.SkipsOperations(o) {
				report("ResourceClaim "+model.Key(o), "status.allocation.devices.results: skipNodeOperations", ">=1.37.0") // KEP-5945
			}
			if distinguishesAlike(o) { // of which only the last device of a request was kept in mind: kubernetes#140438
				report("ResourceClaim "+model.Key(o), "spec.devices.constraints: distinctAttribute of a request for several devices", ">=1.37.0")
			}
		case *resourcev1.ResourceSlice:
			report("ResourceSlice "+o.Name, "apiVersion", ">=1.34.0")
			if slices.ContainsFunc(o.Spec.Devices, func(d resourcev1.Device) bool { return len(d.Taints) > 0 }) {
				report("ResourceSlice "+o.Name, "spec.devices: taints", ">=1.36.0") // KEP-5055
			}
			if slices.ContainsFunc(o.Spec.Devices, func(d resourcev1.Device) bool { return d.AllowMultipleAllocations != nil }) {
				report("ResourceSlice "+o.Name, "spec.devices: allowMultipleAllocations", ">=1.36.0") // KEP-5075
			}
			if slices.ContainsFunc(o.Spec.Devices, func(d resourcev1.Device) bool { return len(d.BindingConditions)+len(d.BindingFailureConditions) > 0 }) {
				report("ResourceSlice "+o.Name, "spec.devices: bindingConditions", ">=1.36.0") // KEP-5007
			}
			if len(o.Spec.SkipNodeOperations) > 0 {
				report("ResourceSlice "+o.Name, "spec.skipNodeOperations", ">=1.37.0") // KEP-5945
			}
			if slices.ContainsFunc(o.Spec.Devices, hasPartsOfUnits) {
				report("ResourceSlice "+o.Name, "spec.devices.capacity.requestPolicy: fractions", ">=1.37.0") // DRAFractionalCapacityRange
			}
			if len(o.Spec.SharedCounters) > 0 || o.Spec.PerDeviceNodeSelection != nil ||
				slices.ContainsFunc(o.Spec.Devices, func(d resourcev1.Device) bool { return len(d.ConsumesCounters) > 0 }) {
				report("ResourceSlice "+o.Name, "spec: sharedCounters, consumesCounters, perDeviceNodeSelection", ">=1.36.0") // KEP-4815
			}
			if o.Spec.Pool.ResourceSliceCount > 1 { // which takes devices of a pool of which slices are missing
				report("ResourceSlice "+o.Name, "spec.pool.resourceSliceCount", ">=1.35.0")
			}
		case *resourcev1.DeviceTaintRule:
			report("DeviceTaintRule "+o.Name, "apiVersion", ">=1.37.0") // KEP-5055
		case *resourcev1.DeviceClass:
			report("DeviceClass "+o.Name, "apiVersion", ">=1.34.0")
			if !r.In(">=1.37.0") && c.Preemptor != nil && device.Backs([]runtime.Object{o}, c.Preemptor) { // KEP-5004
				u.Add("DeviceClass "+o.Name, "spec.extendedResourceName", fmt.Sprintf("how %s serves extended resources from devices is not modelled", r))
			}
		}
	}
	u = append(u, unknownDefaults(r, c)...)
	s := &c.Settings
	if s.MinCandidateNodesPercentage != nil || s.MinCandidateNodesAbsolute != nil {
		report("scheduler", "DefaultPreemptionArgs", ">=1.20.0")
	}
	if s.Parallelism != nil {
		report("scheduler", "parallelism", ">=1.20.0")
	}
	if len(s.Configuration) > 0 {
		report("scheduler", "configuration", ">=1.25.0") // the first with kubescheduler.config.k8s.io/v1
	}
	if s.SecondProfile != nil {
		report("scheduler", "profiles[1]", ">=1.18.0")
	}
	for _, gate := range slices.Sorted(maps.Keys(s.FeatureGates)) {
		if in, modelled := gatesIn[gate]; modelled && !(gate == model.GateAsyncPreemption && !s.FeatureGates[gate]) {
			report("scheduler", "featureGates."+gate, in)
		}
	}
	return u
}

// unknownDefaults lists the fields of default constraints of pods that a release does not know.
func unknownDefaults(r release.Release, c *model.Cluster) (u model.Unmodelled) {
	configuration.EachDefault(c.Settings, func(at string, constraint *v1.TopologySpreadConstraint) {
		p := &v1.Pod{Spec: v1.PodSpec{TopologySpreadConstraints: []v1.TopologySpreadConstraint{*constraint}}}
		for _, f := range podFields {
			if field, is := strings.CutPrefix(f.path, constraintFields); is && f.set(p) && !r.In(f.in) {
				u.Add("scheduler", "configuration."+at+"."+field, fmt.Sprintf("%s does not know it, or has it switched off", r))
			}
		}
	})
	return u
}

// unknownGroups lists what of the pod groups in a cluster a release does not know. Their gate is off by
// default in all releases (KEP-4671), and their API was scheduling.k8s.io/v1alpha2 in 1.36.
func unknownGroups(r release.Release, c *model.Cluster) (u model.Unmodelled) {
	if !r.In(WithGroups) {
		none := fmt.Sprintf("%s has no pod groups: they came with v1.36", r)
		for _, p := range everyPod(c) {
			if p.Spec.SchedulingGroup != nil {
				u.Add("Pod "+model.Key(p), "spec.schedulingGroup", none)
			}
		}
		for _, o := range c.Extra {
			if model.IsGroup(o) {
				u.Add(model.GroupTitle(model.KeyOfGroup(o.(metav1.Object))), "apiVersion", none)
			}
		}
		return u
	}
	for _, p := range everyPod(c) {
		if p.Spec.SchedulingGroup != nil && !c.Settings.FeatureGates[model.GateWorkload] {
			u.Add("Pod "+model.Key(p), "spec.schedulingGroup", fmt.Sprintf("the feature gate %s is off", model.GateWorkload))
		}
	}
	if r.In(">=1.37.0") {
		return u
	}
	for _, o := range c.Extra {
		if !model.IsGroup(o) {
			continue
		}
		object, alpha := model.GroupTitle(model.KeyOfGroup(o.(metav1.Object))), fmt.Sprintf("%s has the pod groups of v1alpha2", r)
		switch g, is := o.(*schedulingv1beta1.PodGroup); {
		case !is:
			u.Add(object, "apiVersion", alpha)
		case g.Spec.ParentCompositePodGroupName != nil:
			u.Add(object, "spec.parentCompositePodGroupName", alpha)
		case g.Spec.PreemptionPolicy != nil:
			u.Add(object, "spec.preemptionPolicy", alpha)
		}
	}
	return u
}

// takesParts tells whether a claim has, or may get, devices that several share.
func takesParts(claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Constraints, func(c resourcev1.DeviceConstraint) bool { return c.DistinctAttribute != nil }) ||
		claim.Status.Allocation != nil && slices.ContainsFunc(claim.Status.Allocation.Devices.Results, func(r resourcev1.DeviceRequestAllocationResult) bool { return r.ShareID != nil }) ||
		slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
			return r.Exactly != nil && r.Exactly.Capacity != nil ||
				slices.ContainsFunc(r.FirstAvailable, func(r resourcev1.DeviceSubRequest) bool { return r.Capacity != nil })
		})
}

// distinguishesAlike tells whether devices of one request have to differ in an attribute.
func distinguishesAlike(claim *resourcev1.ResourceClaim) bool {
	several := func(mode resourcev1.DeviceAllocationMode, count int64) bool {
		return mode == resourcev1.DeviceAllocationModeAll || count > 1
	}
	return slices.ContainsFunc(claim.Spec.Devices.Constraints, func(c resourcev1.DeviceConstraint) bool { return c.DistinctAttribute != nil }) &&
		slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
			return r.Exactly != nil && several(r.Exactly.AllocationMode, r.Exactly.Count) ||
				slices.ContainsFunc(r.FirstAvailable, func(r resourcev1.DeviceSubRequest) bool { return several(r.AllocationMode, r.Count) })
		})
}

// hasPartsOfUnits tells whether a range of a device's capacities is not of whole units.
func hasPartsOfUnits(d resourcev1.Device) bool {
	for _, c := range d.Capacity {
		if c.RequestPolicy == nil || c.RequestPolicy.ValidRange == nil {
			continue
		}
		for _, q := range []*resource.Quantity{c.RequestPolicy.ValidRange.Min, c.RequestPolicy.ValidRange.Max, c.RequestPolicy.ValidRange.Step} {
			if q != nil && q.MilliValue()%1000 != 0 {
				return true
			}
		}
	}
	return false
}

func tolerates(claim *resourcev1.ResourceClaim) bool {
	return slices.ContainsFunc(claim.Spec.Devices.Requests, func(r resourcev1.DeviceRequest) bool {
		return r.Exactly != nil && len(r.Exactly.Tolerations) > 0 ||
			slices.ContainsFunc(r.FirstAvailable, func(r resourcev1.DeviceSubRequest) bool { return len(r.Tolerations) > 0 })
	})
}

// gatesIn tells which releases know a gate that is modelled (package unmodelled).
var gatesIn = map[string]string{
	model.GateAsyncPreemption:          ">=1.32.0",
	filter.GateTaintComparison:         ">=1.35.0",
	"NominatedNodeNameForExpectation":  ">=1.34.0",
	"OpportunisticBatching":            ">=1.35.0",
	"SchedulerAsyncAPICalls":           ">=1.34.0",
	"SchedulerPopFromBackoffQ":         ">=1.33.0",
	"InterPodAffinityHostnameFastPath": ">=1.37.0",
	device.GateOptionalOperations:      ">=1.37.0",
	filter.GateResizePreemption:        ">=1.37.0",
	device.GateGroupClaims:             ">=1.37.0",
	model.GateWorkload:                 WithGroups,
	model.GateTopology:                 WithGroups,
	model.GateComposite:                ">=1.37.0",
	podgroup.GatePolicy:                ">=1.37.0",
}

// WithGroups is the range of the releases that have pod groups as they are modelled. 1.35 had Workloads,
// and no objects for their groups.
const WithGroups = ">=1.36.0"

// podField is a field of pods that changes decisions.
type podField struct {
	path string
	in   string // in which the API server keeps it, with the gates at their defaults
	set  func(p *v1.Pod) bool
}

// constraintFields begins the path of each field of a constraint.
const constraintFields = "spec.topologySpreadConstraints."

// podFields are the fields that came after 1.13 (pkg/features/kube_features.go of
// the Releases, and the KEPs).
var podFields = []podField{
	{"spec.preemptionPolicy: Never", ">=1.19.0", // KEP-902; the other says no more than none
		func(p *v1.Pod) bool { return ptr.Deref(p.Spec.PreemptionPolicy, "") == v1.PreemptNever }},
	{"spec.overhead", ">=1.18.0", // KEP-688
		func(p *v1.Pod) bool { return len(p.Spec.Overhead) > 0 }},
	{"spec.topologySpreadConstraints", ">=1.18.0", // KEP-895
		func(p *v1.Pod) bool { return len(p.Spec.TopologySpreadConstraints) > 0 }},
	{constraintFields + "nodeAffinityPolicy, nodeTaintsPolicy", ">=1.26.0", // KEP-3094
		constrains(func(c v1.TopologySpreadConstraint) bool {
			return c.NodeAffinityPolicy != nil || c.NodeTaintsPolicy != nil
		})},
	{constraintFields + "minDomains", ">=1.27.0", // KEP-3022
		constrains(func(c v1.TopologySpreadConstraint) bool { return c.MinDomains != nil })},
	{constraintFields + "matchLabelKeys", ">=1.27.0", // KEP-3243
		constrains(func(c v1.TopologySpreadConstraint) bool { return len(c.MatchLabelKeys) > 0 })},
	{"spec.affinity: namespaceSelector", ">=1.22.0", // KEP-2249
		requires(func(t v1.PodAffinityTerm) bool { return t.NamespaceSelector != nil })},
	{"spec.affinity: matchLabelKeys, mismatchLabelKeys", ">=1.31.0", // KEP-3633
		requires(func(t v1.PodAffinityTerm) bool { return len(t.MatchLabelKeys)+len(t.MismatchLabelKeys) > 0 })},
	{"spec.schedulingGates", ">=1.27.0", // KEP-3521
		func(p *v1.Pod) bool { return len(p.Spec.SchedulingGates) > 0 }},
	{"spec.initContainers.restartPolicy", ">=1.29.0", // KEP-753
		func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Spec.InitContainers, func(c v1.Container) bool { return c.RestartPolicy != nil })
		}},
	{"spec.containers.restartPolicyRules", ">=1.35.0", // KEP-5307
		func(p *v1.Pod) bool {
			return filter.AnyContainer(p, func(c v1.Container) bool { return len(c.RestartPolicyRules) > 0 })
		}},
	{"spec.containers.volumeMounts.bindMountOptions", ">=1.37.0",
		func(p *v1.Pod) bool { return filter.AnyContainer(p, filter.MountsWithOptions) }},
	{"spec.hostUsers", ">=1.33.0", // KEP-127
		func(p *v1.Pod) bool { return p.Spec.HostUsers != nil }},
	{"spec.resources", ">=1.34.0", // KEP-2837
		func(p *v1.Pod) bool { return p.Spec.Resources != nil }},
	{"spec.resourceClaims", ">=1.34.0", // KEP-4381
		func(p *v1.Pod) bool { return len(p.Spec.ResourceClaims) > 0 }},
	{"spec.volumes.ephemeral", ">=1.21.0", // KEP-1698
		func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Spec.Volumes, func(v v1.Volume) bool { return v.Ephemeral != nil })
		}},
	{"status.containerStatuses: resources, allocatedResources", ">=1.33.0", // KEP-1287
		func(p *v1.Pod) bool {
			return slices.ContainsFunc(slices.Concat(p.Status.ContainerStatuses, p.Status.InitContainerStatuses), func(s v1.ContainerStatus) bool {
				return s.Resources != nil || s.AllocatedResources != nil
			})
		}},
	{"status.conditions: PodResizePending", ">=1.33.0", // KEP-1287
		func(p *v1.Pod) bool {
			return slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.PodResizePending })
		}},
	{"status.resources, status.allocatedResources", ">=1.36.0", // KEP-5419
		func(p *v1.Pod) bool { return p.Status.Resources != nil || p.Status.AllocatedResources != nil }},
}

func constrains(is func(v1.TopologySpreadConstraint) bool) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool { return slices.ContainsFunc(p.Spec.TopologySpreadConstraints, is) }
}

// requires is of the terms that scheduling requires: preferred ones change no
// decision.
func requires(is func(v1.PodAffinityTerm) bool) func(*v1.Pod) bool {
	return func(p *v1.Pod) bool {
		return slices.ContainsFunc(filter.RequiredAffinity(p), is) || slices.ContainsFunc(filter.RequiredAntiAffinity(p), is)
	}
}

// gatedNominations reports the nominated pods that PreEnqueue keeps waiting for their group: whether their nominations count
// is not documented, and up to 1.36 depends on when they were made (scheduling_queue.go:708@v1.36.3; from 1.37 on they do,
// scheduling_queue.go:885@v1.37.1).
func gatedNominations(c *model.Cluster, report filter.Report) {
	if c.Preemptor == nil || !c.Settings.FeatureGates[model.GateWorkload] {
		return
	}
	members := map[string]int{}
	for _, p := range c.Pods {
		over := p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
		if !over && (p.Spec.NodeName != "" || c.Settings.Schedules(p.Spec.SchedulerName)) {
			members[groupOf(p)]++
		}
	}
	for _, p := range c.Pods {
		if p.Spec.NodeName != "" || !c.KnowsNomination(p) || p.Spec.SchedulingGroup == nil {
			continue
		}
		group, _ := c.Group(groupOf(p)).(*schedulingv1beta1.PodGroup)
		if group == nil || group.Spec.SchedulingPolicy.Gang != nil && members[groupOf(p)] < int(group.Spec.SchedulingPolicy.Gang.MinCount) {
			report("Pod "+model.Key(p), "spec.schedulingGroup", "a nominated pod that waits for its group")
		}
	}
}

// groupOf names the PodGroup that a pod is in, whether it exists or not.
func groupOf(p *v1.Pod) string {
	if p.Spec.SchedulingGroup == nil {
		return ""
	}
	return model.PodGroupKey(p.Namespace, ptr.Deref(p.Spec.SchedulingGroup.PodGroupName, ""))
}
