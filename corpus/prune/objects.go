package prune

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// nodeFields is what is kept of a node.
var nodeFields = clusterMeta("Node", labels,
	Field{"spec.unschedulable", Text{}},
	Field{"spec.taints[].{key,value,effect}", of(Taint)},
	Field{"spec.podPreemptionPolicy.disableResizePreemption", name(Owned)},
	Field{"status.allocatable", of(Resources)},
	Field{"status.declaredFeatures", name(Feature)},
	Field{"status.images[].names", of(Image)},
	Field{"status.images[].sizeBytes", Text{}})

var budgetFields = slices.Concat(meta("PodDisruptionBudget", generation), selector("spec.selector"), []Field{
	{"spec.minAvailable", of(Percentage)},
	{"spec.maxUnavailable", of(Percentage)},
	{"spec.unhealthyPodEvictionPolicy", word("IfHealthyBudget", "AlwaysAllow")},
	{"status.observedGeneration", Text{}},
	{"status.disruptedPods", name("Pod")},
	{"status.disruptionsAllowed", Text{}},
	{"status.currentHealthy", Text{}},
	{"status.desiredHealthy", Text{}},
	{"status.expectedPods", Text{}},
})

var priorityClassFields = clusterMeta("PriorityClass", Field{"value", Text{}}, Field{"globalDefault", Text{}}, Field{"preemptionPolicy", policy})

var namespaceFields = clusterMeta(Namespace, labels)

// Kinds that only rank nodes, which decides where members of a group go, unless pods are spread by default.
var (
	serviceFields     = meta("Service", Field{"spec.selector", of(Labels)}, Field{"spec.type", word("ClusterIP", "NodePort", "LoadBalancer", "ExternalName")})
	controllerFields  = meta("ReplicationController", uid, Field{"spec.selector", of(Labels)})
	replicaSetFields  = slices.Concat(meta("ReplicaSet", uid), selector("spec.selector"))
	statefulSetFields = slices.Concat(meta("StatefulSet", uid), selector("spec.selector"))
)

var claimFields = slices.Concat(
	meta(Claim, uid, deleted, owners, annots), claimSpec("spec"),
	[]Field{{"status.phase", word("Pending", "Bound", "Lost")}})

// csiVolume is what is kept of a volume of a CSI driver, wherever it is described.
func csiVolume(path string) []Field {
	return under(path,
		Field{"accessModes", accessMode},
		Field{"volumeMode", volumeMode},
		Field{"persistentVolumeReclaimPolicy", word("Recycle", "Delete", "Retain")},
		Field{"csi.driver", name(Driver)},
		Field{"csi.volumeHandle", name(Handle)},
		Field{"csi.readOnly", Text{}})
}

var volumeFields = slices.Concat(
	clusterMeta("PersistentVolume", uid, deleted, labels, annots), disks("spec"), nodeTerm("spec.nodeAffinity.required.nodeSelectorTerms[]"), csiVolume("spec"),
	[]Field{
		{"spec.capacity", of(Resources)},
		{"spec.claimRef.{kind,apiVersion,namespace,name,uid}", name(Claim)},
		{"spec.storageClassName", name(Class)},
		{"spec.volumeAttributesClassName", name(Modes)},
		{"spec.local.path", of(Fixed)},
		{"spec.hostPath.path", of(Fixed)},
		{"status.phase", word("Pending", "Available", "Bound", "Released", "Failed")},
	})

var storageClassFields = clusterMeta(Class,
	Field{"provisioner", name(Driver)},
	Field{"volumeBindingMode", word("Immediate", "WaitForFirstConsumer")},
	Field{"allowedTopologies[].matchLabelExpressions[].{key,values}", of(Labels)})

var csiNodeFields = clusterMeta("Node", annots,
	Field{"spec.drivers[].name", name(Driver)},
	Field{"spec.drivers[].nodeID", name(NodeID)},
	Field{"spec.drivers[].topologyKeys", of(LabelKey)},
	Field{"spec.drivers[].allocatable.count", Text{}})

var csiDriverFields = clusterMeta(Driver,
	Field{"spec.attachRequired", Text{}},
	Field{"spec.storageCapacity", Text{}},
	Field{"spec.preventPodSchedulingIfMissing", Text{}})

