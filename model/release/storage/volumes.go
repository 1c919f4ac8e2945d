// Package storage holds what releases, and known bugs of the scheduler, do otherwise with volumes.
package storage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// MissingClaimIsError ends the cycle in an error where a claim of the preemptor is missing, or being deleted, unless another one
// before it cannot be used.
func MissingClaimIsError(_ *filter.Snapshot, st *volume.BindingState, a *filter.Answer) {
	for i := range st.Claims {
		switch c := &st.Claims[i]; {
		case c.PVC == nil || c.PVC.DeletionTimestamp != nil:
			_, name, _ := strings.Cut(c.Key, "/") // not found, or being deleted
			*a = filter.Answer{Error: fmt.Sprintf("persistentvolumeclaim %q ", name)}
			return
		case c.Unusable() != "":
			return
		}
	}
}

// ImmediateIsError ends the cycle in an error on each node that has passed all before, where a claim was to be bound at once and is not.
func ImmediateIsError(_ *filter.Snapshot, st *volume.BindingState, a *filter.Answer) {
	if !slices.ContainsFunc(st.Claims, func(c volume.Claim) bool { return c.Immediate() }) {
		return
	}
	for i := range st.Verdicts {
		st.Verdicts[i] = &filter.Verdict{Error: "pod has unbound immediate PersistentVolumeClaims"}
	}
	st.Drawn = ""
	if !slices.ContainsFunc(st.Claims, func(c volume.Claim) bool { return c.Unusable() != "" }) {
		*a = filter.Answer{}
	}
}

// SelectedOughtToBeBound: a claim for which a node was selected is seen as one of no
// class, so that it does not wait.
func SelectedOughtToBeBound(c *v1.PersistentVolumeClaim) {
	if _, selected := c.Annotations[volume.AnnSelectedNode]; selected && c.Spec.VolumeName == "" {
		delete(c.Annotations, v1.BetaStorageClassAnnotation)
		c.Spec.StorageClassName = nil
	}
}

// LostVolumeIsError ends the cycle in an error where the volume of a bound claim is missing.
func LostVolumeIsError(st *volume.BindingState) {
	lost := slices.IndexFunc(st.Claims, func(c volume.Claim) bool { return c.Bound() && c.PV == nil })
	for i, v := range st.Verdicts {
		if v != nil && slices.Index(v.Reasons, volume.NoVolume) == 0 { // of its claims, this one is the first to fail
			st.Verdicts[i] = &filter.Verdict{Error: fmt.Sprintf("could not find v1.PersistentVolume %q", st.Claims[lost].PVC.Spec.VolumeName)}
		}
	}
}

// noZone is the label of a node that is in no zone: volumes never name it.
const noZone = "?"

// zoneLabelsRenamed are those that have names of today.
var zoneLabelsRenamed = []string{v1.LabelFailureDomainBetaZone, v1.LabelFailureDomainBetaRegion}

// isZoned tells whether a node says in which zone or region it is.
func isZoned(n *v1.Node) bool {
	return slices.ContainsFunc(append([]string{v1.LabelTopologyZone, v1.LabelTopologyRegion}, zoneLabelsRenamed...), func(key string) bool { _, has := n.Labels[key]; return has })
}

// ZoneLabelsNotRenamed: a node with zone labels is seen to be in no zone by those
// that it lacks.
func ZoneLabelsNotRenamed(n *v1.Node) {
	if !isZoned(n) {
		return
	}
	for _, key := range zoneLabelsRenamed {
		if _, has := n.Labels[key]; !has {
			n.Labels[key] = noZone
		}
	}
}

// ZoneLabelsOfOld: volumes have just the zone labels that have been renamed, and so
// have nodes, where they do not stand in for the others.
func ZoneLabelsOfOld(p filter.Plugin) filter.Plugin {
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
	return nodes(volumes(p))
}

// LookedUpOnZonedNodes makes a plugin that finds only on nodes with labels of zones or regions that a claim ought to have a volume.
func LookedUpOnZonedNodes() variant.OfPlugin {
	return variant.Rework(func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if a.Rejection == nil {
			return st, a
		}
		verdicts := make(filter.Verdicts, len(s.Nodes))
		for i, n := range s.Nodes {
			if isZoned(n.Node) {
				verdicts[i] = a.Rejection
			}
		}
		return verdicts, filter.Answer{}
	})
}

// WithoutNodeFields: a term that requires nothing but fields of the node is seen as
// one that every node matches.
func WithoutNodeFields(pv *v1.PersistentVolume) {
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
}

// HostNames returns the names of the hosts on which the volumes of claims are, by their
// node affinity; nil if it requires none, or a volume is missing.
func HostNames(claims []volume.Claim) map[string]bool {
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

// ClaimTakesTwoVolumes: of a claim that waits for the pod, each of the pod's volumes needs a volume of its own.
func ClaimTakesTwoVolumes(st *volume.BindingState) {
	var each []volume.Claim
	for _, c := range st.Claims {
		for range c.Volumes {
			each = append(each, c)
		}
	}
	if len(each) > len(st.Claims) {
		st.Claims = each
		st.Verdicts = st.Judge(volume.Holds)
	}
}

// SizesWrapAround: sizes of volumes that are to be made, and the storage that is left for them, are seen as 64 bits
// hold them (volumebinding/binder.go:1024@v1.37.1, capacitySufficient).
func SizesWrapAround(st *volume.BindingState) {
	drawn, matters := st.Drawn, false
	wrapped := st.Judge(func(left, size resource.Quantity) bool {
		enough := left.Value() >= size.Value()
		matters = matters || enough != volume.Holds(left, size)
		return enough
	})
	for i, v := range st.Verdicts {
		if matters && (v == nil || v.Error == "") {
			st.Verdicts[i] = wrapped[i]
		}
	}
	st.Drawn = cmp.Or(drawn, st.Drawn)
}
