package volume

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// VolumeZone: the zone and region labels of a bound volume have to match those of
// the node; a label of the volume may name several zones. A node without such
// labels is taken to be in the only zone there is. It looks just at volumes of
// claims that the pod names (volume_zone.go:186@v1.37.1, doc comment of Filter;
// API reference, "Well-Known Labels": topology.kubernetes.io/zone).
type VolumeZone struct{}

// Name implements filter.Plugin.
func (VolumeZone) Name() string { return "VolumeZone" }

// PreFilter implements filter.Plugin. The volume of a claim that the pod names has
// to exist, or the claim is one that waits for a node (volume_zone.go:137@v1.37.1,
// getPVbyPod; docs: storage-classes, "Volume binding mode"). But for a missing
// volume, VolumeBinding rejects such pods before.
func (VolumeZone) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	if !Mounts(s.Preemptor.Pod) {
		return nil, filter.Answer{}
	}
	answer := filter.Answer{}
	var labels []map[string]string // of the volumes
	for _, c := range NewIndex(s.Objects).ClaimsOf(s.Preemptor.Pod) {
		if c.Ephemeral {
			continue
		}
		if c.PV != nil {
			labels = append(labels, c.PV.Labels)
		} else if why := c.withoutVolume(); why != "" && answer.Rejection == nil {
			answer = filter.Rejected(why)
		}
	}
	verdicts, fails := make(filter.Verdicts, len(s.Nodes)), false
	for i, n := range s.Nodes {
		if !sameZone(n.Node, labels) {
			verdicts[i], fails = filter.Unresolvable("node(s) had no available volume zone"), true
		}
	}
	if !fails {
		return nil, answer
	}
	return verdicts, answer
}

// withoutVolume says why a claim ought to have a volume, which it has not; "" if
// it waits for one.
func (c *Claim) withoutVolume() string {
	switch {
	case c.PVC == nil:
		return c.named("not found")
	case c.PVC.Spec.VolumeName != "":
		return "persistentvolume \"" + c.PVC.Spec.VolumeName + "\" not found"
	case !c.Waits():
		return c.named("has no volume")
	}
	return ""
}

// zoneLabels are the labels that say in which zone, or region, a volume is, and
// the labels of a node to compare them with: before they had their names of today
// they had others, which a node need not have any more.
var zoneLabels = []struct{ key, today string }{
	{v1.LabelFailureDomainBetaZone, v1.LabelTopologyZone},
	{v1.LabelFailureDomainBetaRegion, v1.LabelTopologyRegion},
	{v1.LabelTopologyZone, v1.LabelTopologyZone},
	{v1.LabelTopologyRegion, v1.LabelTopologyRegion},
}

// sameZone tells whether volumes with such labels are in the node's zone.
func sameZone(n *v1.Node, volumes []map[string]string) bool {
	labelled := false
	for _, l := range zoneLabels {
		_, has := n.Labels[l.key]
		labelled = labelled || has
	}
	if !labelled {
		return true
	}
	for _, labels := range volumes {
		for _, l := range zoneLabels {
			zones, ok := zonesOf(labels, l.key)
			if !ok {
				continue
			}
			at, has := n.Labels[l.key]
			if !has {
				at, has = n.Labels[l.today]
			}
			if !has || !slices.Contains(zones, at) {
				return false
			}
		}
	}
	return true
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
