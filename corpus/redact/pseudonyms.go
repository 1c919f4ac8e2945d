package redact

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/preemptcheck/preemptcheck/corpus/prune"
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
)

// ValueOf begins the kind of the values of a label or a taint; the key follows.
const ValueOf = "value of "

// Kinds of names besides those of package prune.
const (
	labelKey   = "label key"
	taintKey   = "taint key"
	zone       = "zone"
	region     = "region"
	resource   = "resource"
	image      = "image"
	uid        = "UID"
	disk       = "disk"
	address    = "address"
	request    = "request"
	attribute  = "attribute"
	version    = "version"
	text       = "attribute value"
	expression = "condition on devices"
	nodeField  = "field"
	ownerKind  = "kind of owner"
	extender   = "extender"
	consumer   = "consumer" // a kind of users of claims for devices
)

// prefixes are how pseudonyms of a kind begin.
var prefixes = map[string]string{
	prune.Namespace: "ns", "PodDisruptionBudget": "budget", "PriorityClass": "class", prune.Claim: "claim", "PersistentVolume": "pv",
	prune.Class: "storage", prune.Modes: "modes", prune.Handle: "handle", prune.Attachment: "attachment", "CSIStorageCapacity": "capacity",
	prune.NodeID: "id", prune.VolumeName: "volume", prune.ClaimName: "devices", prune.Gate: "gate", prune.Owned: "owner", prune.Portal: "host", prune.DiskPool: "diskpool",
	prune.CounterSet: "counters", prune.CompatGroup: "compatible", "ResourceClaim": "resourceclaim", "ResourceClaimTemplate": "claimtemplate", "ResourceSlice": "slice", "DeviceClass": "deviceclass", "DeviceTaintRule": "taintrule",
	"PodGroup": "group", "CompositePodGroup": "composite", labelKey: "label", taintKey: "taint", address: "host", nodeField: "field", text: "text",
	prune.AWSDisk + " " + disk: "vol",
}

// pseudonym is the name that takes the place of one; number is its place.
func pseudonym(kind, name, number string) string {
	switch kind {
	case prune.Driver:
		return "driver-" + number + ".example.com"
	case prune.Feature:
		return "Feature" + number
	case uid:
		return "00000000-0000-4000-8000-" + strings.Repeat("0", 12-len(number)) + number
	case resource:
		switch {
		case strings.Contains(name, v1.ResourceDefaultNamespacePrefix): // such a one is not extended
			return v1.ResourceDefaultNamespacePrefix + "resource-" + number
		case strings.HasPrefix(name, v1.DefaultResourceRequestsPrefix):
			return v1.DefaultResourceRequestsPrefix + "example.com/resource-" + number
		}
		return "example.com/resource-" + number
	case image:
		return "registry.invalid/image-" + number + ":1"
	case attribute:
		return "a" + number
	case expression:
		return "is" + number
	case version:
		return "0.0." + strings.TrimLeft(number, "0")
	case ownerKind:
		return "Owner" + number
	}
	if strings.HasPrefix(kind, ValueOf) {
		return "value-" + number
	}
	if prefix, ok := prefixes[kind]; ok {
		return prefix + "-" + number
	}
	return strings.ToLower(strings.ReplaceAll(kind, " ", "-")) + "-" + number
}

