package release

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// ofVolumes makes a change that concerns preemptors with volumes.
func ofVolumes(change variant.OfPlugin) variant.OfPlugin {
	return variant.Where(func(s *filter.Snapshot) bool { return volume.Mounts(s.Preemptor.Pod) }, change)
}

// ofBinding changes what VolumeBinding has worked out.
func ofBinding(change func(st *volume.BindingState, a filter.Answer) filter.Answer) variant.OfPlugin {
	return variant.Rework(func(_ *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if binding, ok := filter.As[*volume.BindingState](st); ok {
			a = change(binding, a)
		}
		return st, a
	})
}

// missingClaimIsError: the cycle of a pod whose claims are missing, or deleted, ends
// in an error.
func missingClaimIsError(p filter.Plugin) filter.Plugin {
	return ofBinding(func(st *volume.BindingState, a filter.Answer) filter.Answer {
		for i := range st.Claims {
			switch c := &st.Claims[i]; {
			case c.PVC == nil || c.PVC.DeletionTimestamp != nil:
				return filter.Answer{Error: "persistentvolumeclaim \"" + c.Key + "\" not found, or being deleted"}
			case c.Unusable() != "":
				return a
			}
		}
		return a
	})(p)
}

// lostClaimIsBound: a claim that has lost its volume is like any that is bound.
func lostClaimIsBound(p filter.Plugin) filter.Plugin {
	return ofVolumes(variant.MisreadObjects(func(c *v1.PersistentVolumeClaim) {
		if c.Status.Phase == v1.ClaimLost {
			c.Status.Phase = v1.ClaimBound
		}
	}))(p)
}

// immediateIsError: the cycle of a pod whose claims ought to be bound ends in an
// error on a node that has passed all before.
func immediateIsError(p filter.Plugin) filter.Plugin {
	return ofBinding(func(st *volume.BindingState, a filter.Answer) filter.Answer {
		if !slices.ContainsFunc(st.Claims, func(c volume.Claim) bool { return c.Immediate() }) {
			return a
		}
		for i := range st.Verdicts {
			st.Verdicts[i] = &filter.Verdict{Error: "pod has unbound immediate PersistentVolumeClaims"}
		}
		st.Drawn = ""
		if slices.ContainsFunc(st.Claims, func(c volume.Claim) bool { return c.Unusable() != "" }) {
			return a
		}
		return filter.Answer{}
	})(p)
}

// selectedDoesNotWait: a claim for which a node was selected does not wait for the
// pod any more: it ought to be bound. It is seen as one of no class.
func selectedDoesNotWait(p filter.Plugin) filter.Plugin {
	return ofVolumes(variant.MisreadObjects(func(c *v1.PersistentVolumeClaim) {
		if _, selected := c.Annotations[volume.AnnSelectedNode]; selected && c.Spec.VolumeName == "" {
			delete(c.Annotations, v1.BetaStorageClassAnnotation)
			c.Spec.StorageClassName = nil
		}
	}))(p)
}

// lostVolumeIsError: the cycle ends in an error on a node if a volume does not exist.
func lostVolumeIsError(p filter.Plugin) filter.Plugin {
	return ofBinding(func(st *volume.BindingState, a filter.Answer) filter.Answer {
		lost := slices.IndexFunc(st.Claims, func(c volume.Claim) bool { return c.Bound() && c.PV == nil })
		for i, v := range st.Verdicts {
			if v != nil && slices.Contains(v.Reasons, volume.NoVolume) {
				st.Verdicts[i] = &filter.Verdict{Error: "persistentvolume \"" + st.Claims[lost].PVC.Spec.VolumeName + "\" not found"}
			}
		}
		return a
	})(p)
}

// noZone is the label of a node that is in no zone: volumes never name it.
const noZone = "?"

// zoneLabelsRenamed are those that have names of today.
var zoneLabelsRenamed = []string{v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion}

// zoneLabelsNotRenamed: a volume's zone label has to be matched under its own name.
// A node with zone labels is seen to be in no zone by those that it lacks.
func zoneLabelsNotRenamed(p filter.Plugin) filter.Plugin {
	return ofVolumes(variant.MisreadNodes(func(n *v1.Node) {
		labelled := func(key string) bool { _, has := n.Labels[key]; return has }
		if !slices.ContainsFunc(append([]string{v1.LabelTopologyZone, v1.LabelTopologyRegion}, zoneLabelsRenamed...), labelled) {
			return
		}
		for _, key := range zoneLabelsRenamed {
			if !labelled(key) {
				n.Labels[key] = noZone
			}
		}
	}))(p)
}

