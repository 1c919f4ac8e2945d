package volume

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
)

// VolumeRestrictions: a disk is mounted by one pod of a node, or read-only by all,
// as its kind requires; and a ReadWriteOncePod claim is used by one pod of the
// whole cluster (KEP-2485), which preemption of that pod can help.
type VolumeRestrictions struct{}

// Name implements filter.Plugin.
func (VolumeRestrictions) Name() string { return "VolumeRestrictions" }

// PreFilter implements filter.Plugin. The access modes of a claim that does not
// exist are not known (volume_restrictions.go:175@v1.37.1, PreFilter).
func (VolumeRestrictions) PreFilter(s *filter.Snapshot) (filter.State, filter.Answer) {
	if !Mounts(s.Preemptor.Pod) {
		return nil, filter.Answer{}
	}
	st, answer := &RestrictionsState{}, filter.Answer{}
	for _, c := range NewIndex(s.Objects).ClaimsOf(s.Preemptor.Pod) {
		switch {
		case c.Ephemeral:
		case c.PVC == nil && answer.Rejection == nil:
			answer = filter.Rejected(c.named("not found"))
		case c.PVC != nil && slices.Contains(c.PVC.Spec.AccessModes, v1.ReadWriteOncePod) && !slices.Contains(st.Exclusive, c.Key):
			st.Exclusive = append(st.Exclusive, c.Key)
		}
	}
	slices.Sort(st.Exclusive)
	if !st.place(s) {
		return nil, answer
	}
	return st, answer
}

// RestrictionsState is the State of VolumeRestrictions.
type RestrictionsState struct {
	// Exclusive are the ReadWriteOncePod claims that the preemptor names, sorted.
	Exclusive []string
	// Uses are those of Exclusive that a pod names, once for each volume, by
	// Pod.Index.
	Uses [][]string
	// Disk tells, by Pod.Index, which pods have a disk that the preemptor cannot
	// share with them on a node.
	Disk []bool
	// users are how many pods use an exclusive claim of those bound to a node, by
	// Node.Index, and to any node.
	users    []int
	allUsers int
}

// place finds what the pods have of the preemptor's volumes. It returns whether a
// pod could be in its way.
func (st *RestrictionsState) place(s *filter.Snapshot) bool {
	st.Uses, st.Disk, st.users = make([][]string, s.Size()), make([]bool, s.Size()), make([]int, len(s.Nodes))
	disks := false
	s.Placed(func(n *filter.Node, p *filter.Pod) {
		st.Disk[p.Index] = sharesDisk(s.Preemptor.Pod, p.Pod)
		disks = disks || st.Disk[p.Index]
		for i := range p.Spec.Volumes {
			if named := p.Spec.Volumes[i].PersistentVolumeClaim; named != nil {
				if key := p.Namespace + "/" + named.ClaimName; slices.Contains(st.Exclusive, key) {
					st.Uses[p.Index] = append(st.Uses[p.Index], key)
				}
			}
		}
		if p.Spec.NodeName != "" && len(st.Uses[p.Index]) > 0 {
			st.users[n.Index]++
			st.allUsers++
		}
	})
	return disks || len(st.Exclusive) > 0
}

// Fits implements filter.State.
func (st *RestrictionsState) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	inUse := st.allUsers > st.users[n.Index]
	for _, p := range v.Pods {
		if st.Disk[p.Index] {
			return DiskInUse()
		}
		inUse = inUse || len(st.Uses[p.Index]) > 0
	}
	if inUse {
		return ClaimInUse()
	}
	return nil
}

// Alike implements filter.State.
func (st *RestrictionsState) Alike(a, b *filter.Pod) bool {
	return st.Disk[a.Index] == st.Disk[b.Index] && slices.Equal(st.Uses[a.Index], st.Uses[b.Index])
}

// DiskInUse is the Verdict on a node where a pod has a disk that cannot be shared.
func DiskInUse() *filter.Verdict { return filter.Resolvable("node(s) had no available disk") }

// ClaimInUse is the Verdict where another pod uses a ReadWriteOncePod claim.
func ClaimInUse() *filter.Verdict {
	return filter.Resolvable("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod")
}

// sharesDisk tells whether two pods of one node would mount a disk in a way that
// its kind does not allow (volume_restrictions.go:311@v1.37.1, doc comment of
// Filter).
func sharesDisk(a, b *v1.Pod) bool {
	for i := range a.Spec.Volumes {
		for j := range b.Spec.Volumes {
			if diskConflict(&a.Spec.Volumes[i], &b.Spec.Volumes[j]) {
				return true
			}
		}
	}
	return false
}

func diskConflict(a, b *v1.Volume) bool {
	if a, b := a.GCEPersistentDisk, b.GCEPersistentDisk; a != nil && b != nil {
		return a.PDName == b.PDName && !(a.ReadOnly && b.ReadOnly)
	}
	if a, b := a.AWSElasticBlockStore, b.AWSElasticBlockStore; a != nil && b != nil {
		return a.VolumeID == b.VolumeID
	}
	if a, b := a.ISCSI, b.ISCSI; a != nil && b != nil {
		return a.IQN == b.IQN && !(a.ReadOnly && b.ReadOnly)
	}
	if a, b := a.RBD, b.RBD; a != nil && b != nil {
		monitor := func(m string) bool { return slices.Contains(b.CephMonitors, m) }
		return slices.ContainsFunc(a.CephMonitors, monitor) && a.RBDPool == b.RBDPool && a.RBDImage == b.RBDImage && !(a.ReadOnly && b.ReadOnly)
	}
	return false
}