var capacityFields = slices.Concat(meta("CSIStorageCapacity"), selector("nodeTopology"), []Field{
	{"storageClassName", name(Class)},
	{"capacity", Text{}},
	{"maximumVolumeSize", Text{}},
})

var attachmentFields = slices.Concat(
	clusterMeta(Attachment, deleted), csiVolume("spec.source.inlineVolumeSpec"), []Field{
		{"spec.attacher", name(Driver)},
		{"spec.nodeName", name("Node")},
		{"spec.source.persistentVolumeName", name("PersistentVolume")},
		{"status.attached", Text{}},
	})

// deviceRequest is what is kept of a request for devices.
func deviceRequest(path string) []Field {
	return under(path,
		Field{"deviceClassName", name("DeviceClass")},
		Field{"selectors[].cel.expression", of(Expression)},
		Field{"allocationMode", word("ExactCount", "All")},
		Field{"count", Text{}},
		Field{"tolerations[].{key,operator,value,effect,tolerationSeconds}", of(Taint)},
		Field{"capacity.requests", of(Capacities)},
		Field{"derivedAttributes[].name", of(Attribute)},
		Field{"derivedAttributes[].expression", Text{Rule: Expression, Kind: Derived}})
}

var resourceClaimFields = slices.Concat(
	meta("ResourceClaim", uid, deleted, owners, annots),
	deviceRequest("spec.devices.requests[].exactly"),
	deviceRequest("spec.devices.requests[].firstAvailable[]"),
	nodeTerm("status.allocation.nodeSelector.nodeSelectorTerms[]"),
	[]Field{
		{"spec.devices.requests[].name", of(Request)},
		{"spec.devices.requests[].exactly.adminAccess", Text{}},
		{"spec.devices.requests[].firstAvailable[].name", of(Request)},
		{"spec.devices.constraints[].requests", of(Request)},
		{"spec.devices.constraints[].matchAttribute", of(Attribute)},
		{"spec.devices.constraints[].distinctAttribute", of(Attribute)},
		{"status.allocation.allocationTimestamp", Text{}},
		{"status.reservedFor[].{apiGroup,resource,name,uid}", name("Pod")},
	},
	under("status.allocation.devices.results[]",
		Field{"request", of(Request)},
		Field{"driver", name(Driver)},
		Field{"pool", name(Pool)},
		Field{"device", name(Device)},
		Field{"adminAccess", Text{}},
		Field{"tolerations[].{key,operator,value,effect,tolerationSeconds}", of(Taint)},
		Field{"bindingConditions", name(Condition)},
		Field{"bindingFailureConditions", name(Condition)},
		Field{"shareID", of(UID)},
		Field{"consumedCapacity", of(Capacities)},
		Field{"skipNodeOperations", skipped}),
	under("status.devices[]",
		Field{"driver", name(Driver)},
		Field{"pool", name(Pool)},
		Field{"device", name(Device)},
		Field{"shareID", of(UID)},
		Field{"conditions[].type", name(Condition)},
		Field{"conditions[].status", truth},
		Field{"conditions[].reason", word(prunedReason)},
		Field{"conditions[].lastTransitionTime", Text{}}))

var skipped = word("NodePrepareResources", "NodeUnprepareResources", "*")

// prunedReason stands for the reason of a condition, which has to have one.
const prunedReason = "Pruned"