// wellKnown are the names of each kind that everybody knows, and on which rules depend.
var wellKnown = map[string][]string{
	prune.Scheduler: {model.DefaultSchedulerName},
	"Node":          {"cluster"}, // as each candidate of a group is called: group-keeps-lower-nominations
	"PriorityClass": {"system-cluster-critical", "system-node-critical"},
	prune.Feature:   {filter.FeatureRestartAll, filter.FeatureHostNetworkUsers, filter.FeatureBindMountOptions, filter.FeatureSkipOperations},
	prune.Driver: {"kubernetes.io/no-provisioner", resourceDomain,
		"kubernetes.io/aws-ebs", "kubernetes.io/azure-disk", "kubernetes.io/azure-file", "kubernetes.io/cinder", "kubernetes.io/gce-pd", "kubernetes.io/portworx-volume", "kubernetes.io/vsphere-volume",
		"ebs.csi.aws.com", "disk.csi.azure.com", "file.csi.azure.com", "cinder.csi.openstack.org", "pd.csi.storage.gke.io", "pxd.portworx.com", "csi.vsphere.vmware.com"},
	labelKey: slices.Concat(zoneKeys, regionKeys, []string{unselected, v1.LabelHostname, v1.LabelMetadataName, v1.LabelOSStable, v1.LabelArchStable, v1.LabelInstanceTypeStable,
		v1.LabelInstanceType, "beta.kubernetes.io/os", "beta.kubernetes.io/arch", v1.LabelWindowsBuild, "node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master",
		"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/part-of", "app.kubernetes.io/version", "app.kubernetes.io/managed-by",
		"pod-template-hash", "controller-revision-hash", "statefulset.kubernetes.io/pod-name", "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid"}),
	taintKey: {v1.TaintNodeNotReady, v1.TaintNodeUnreachable, v1.TaintNodeUnschedulable, v1.TaintNodeMemoryPressure, v1.TaintNodeDiskPressure,
		v1.TaintNodeNetworkUnavailable, v1.TaintNodePIDPressure, v1.TaintNodeOutOfService, "node.cloudprovider.kubernetes.io/uninitialized", "node.cloudprovider.kubernetes.io/shutdown",
		"node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"},
	resource: {string(v1.ResourceCPU), string(v1.ResourceMemory), string(v1.ResourceEphemeralStorage), string(v1.ResourcePods), string(v1.ResourceStorage),
		"attachable-volumes-aws-ebs", "attachable-volumes-azure-disk", "attachable-volumes-gce-pd", "attachable-volumes-cinder"},
	nodeField: {"metadata.name"},
	consumer:  {"pods", "podgroups"},
	ownerKind: {"Pod", "Node", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob", "Deployment", "PodGroup", "CompositePodGroup",
		"Workload", "PersistentVolumeClaim", "ResourceClaim"},
	ValueOf + "label key " + v1.LabelOSStable:     operatingSystems,
	ValueOf + "label key beta.kubernetes.io/os":   operatingSystems,
	ValueOf + "label key " + v1.LabelArchStable:   architectures,
	ValueOf + "label key beta.kubernetes.io/arch": architectures,
	image: {noImage},
}

// noImage is what reading gives to a container without an image.
const noImage = "registry.invalid/none"

// resourceDomain is that of the attributes that Kubernetes defines for devices of all drivers.
const resourceDomain = "resource.kubernetes.io"

var (
	operatingSystems = []string{"linux", "windows"}
	architectures    = []string{"amd64", "arm64", "arm", "ppc64le", "s390x", "riscv64", "386"}

	// The labels with the zone or region of a node or a volume, of which volumes may have the
	// older ones, and drivers that took over from plugins have their own.
	zoneKeys = []string{v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone, "topology.gke.io/zone", "topology.ebs.csi.aws.com/zone",
		"topology.disk.csi.azure.com/zone", "topology.cinder.csi.openstack.org/zone"}
	regionKeys = []string{v1.LabelTopologyRegion, v1.LabelFailureDomainBetaRegion, "topology.gke.io/region"}
)

var known = func() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for kind, names := range wellKnown {
		all[kind] = map[string]bool{}
		for _, name := range names {
			all[kind][name] = true
		}
	}
	return all
}()

// Stays tells whether a name is one that everybody knows.
func Stays(kind, name string) bool {
	return known[kind][name] || kind == resource && strings.HasPrefix(name, v1.ResourceHugePagesPrefix) && isSize(strings.TrimPrefix(name, v1.ResourceHugePagesPrefix))
}

// isSize tells whether it is a size of pages, such as 2Mi.
func isSize(s string) bool {
	digits := strings.TrimRight(s, "KMGi")
	return digits != "" && len(s) < 10 && strings.Trim(digits, "0123456789") == ""
}

// valueKind is the kind of a label's values: of some labels they are names of something.
func valueKind(ofKey, key string) string {
	switch {
	case ofKey == labelKey && key == v1.LabelHostname:
		return "Node"
	case ofKey == labelKey && key == v1.LabelMetadataName:
		return prune.Namespace
	case ofKey == labelKey && slices.Contains(zoneKeys, key):
		return zone
	case ofKey == labelKey && slices.Contains(regionKeys, key):
		return region
	}
	return ValueOf + ofKey + " " + key
}

// keyOf and trimKey take apart what valueKind puts behind ValueOf.
func keyOf(of string) string {
	if strings.HasPrefix(of, taintKey) {
		return taintKey
	}
	return labelKey
}

func trimKey(of string) string { return strings.TrimPrefix(strings.TrimPrefix(of, keyOf(of)), " ") }

// resourceOf is the pseudonym of a resource: of one that is named after a device class, or after
// a driver, it follows from that.
func (r *redaction) resourceOf(name string) string {
	for prefix, kind := range map[string]string{resourcev1.ResourceDeviceClassPrefix: "DeviceClass", "attachable-volumes-csi-": prune.Driver} {
		if of, is := strings.CutPrefix(name, prefix); is {
			return prefix + r.of(kind, of)
		}
	}
	return r.of(resource, name)
}
