package mutant

import (
	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/answers"
	"github.com/preemptcheck/preemptcheck/model/variant"
)

// ofPlugins drop each filter plugin, take what it cannot resolve for resolvable and
// the other way round, and break its rules.
func ofPlugins(breaks func(name string, change func(r *answers.Rules))) {
	for _, p := range model.DefaultPlugins() {
		if p.Name() == "NodeName" {
			continue // a pod that waits names no node
		}
		breaks("filter dropped: "+p.Name(), func(r *answers.Rules) { r.Plugins = variant.Without(r.Plugins, p.Name()) })
		breaks("filter with the other resolvability: "+p.Name(), func(r *answers.Rules) {
			r.Plugins = variant.On(r.Plugins, p.Name(), otherResolvability)
		})
	}
	for _, m := range []struct {
		name, plugin string
		change       variant.OfPlugin
	}{
		{"affinity: nobody is the first", "InterPodAffinity", nobodyIsFirst},
		{"affinity: the first comes again", "InterPodAffinity", firstComesAgain},
		{"affinity: a stranger is the first", "InterPodAffinity", strangerIsFirst},

		{"spread: the preemptor does not count itself", "PodTopologySpread", uncountedSelf},
		{"spread: pods of all namespaces count", "PodTopologySpread", allNamespaces},
		{"spread: terminating pods count", "PodTopologySpread", terminatingCount},
		{"spread: a node without one of the keys counts for the others", "PodTopologySpread", eachKeyAlone},
		{"spread: domains are not compared to the emptiest", "PodTopologySpread", noMinimum},

		{"declared features: init containers ignored", "NodeDeclaredFeatures", initFeaturesIgnored},

		{"claims: users on other nodes ignored", "VolumeRestrictions", usersElsewhereIgnored},
		{"disks: read-only GCE disks are not shared", "VolumeRestrictions", readOnlyDisksUnshared},
		{"disks: AWS volumes ignored", "VolumeRestrictions", awsVolumesIgnored},
		{"disks: iSCSI ignored", "VolumeRestrictions", iscsiIgnored},
		{"disks: RBD ignored", "VolumeRestrictions", rbdIgnored},
		{"limits: a shared volume counts for each pod", "NodeVolumeLimits", sharedVolumesCountEach},
		{"limits: attached volumes do not count", "NodeVolumeLimits", attachedVolumesUncounted},
		{"limits: volumes to be provisioned do not count", "NodeVolumeLimits", pendingVolumesUncounted},
		{"limits: a missing driver does not matter", "NodeVolumeLimits", missingDriversIgnored},
		{"binding: lost claims are good", "VolumeBinding", lostClaimsAreGood},
		{"binding: claims being deleted are good", "VolumeBinding", deletedClaimsAreGood},
		{"binding: ephemeral claims of others are good", "VolumeBinding", foreignClaimsAreGood},
		{"binding: immediate claims need not be bound", "VolumeBinding", immediateClaimsNeedNotBeBound},
		{"binding: node affinity of volumes ignored", "VolumeBinding", volumeAffinityIgnored},
		{"binding: the selected node ignored", "VolumeBinding", selectedNodeIgnored},
		{"binding: selectors of claims ignored", "VolumeBinding", claimSelectorIgnored},
		{"binding: access modes ignored", "VolumeBinding", accessModesIgnored},
		{"binding: volumes in use are taken", "VolumeBinding", volumesInUseTaken},
		{"binding: volume mode ignored", "VolumeBinding", volumeModeIgnored},
		{"binding: capacity of volumes ignored", "VolumeBinding", volumeCapacityIgnored},
		{"binding: one volume for two claims", "VolumeBinding", oneVolumeForTwoClaims},
		{"binding: allowed topologies ignored", "VolumeBinding", allowedTopologiesIgnored},
		{"binding: storage capacity ignored", "VolumeBinding", storageCapacityIgnored},
		{"zones: old labels are not renamed", "VolumeZone", zoneLabelsNotRenamed},

		{"claims: one that is being deleted will do", "DynamicResources", deletedResourceClaimsAreGood},
		{"claims: another pod's will do", "DynamicResources", foreignResourceClaimsAreGood},
		{"claims: none is shared", "DynamicResources", resourceClaimsUnshared},
		{"claims: device classes need not exist", "DynamicResources", missingClassesIgnored},
		{"claims: an allocation is good for all nodes", "DynamicResources", allocationsAreForAllNodes},
		{"claims: devices of other claims are free", "DynamicResources", allocatedDevicesAreFree},
		{"claims: none is deallocated", "DynamicResources", nothingDeallocated},
	} {
		breaks(m.name, func(r *answers.Rules) { r.Plugins = variant.On(r.Plugins, m.plugin, m.change) })
	}
}