var sliceFields = slices.Concat(
	clusterMeta("ResourceSlice"),
	nodeTerm("spec.nodeSelector.nodeSelectorTerms[]"),
	nodeTerm("spec.devices[].nodeSelector.nodeSelectorTerms[]"),
	[]Field{
		{"spec.driver", name(Driver)},
		{"spec.pool.name", name(Pool)},
		{"spec.pool.generation", Text{}},
		{"spec.pool.resourceSliceCount", Text{}},
		{"spec.nodeName", name("Node")},
		{"spec.allNodes", Text{}},
		{"spec.perDeviceNodeSelection", Text{}},
		{"spec.sharedCounters[].name", name(CounterSet)},
		{"spec.sharedCounters[].counters", name(Counter)},
		{"spec.sharedCounters[].counters{}.value", Text{}},
		{"spec.partitionTypeAttribute", of(Attribute)},
		{"spec.skipNodeOperations", skipped},
	},
	under("spec.devices[]",
		Field{"name", name(Device)},
		Field{"attributes", of(Attributes)},
		Field{"attributes{}.{int,bool,string,version,ints,bools,strings,versions}", Text{}},
		Field{"capacity", of(Capacities)},
		Field{"capacity{}.value", Text{}},
		Field{"capacity{}.requestPolicy.{default,validValues}", Text{}},
		Field{"capacity{}.requestPolicy.validRange.{min,max,step}", Text{}},
		Field{"consumesCounters[].counterSet", name(CounterSet)},
		Field{"consumesCounters[].counters", name(Counter)},
		Field{"consumesCounters[].counters{}.value", Text{}},
		Field{"consumesCounters[].compatibilityGroups", name(CompatGroup)},
		Field{"nodeName", name("Node")},
		Field{"allNodes", Text{}},
		Field{"taints[].{key,value,effect}", of(Taint)},
		Field{"bindsToNode", Text{}},
		Field{"bindingConditions", name(Condition)},
		Field{"bindingFailureConditions", name(Condition)},
		Field{"allowMultipleAllocations", Text{}},
		Field{"nodeAllocatableResources", of(Resources)},
		Field{"nodeAllocatableResources{}.mapping.{capacityKey,capacityMultiplier,deviceMultiplier}", Text{}},
		Field{"nodeAllocatableResources{}.overhead.{perPod,perContainer}", Text{}}))

var deviceClassFields = clusterMeta("DeviceClass", created,
	Field{"spec.selectors[].cel.expression", of(Expression)},
	Field{"spec.extendedResourceName", of(Resource)})

var taintRuleFields = clusterMeta("DeviceTaintRule",
	Field{"spec.deviceSelector.driver", name(Driver)},
	Field{"spec.deviceSelector.pool", name(Pool)},
	Field{"spec.deviceSelector.device", name(Device)},
	Field{"spec.taint.{key,value,effect}", of(Taint)})

var (
	groupConditionTypes = word("PodGroupInitiallyScheduled", "CompositePodGroupInitiallyScheduled", string(v1.DisruptionTarget))
	groupReasons        = word(prunedReason, "Unschedulable", "SchedulerError", v1.PodReasonPreemptionByScheduler, "Scheduled")
)

// groupSpec is what is kept of pod groups and of groups of these.
func groupSpec(kind, minimum string) []Field {
	return slices.Concat(meta(kind, uid, created, deleted), []Field{
		{"spec.parentCompositePodGroupName", name("CompositePodGroup")},
		{"spec.workloadRef.workloadName", name("Workload")},
		{"spec.workloadRef.templateName", name(Template)},
		{"spec.schedulingPolicy.basic", Text{}},
		{"spec.schedulingPolicy.gang." + minimum, Text{}},
		{"spec.schedulingConstraints.topology[].key", of(LabelKey)},
		{"spec.disruptionMode.single", Text{}},
		{"spec.disruptionMode.all", Text{}},
		{"spec.priorityClassName", name("PriorityClass")},
		{"spec.priority", Text{}},
		{"spec.preemptionPolicy", policy},
		{"status.conditions[].type", groupConditionTypes},
		{"status.conditions[].status", truth},
		{"status.conditions[].reason", groupReasons},
		{"status.conditions[].lastTransitionTime", Text{}},
	})
}

var podGroupFields = slices.Concat(groupSpec("PodGroup", "minCount"), []Field{
	{"spec.resourceClaims[].name", name(ClaimName)},
	{"spec.resourceClaims[].resourceClaimName", name("ResourceClaim")},
	{"spec.resourceClaims[].resourceClaimTemplateName", name("ResourceClaimTemplate")},
	{"status.resourceClaimStatuses[].name", name(ClaimName)},
	{"status.resourceClaimStatuses[].resourceClaimName", name("ResourceClaim")},
})

var compositeFields = groupSpec("CompositePodGroup", "minGroupCount")
