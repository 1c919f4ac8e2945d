package model

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// limitRules is how volumes are counted for the limits of CSI drivers.
type limitRules struct {
	shared     bool // a volume that several pods mount counts once
	attached   bool // volumes attached to the node count, if no pod mounts them
	unbound    bool // so do those that are to be provisioned
	mustBeHere bool // a driver that asks for it has to be on the node

	// Quirks: see Quirk.
	attachedTwice     bool
	victimsAttached   bool
	brokenIsAnError   bool
	missingResolvable bool
	noEphemeral       bool
}

// csiVolume is a volume of a CSI driver.
type csiVolume struct{ driver, handle string }

// csiVolumesOf are the CSI volumes of a pod with those claims, each once; those
// that were migrated to a CSI driver are. One that is still to be provisioned
// counts for the provisioner of its class (nodevolumelimits/csi.go:560@v1.37.1,
// getCSIDriverInfoFromSC).
func (s *storage) csiVolumesOf(p *v1.Pod, claims []podClaim) []csiVolume {
	var volumes []csiVolume
	add := func(v csiVolume) {
		if v.driver != "" && v.handle != "" && !slices.Contains(volumes, v) {
			volumes = append(volumes, v)
		}
	}
	for _, c := range claims {
		if c.claim == nil || !c.owned {
			continue
		}
		if pv := s.volumes[c.claim.Spec.VolumeName]; pv == nil {
			if class := s.classes[classOf(c.claim)]; class != nil {
				add(csiVolume{cmp.Or(migratedDrivers[class.Provisioner], class.Provisioner), "claim " + c.key})
			}
		} else if pv.Spec.CSI != nil {
			add(csiVolume{pv.Spec.CSI.Driver, pv.Spec.CSI.VolumeHandle})
		} else {
			add(migratedVolume(pv))
		}
	}
	for i := range p.Spec.Volumes {
		add(migratedInline(&p.Spec.Volumes[i]))
	}
	slices.SortFunc(volumes, func(a, b csiVolume) int {
		return cmp.Or(cmp.Compare(a.driver, b.driver), cmp.Compare(a.handle, b.handle))
	})
	return volumes
}

// attachedTo are the CSI volumes that are attached to a node, whoever mounts
// them.
func (s *storage) attachedTo(node string) []csiVolume {
	var volumes []csiVolume
	for _, a := range s.attachments[node] {
		if name := a.Spec.Source.PersistentVolumeName; name != nil && a.Spec.Attacher != "" {
			if pv := s.volumes[*name]; pv != nil && pv.Spec.CSI != nil {
				volumes = append(volumes, csiVolume{a.Spec.Attacher, pv.Spec.CSI.VolumeHandle})
			}
		}
	}
	return volumes
}

// nodeVolumeLimitsFails: a CSI driver says how many volumes it can attach to a
// node, where a volume counts once however many pods use it (CSINode,
// spec.drivers[].allocatable.count, storage/v1/types.go:661@v0.37.1; docs:
// concepts/storage/storage-limits). Volumes count that pods mount, and those
// attached though no pod mounts them: but what only removed pods mounted is
// detached.
func nodeVolumeLimitsFails(q *question, n *node, v view) *Verdict {
	if q.storage == nil {
		return nil
	}
	for _, w := range q.storage.wanted { // VolumeBinding has rejected such pods before
		if w.claim == nil {
			return unresolvable("persistentvolumeclaim \"" + w.key + "\" not found")
		}
		if !w.owned {
			return &Verdict{Error: "persistentvolumeclaim \"" + w.key + "\" was not made for the pod"}
		}
	}
	if len(q.storage.csi) == 0 {
		return nil
	}
	rules, csiNode := &q.rules.limits, q.storage.csiNodes[n.Name]
	wanted := q.storage.csi
	if !rules.unbound {
		wanted = slices.DeleteFunc(slices.Clone(wanted), func(w csiVolume) bool { return len(w.handle) > 6 && w.handle[:6] == "claim " })
	}
	for _, w := range wanted {
		if rules.mustBeHere && q.storage.missingDriver(w.driver, csiNode) {
			return &Verdict{Unresolvable: !rules.missingResolvable, Reasons: []string{w.driver + " CSI driver is not installed on the node"}}
		}
	}
	if csiNode == nil {
		return nil
	}
	if rules.brokenIsAnError && hasLimits(csiNode) && slices.ContainsFunc(v.pods, func(p *pod) bool { return p.storage.broken }) {
		return &Verdict{Error: "a pod is not the owner of its ephemeral volume's claim"}
	}
	mounted, present := map[csiVolume]int{}, map[*pod]bool{}
	for _, p := range v.pods {
		present[p] = true
		for _, volume := range p.storage.csi {
			mounted[volume]++
		}
	}
	goes := func(volume csiVolume) bool {
		return !rules.victimsAttached && slices.ContainsFunc(n.pods, func(p *pod) bool { return !present[p] && slices.Contains(p.storage.csi, volume) })
	}
	for i := range csiNode.Spec.Drivers {
		d := &csiNode.Spec.Drivers[i]
		if d.Allocatable == nil || d.Allocatable.Count == nil {
			continue
		}
		inUse, more := 0, 0
		for volume, users := range mounted {
			switch {
			case volume.driver != d.Name:
			case rules.shared:
				inUse++
			default:
				inUse += users
			}
		}
		attached := map[csiVolume]bool{}
		for _, volume := range n.storage.attached {
			if volume.driver == d.Name && rules.attached && mounted[volume] == 0 && !goes(volume) {
				attached[volume] = true
			}
		}
		for _, w := range wanted {
			if w.driver == d.Name && mounted[w] == 0 && (!attached[w] || rules.attachedTwice) {
				more++
			}
		}
		if more > 0 && inUse+len(attached)+more > int(*d.Allocatable.Count) {
			return resolvable("node(s) exceed max volume count")
		}
	}
	return nil
}

func hasLimits(csiNode *storagev1.CSINode) bool {
	return slices.ContainsFunc(csiNode.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Allocatable != nil && d.Allocatable.Count != nil })
}

// missingDriver: a driver may ask that no pod comes to a node that lacks it
// (CSIDriver, spec.preventPodSchedulingIfMissing). No pod is in its way there.
func (s *storage) missingDriver(driver string, csiNode *storagev1.CSINode) bool {
	d := s.drivers[driver]
	if d == nil || d.Spec.PreventPodSchedulingIfMissing == nil || !*d.Spec.PreventPodSchedulingIfMissing {
		return false
	}
	return csiNode == nil || !slices.ContainsFunc(csiNode.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Name == driver })
}