// zoneLabelsOfOld: volumes have just the zone labels that have been renamed, and so
// have nodes, where they do not stand in for the others.
func zoneLabelsOfOld(p filter.Plugin) filter.Plugin {
	strip := func(labels map[string]string) {
		delete(labels, v1.LabelTopologyZone)
		delete(labels, v1.LabelTopologyRegion)
	}
	volumes := variant.MisreadObjects(func(pv *v1.PersistentVolume) { strip(pv.Labels) })
	nodes := variant.MisreadNodes(func(n *v1.Node) {
		if slices.ContainsFunc(zoneLabelsRenamed, func(key string) bool { at, has := n.Labels[key]; return has && at != noZone }) {
			return
		}
		strip(n.Labels)
		for _, key := range zoneLabelsRenamed {
			delete(n.Labels, key)
		}
	})
	return ofVolumes(func(p filter.Plugin) filter.Plugin { return nodes(volumes(p)) })(p)
}

// attachedUncounted: only the volumes that pods mount count for the limit.
func attachedUncounted(p filter.Plugin) filter.Plugin {
	return ofVolumes(variant.MisreadObjects(func(a *storagev1.VolumeAttachment) { a.Spec.Attacher = "" }))(p)
}

// volumeNodeFields: what a volume's node affinity requires of fields of the node,
// such as its name, is ignored. A term that requires nothing else is seen as one
// that every node matches.
func volumeNodeFields(p filter.Plugin) filter.Plugin {
	return ofVolumes(variant.MisreadObjects(func(pv *v1.PersistentVolume) {
		if pv.Spec.NodeAffinity == nil || pv.Spec.NodeAffinity.Required == nil {
			return
		}
		terms := pv.Spec.NodeAffinity.Required.NodeSelectorTerms
		for i := range terms {
			if t := &terms[i]; len(t.MatchFields) > 0 {
				if t.MatchFields = nil; len(t.MatchExpressions) == 0 {
					t.MatchExpressions = []v1.NodeSelectorRequirement{{Key: "", Operator: v1.NodeSelectorOpDoesNotExist}}
				}
			}
		}
	}))(p)
}

// classAnnotationIgnored: there is no volume for a claim that names its class by an
// annotation. It is seen to ask for attributes that no volume has.
func classAnnotationIgnored(p filter.Plugin) filter.Plugin {
	return ofVolumes(variant.MisreadObjects(func(c *v1.PersistentVolumeClaim) {
		field, none := "", "?"
		if c.Spec.StorageClassName != nil {
			field = *c.Spec.StorageClassName
		}
		if class, named := c.Annotations[v1.BetaStorageClassAnnotation]; named && class != field {
			c.Spec.VolumeAttributesClassName = &none
		}
	}))(p)
}

// hostNamesAreNodeNames: a volume that requires a host name leaves just the nodes of
// that name.
func hostNamesAreNodeNames(p filter.Plugin) filter.Plugin {
	return ofBinding(func(st *volume.BindingState, a filter.Answer) filter.Answer {
		if a.Rejection == nil && a.Error == "" {
			a.Nodes = hostNames(st.Claims)
		}
		return a
	})(p)
}

// hostNames are the names of the hosts on which the volumes of claims are, by their
// node affinity; nil if it requires none, or a volume is missing.
func hostNames(claims []volume.Claim) map[string]bool {
	var all map[string]bool
	for _, c := range claims {
		if !c.Bound() {
			continue
		}
		if c.PV == nil {
			return nil
		}
		if c.PV.Spec.NodeAffinity == nil || c.PV.Spec.NodeAffinity.Required == nil {
			continue
		}
		names := map[string]bool{}
		for _, term := range c.PV.Spec.NodeAffinity.Required.NodeSelectorTerms {
			var inTerm []string
			for _, r := range term.MatchExpressions {
				switch {
				case r.Key != v1.LabelHostname || r.Operator != v1.NodeSelectorOpIn:
				case inTerm == nil:
					inTerm = slices.Clone(r.Values)
				default:
					inTerm = slices.DeleteFunc(inTerm, func(name string) bool { return !slices.Contains(r.Values, name) })
				}
			}
			for _, name := range inTerm {
				names[name] = true
			}
		}
		switch {
		case len(names) == 0:
		case all == nil:
			all = names
		default:
			maps.DeleteFunc(all, func(name string, _ bool) bool { return !names[name] })
		}
	}
	return all
}
