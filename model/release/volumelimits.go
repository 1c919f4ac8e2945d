package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

func attachedVolumeCountedTwice(limits *volume.LimitsState, n *filter.Node, v filter.View, failed *filter.Verdict) *filter.Verdict {
	if failed != nil {
		return failed
	}
	for _, l := range limits.Limits[n.Index] {
		more := 0
		for _, w := range limits.Wanted {
			if w.Driver == l.Driver && !slices.ContainsFunc(v.Pods, func(p *filter.Pod) bool { return slices.Contains(limits.Mounted[p.Index], w) }) {
				more++
			}
		}
		if more > 0 && len(limits.InUse(n, v, l.Driver))+more > l.Count {
			return volume.TooManyVolumes()
		}
	}
	return nil
}

func foreignEphemeralClaim(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
	foreign := make([]bool, s.Size()) // by Pod.Index
	s.Placed(func(_ *filter.Node, p *filter.Pod) {
		foreign[p.Index] = slices.ContainsFunc(limits.Index.ClaimsOf(p.Pod), func(c volume.Claim) bool { return c.PVC != nil && !c.Owned })
	})
	limited := func(n *filter.Node) bool { // volumes are counted there
		csi := limits.Index.CSINodes[n.Name]
		return csi != nil && slices.ContainsFunc(csi.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Allocatable != nil && d.Allocatable.Count != nil })
	}
	fits := func(n *filter.Node, v filter.View) *filter.Verdict {
		if limits.Unusable == nil && len(limits.Wanted) > 0 && limits.Missing[n.Index] == nil && limited(n) &&
			slices.ContainsFunc(v.Pods, func(p *filter.Pod) bool { return foreign[p.Index] }) {
			return &filter.Verdict{Error: "a pod is not the owner of its ephemeral volume's claim"}
		}
		return st.Fits(n, v)
	}
	return variant.Judge{State: st, Verdict: fits, Same: func(a, b *filter.Pod) bool { return foreign[a.Index] == foreign[b.Index] && st.Alike(a, b) }}
}

func ephemeralVolumesUncounted(p filter.Plugin) filter.Plugin {
	without := variant.MisreadPods(func(p *v1.Pod) {
		p.Spec.Volumes = slices.DeleteFunc(slices.Clone(p.Spec.Volumes), func(v v1.Volume) bool { return v.Ephemeral != nil })
	})(p)
	return variant.Around(func(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
		if limits.Unusable != nil {
			return st // which ephemeral volumes may bring about, too
		}
		bare, _ := without.PreFilter(s)
		counted, ok := filter.As[*volume.LimitsState](bare)
		if !ok {
			return nil
		}
		*limits = *counted
		return st
	})(p)
}
