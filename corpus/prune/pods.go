package prune

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Kinds of names that are none of an object's kind.
const (
	Handle      = "volume handle"
	Driver      = "driver" // of storage or devices, or the domain of attributes of devices
	Pool        = "pool"
	Device      = "device"
	VolumeName  = "volume name" // of a volume of a pod
	ClaimName   = "claim name"  // by which a pod calls a claim for devices
	Gate        = "scheduling gate"
	Scheduler   = "scheduler"
	Template    = "template"
	Feature     = "feature"
	CounterSet  = "counter set"
	Counter     = "counter"
	Condition   = "condition"
	CompatGroup = "compatibility group"
	Owned       = "owner of a setting"
	Portal      = "storage host"
	DiskPool    = "disk pool"
	Attachment  = "VolumeAttachment"
	Claim       = "PersistentVolumeClaim"
	Class       = "StorageClass"
	Namespace   = "Namespace"
	Modes       = "VolumeAttributesClass"
	NodeID      = "node id"
	Derived     = "derived attribute" // of an Expression: it is no condition

	// Kinds of disks whose ids have a form of their own.
	AWSDisk   = "AWS"
	AzureDisk = "Azure"
	ISCSIDisk = "iSCSI"
)

// meta is kept of the metadata of all objects of a kind that is in a namespace.
func meta(kind string, more ...Field) []Field {
	return append(clusterMeta(kind, more...), Field{"metadata.namespace", name(Namespace)})
}

func clusterMeta(kind string, more ...Field) []Field {
	return append([]Field{{"metadata.name", name(kind)}}, more...)
}

var (
	uid     = Field{"metadata.uid", of(UID)}
	created = Field{"metadata.creationTimestamp", Text{}}
	deleted = Field{"metadata.deletionTimestamp", Text{}}
	labels  = Field{"metadata.labels", of(Labelled)}
	owners  = Field{"metadata.ownerReferences[].{apiVersion,kind,name,uid,controller}", of(Owner)}
	// generation is what an observedGeneration refers to, which promises are about.
	generation = Field{"metadata.generation", Text{}}

	annots = Field{"metadata.annotations", of(Annotations)}
)

// selector is what is kept of a selector of labels.
func selector(path string) []Field {
	return under(path, Field{"matchLabels", of(Labels)}, Field{"matchExpressions[].{key,operator,values}", of(Labels)})
}

// nodeTerm is what is kept of a term by which nodes are selected.
func nodeTerm(path string) []Field {
	return under(path, Field{"matchExpressions[].{key,operator,values}", of(Labels)}, Field{"matchFields[].{key,operator,values}", of(NodeField)})
}

func podTerm(path string) []Field {
	return slices.Concat(selector(path+".labelSelector"), selector(path+".namespaceSelector"), under(path,
		Field{"namespaces", name(Namespace)},
		Field{"topologyKey", of(LabelKey)},
		Field{"matchLabelKeys", of(LabelKey)},
		Field{"mismatchLabelKeys", of(LabelKey)}))
}

func podAffinity(path string) []Field {
	return slices.Concat(podTerm(path+".requiredDuringSchedulingIgnoredDuringExecution[]"),
		podTerm(path+".preferredDuringSchedulingIgnoredDuringExecution[].podAffinityTerm"),
		[]Field{{path + ".preferredDuringSchedulingIgnoredDuringExecution[].weight", Text{}}})
}

func container(path string) []Field {
	return under(path,
		Field{"name", of(Container)},
		Field{"image", of(Image)},
		Field{"resources.requests", of(Resources)},
		Field{"resources.limits", of(Resources)},
		Field{"resources.claims[].name", name(ClaimName)},
		Field{"resources.claims[].request", of(Request)},
		Field{"restartPolicy", word("Always", "OnFailure", "Never")},
		Field{"restartPolicyRules[].action", word("Restart", "RestartAllContainers")},
		Field{"restartPolicyRules[].exitCodes.operator", word("In", "NotIn")},
		Field{"restartPolicyRules[].exitCodes.values", Text{}},
		Field{"ports[].containerPort", Text{}},
		Field{"ports[].hostPort", Text{}},
		Field{"ports[].hostIP", of(IP)},
		Field{"ports[].protocol", word("TCP", "UDP", "SCTP")},
		Field{"volumeMounts[].name", name(VolumeName)},
		Field{"volumeMounts[].mountPath", of(Fixed)},
		Field{"volumeMounts[].bindMountOptions", word("noexec", "nodev", "nosuid")},
	)
}

