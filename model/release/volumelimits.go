package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// ofLimits changes what NodeVolumeLimits has worked out.
func ofLimits(change func(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State) variant.OfPlugin {
	return variant.Rework(func(s *filter.Snapshot, st filter.State, a filter.Answer) (filter.State, filter.Answer) {
		if limits, ok := filter.As[*volume.LimitsState](st); ok {
			st = change(s, st, limits)
		}
		return st, a
	})
}

// attachedVolumeCountedTwice: a volume that the preemptor mounts, and that is
// attached to the node already, counts twice if no pod there mounts it.
func attachedVolumeCountedTwice(p filter.Plugin) filter.Plugin {
	return ofLimits(func(_ *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
		return variant.Judge{State: st, Verdict: func(n *filter.Node, v filter.View) *filter.Verdict {
			if failed := st.Fits(n, v); failed != nil {
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
		}}
	})(p)
}

// victimVolumesStayAttached: the volumes of removed pods count as long as they are
// attached.
func victimVolumesStayAttached(p filter.Plugin) filter.Plugin {
	return ofLimits(func(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
		for i, n := range s.Nodes {
			limits.Attached[i] = limits.Index.AttachedTo(n.Name)
		}
		return st
	})(p)
}

// missingDriverResolvable: a node that lacks a driver is said to fail in a way that
// removing pods may resolve.
func missingDriverResolvable(p filter.Plugin) filter.Plugin {
	return ofLimits(func(_ *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
		for _, missing := range limits.Missing {
			if missing != nil {
				missing.Unresolvable = false
			}
		}
		return st
	})(p)
}

// foreignEphemeralClaim: on a node with a pod whose ephemeral volume has somebody
// else's claim, pods with CSI volumes end in an error.
func foreignEphemeralClaim(p filter.Plugin) filter.Plugin {
	return ofLimits(func(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
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
	})(p)
}

// foreign is the State of foreignEphemeralClaim.
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

// ephemeralVolumesUncounted: ephemeral volumes do not count for the limits of CSI
// drivers.
func ephemeralVolumesUncounted(p filter.Plugin) filter.Plugin {
	without := variant.MisreadPods(func(p *v1.Pod) {
		p.Spec.Volumes = slices.DeleteFunc(slices.Clone(p.Spec.Volumes), func(v v1.Volume) bool { return v.Ephemeral != nil })
	})(p)
	return ofLimits(func(s *filter.Snapshot, st filter.State, limits *volume.LimitsState) filter.State {
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
