package model

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// topologyKeys are the labels that say in which zone, or region, a volume is, and
// the labels of a node to compare them with: before they had their names of today
// they had others, which a node need not have any more.
var topologyKeys = []struct{ key, today string }{
	{v1.LabelFailureDomainBetaZone, v1.LabelTopologyZone},
	{v1.LabelFailureDomainBetaRegion, v1.LabelTopologyRegion},
	{v1.LabelTopologyZone, v1.LabelTopologyZone},
	{v1.LabelTopologyRegion, v1.LabelTopologyRegion},
}

// volumeZonePreFilter: the volume of a claim that the pod names has to exist, or
// the claim is one that waits for a node (volume_zone.go:137@v1.37.1, getPVbyPod;
// docs: storage-classes, "Volume binding mode"). But for a missing volume,
// VolumeBinding rejects such pods before.
func volumeZonePreFilter(q *question) *preFilterAnswer {
	if q.storage == nil {
		return nil
	}
	reject := func(reason string) *preFilterAnswer { return &preFilterAnswer{rejection: unresolvable(reason)} }
	for _, w := range q.storage.wanted {
		switch {
		case w.ephemeral:
		case w.claim == nil:
			return reject("persistentvolumeclaim \"" + w.key + "\" not found")
		case w.claim.Spec.VolumeName == "" && !q.storage.waits(w.claim):
			return reject("persistentvolumeclaim \"" + w.key + "\" has no volume")
		case w.claim.Spec.VolumeName != "" && q.storage.volumes[w.claim.Spec.VolumeName] == nil:
			return reject("persistentvolume \"" + w.claim.Spec.VolumeName + "\" not found")
		}
	}
	return nil
}

// volumeZoneFails: the zone and region labels of a bound volume have to match
// those of the node; a label of the volume may name several zones. A node without
// such labels is taken to be in the only zone there is. It looks just at volumes
// of claims that the pod names (volume_zone.go:186@v1.37.1, doc comment of
// Filter; API reference, "Well-Known Labels": topology.kubernetes.io/zone).
func volumeZoneFails(q *question, n *node, _ view) *Verdict {
	if q.storage == nil {
		return nil
	}
	topologyKeys := topologyKeys
	if !q.rules.zoneLabelsOfToday {
		topologyKeys = topologyKeys[:2]
	}
	labelled := false
	for _, k := range topologyKeys {
		_, has := n.Labels[k.key]
		labelled = labelled || has
	}
	if !labelled {
		return nil
	}
	for _, w := range q.storage.wanted {
		if w.ephemeral || w.claim == nil || q.storage.volumes[w.claim.Spec.VolumeName] == nil {
			continue
		}
		pv := q.storage.volumes[w.claim.Spec.VolumeName]
		for _, k := range topologyKeys {
			zones, ok := zonesOf(pv.Labels, k.key)
			if !ok {
				continue
			}
			at, has := n.Labels[k.key]
			if !has && q.rules.zoneLabelsRenamed {
				at, has = n.Labels[k.today]
			}
			if !has || !slices.Contains(zones, at) {
				return unresolvable("node(s) had no available volume zone")
			}
		}
	}
	return nil
}

// zonesOf are the zones that a label of a volume names; not ok if it has no such
// label, or one that cannot be parsed, which is ignored.
func zonesOf(labels map[string]string, key string) (zones []string, ok bool) {
	value, ok := labels[key]
	if !ok {
		return nil, false
	}
	for _, zone := range strings.Split(value, "__") {
		if zone = strings.TrimSpace(zone); zone == "" {
			return nil, false
		}
		zones = append(zones, zone)
	}
	return zones, true
}