func containerStatus(path string) []Field {
	return under(path,
		Field{"name", of(Container)},
		Field{"allocatedResources", of(Resources)},
		Field{"resources.requests", of(Resources)})
}

// claimSpec is what is kept of the spec of a claim for storage.
func claimSpec(path string) []Field {
	return slices.Concat(selector(path+".selector"), under(path,
		Field{"accessModes", accessMode},
		Field{"resources.requests", of(Resources)},
		Field{"volumeName", name("PersistentVolume")},
		Field{"storageClassName", name(Class)},
		Field{"volumeMode", volumeMode},
		Field{"volumeAttributesClassName", name(Modes)}))
}

var (
	accessMode = word(string(v1.ReadWriteOnce), string(v1.ReadOnlyMany), string(v1.ReadWriteMany), string(v1.ReadWriteOncePod))
	volumeMode = word(string(v1.PersistentVolumeBlock), string(v1.PersistentVolumeFilesystem))
	honor      = word(string(v1.NodeInclusionPolicyHonor), string(v1.NodeInclusionPolicyIgnore))
	truth      = word("True", "False", "Unknown")
	conditions = word(string(v1.DisruptionTarget), string(v1.PodResizePending), string(v1.PodResizeInProgress), string(v1.PodReady), string(v1.PodScheduled))
	reasons    = word("", v1.PodReasonPreemptionByScheduler, v1.PodReasonTerminationByKubelet, "DeletionByTaintManager", "EvictionByEvictionAPI", "DeletionByPodGC",
		v1.PodReasonInfeasible, v1.PodReasonDeferred, v1.PodReasonError, v1.PodReasonUnschedulable, v1.PodReasonSchedulingGated, v1.PodReasonSchedulerError)
	policy = word(string(v1.PreemptLowerPriority), string(v1.PreemptNever))
)

// disks are the sources of volumes, in pods and as volumes of their own, that a limit or a
// restriction is about.
func disks(path string) []Field {
	return under(path,
		Field{"gcePersistentDisk.pdName", of(Disk)},
		Field{"gcePersistentDisk.readOnly", Text{}},
		Field{"awsElasticBlockStore.volumeID", Text{Rule: Disk, Kind: AWSDisk}},
		Field{"azureDisk.diskName", of(Disk)},
		Field{"azureDisk.diskURI", Text{Rule: Disk, Kind: AzureDisk}},
		Field{"azureDisk.kind", word("Shared", "Dedicated", "Managed")},
		Field{"cinder.volumeID", of(Disk)},
		Field{"portworxVolume.volumeID", of(Disk)},
		Field{"iscsi.targetPortal", name(Portal)},
		Field{"iscsi.iqn", Text{Rule: Disk, Kind: ISCSIDisk}},
		Field{"iscsi.lun", Text{}},
		Field{"iscsi.readOnly", Text{}},
		Field{"rbd.monitors", name(Portal)},
		Field{"rbd.pool", name(DiskPool)},
		Field{"rbd.image", of(Disk)},
		Field{"rbd.readOnly", Text{}})
}

