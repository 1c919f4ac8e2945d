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
	f := foreign{st, limits, make([]bool, s.Size()), make([]bool, len(s.Nodes))}
	s.Placed(func(_ *filter.Node, p *filter.Pod) {
		f.claim[p.Index] = slices.ContainsFunc(limits.Index.ClaimsOf(p.Pod), func(c volume.Claim) bool { return c.PVC != nil && !c.Owned })
	})
	for i, n := range s.Nodes {
		if csi := limits.Index.CSINodes[n.Name]; csi != nil {
			f.limited[i] = slices.ContainsFunc(csi.Spec.Drivers, func(d storagev1.CSINodeDriver) bool { return d.Allocatable != nil && d.Allocatable.Count != nil })
		}
	}
	return f
}

// foreign is a State that ends in an error on nodes with a pod that has a claim of another.
type foreign struct {
	filter.State
	limits  *volume.LimitsState
	claim   []bool // by Pod.Index
	limited []bool // nodes on which volumes are counted, by Node.Index
}

// Fits implements filter.State.
func (f foreign) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	if f.limits.Unusable == nil && len(f.limits.Wanted) > 0 && f.limits.Missing[n.Index] == nil && f.limited[n.Index] &&
		slices.ContainsFunc(v.Pods, func(p *filter.Pod) bool { return f.claim[p.Index] }) {
		return &filter.Verdict{Error: "a pod is not the owner of its ephemeral volume's claim"}
	}
	return f.State.Fits(n, v)
}

// Alike implements filter.State.
func (f foreign) Alike(a, b *filter.Pod) bool {
	return f.claim[a.Index] == f.claim[b.Index] && f.State.Alike(a, b)
}

// Inner implements filter.Wrapper.
func (f foreign) Inner() filter.State { return f.State }

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