// podFields is what is kept of a pod. Preferences are, as they decide where the members of
// a group go, and so what is left for those after them.
var podFields = slices.Concat(
	meta("Pod", uid, created, deleted, labels, owners, annots, generation, Field{"metadata.deletionGracePeriodSeconds", Text{}}),
	container("spec.containers[]"),
	container("spec.initContainers[]"),
	nodeTerm("spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[]"),
	nodeTerm("spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].preference"),
	podAffinity("spec.affinity.podAffinity"),
	podAffinity("spec.affinity.podAntiAffinity"),
	selector("spec.topologySpreadConstraints[].labelSelector"),
	disks("spec.volumes[]"),
	claimSpec("spec.volumes[].ephemeral.volumeClaimTemplate.spec"),
	[]Field{
		{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[].weight", Text{}},
		{"spec.topologySpreadConstraints[].maxSkew", Text{}},
		{"spec.topologySpreadConstraints[].topologyKey", of(LabelKey)},
		{"spec.topologySpreadConstraints[].whenUnsatisfiable", word(string(v1.DoNotSchedule), string(v1.ScheduleAnyway))},
		{"spec.topologySpreadConstraints[].minDomains", Text{}},
		{"spec.topologySpreadConstraints[].nodeAffinityPolicy", honor},
		{"spec.topologySpreadConstraints[].nodeTaintsPolicy", honor},
		{"spec.topologySpreadConstraints[].matchLabelKeys", of(LabelKey)},
		{"spec.nodeSelector", of(Labels)},
		{"spec.nodeName", name("Node")},
		{"spec.hostNetwork", Text{}},
		{"spec.hostUsers", Text{}},
		{"spec.os.name", word("linux", "windows")},
		{"spec.schedulerName", name(Scheduler)},
		{"spec.tolerations[].{key,operator,value,effect,tolerationSeconds}", of(Taint)},
		{"spec.priorityClassName", name("PriorityClass")},
		{"spec.priority", Text{}},
		{"spec.preemptionPolicy", policy},
		{"spec.overhead", of(Resources)},
		{"spec.restartPolicy", word("Always", "OnFailure", "Never")},
		{"spec.terminationGracePeriodSeconds", Text{}},
		{"spec.schedulingGates[].name", name(Gate)},
		{"spec.resourceClaims[].name", name(ClaimName)},
		{"spec.resourceClaims[].resourceClaimName", name("ResourceClaim")},
		{"spec.resourceClaims[].resourceClaimTemplateName", name("ResourceClaimTemplate")},
		{"spec.resources.requests", of(Resources)},
		{"spec.resources.limits", of(Resources)},
		{"spec.schedulingGroup.podGroupName", name("PodGroup")},
		{"spec.volumes[].name", name(VolumeName)},
		{"spec.volumes[].persistentVolumeClaim.claimName", name(Claim)},
		{"spec.volumes[].persistentVolumeClaim.readOnly", Text{}},
		{"spec.volumes[].ephemeral.volumeClaimTemplate.metadata.annotations", of(Annotations)},
		{"spec.volumes[].csi.driver", name(Driver)},
		{"spec.volumes[].image.reference", of(Image)},

		{"status.phase", word("Pending", "Running", "Succeeded", "Failed", "Unknown")},
		{"status.nominatedNodeName", name("Node")},
		{"status.startTime", Text{}},
		{"status.conditions[].type", conditions},
		{"status.conditions[].status", truth},
		{"status.conditions[].reason", reasons},
		{"status.conditions[].message", of(Message)},
		{"status.conditions[].lastProbeTime", Text{}},
		{"status.conditions[].observedGeneration", Text{}},
		{"status.observedGeneration", Text{}},
		{"status.allocatedResources", of(Resources)},
		{"status.resources.requests", of(Resources)},
		{"status.resourceClaimStatuses[].name", name(ClaimName)},
		{"status.resourceClaimStatuses[].resourceClaimName", name("ResourceClaim")},
		{"status.extendedResourceClaimStatus.resourceClaimName", name("ResourceClaim")},
		{"status.extendedResourceClaimStatus.requestMappings[].containerName", of(Container)},
		{"status.extendedResourceClaimStatus.requestMappings[].resourceName", of(Resource)},
		{"status.extendedResourceClaimStatus.requestMappings[].requestName", of(Request)},
		{"status.nodeAllocatableResourceClaimStatuses[].resourceClaimName", name("ResourceClaim")},
		{"status.nodeAllocatableResourceClaimStatuses[].containers", of(Container)},
		{"status.nodeAllocatableResourceClaimStatuses[].mapping[].name", of(Resource)},
		{"status.nodeAllocatableResourceClaimStatuses[].mapping[].quantity", Text{}},
		{"status.nodeAllocatableResourceClaimStatuses[].overhead[].name", of(Resource)},
		{"status.nodeAllocatableResourceClaimStatuses[].overhead[].perPod", Text{}},
		{"status.nodeAllocatableResourceClaimStatuses[].overhead[].perContainer", Text{}},
	},
	containerStatus("status.containerStatuses[]"),
	containerStatus("status.initContainerStatuses[]"),
)
