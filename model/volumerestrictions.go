package model

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

const (
	diskReason = "node(s) had no available disk"
	onceReason = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)

// onceRules is how the users of ReadWriteOncePod claims are counted.
type onceRules struct {
	everywhere bool // users on other nodes count
	nominated  bool // so do nominated pods

	// Quirks: see Quirk.
	anyNamespace bool
	countedOnce  bool
	skips        bool
}

// volumeRestrictionsPreFilter: the access modes of a claim that does not exist
// are not known (volume_restrictions.go:175@v1.37.1, PreFilter).
func volumeRestrictionsPreFilter(q *question) *preFilterAnswer {
	if q.storage == nil {
		return nil
	}
	for _, w := range q.storage.wanted {
		if !w.ephemeral && w.claim == nil {
			return &preFilterAnswer{rejection: unresolvable("persistentvolumeclaim \"" + w.key + "\" not found")}
		}
	}
	return nil
}

// volumeRestrictionsFails: a disk is mounted by one pod of a node, or read-only
// by all, as its kind requires; and a ReadWriteOncePod claim is used by one pod of
// the whole cluster (KEP-2485), which preemption of that pod can help.
func volumeRestrictionsFails(q *question, n *node, v view) *Verdict {
	if q.storage == nil {
		return nil
	}
	for _, p := range v.pods {
		if p.storage.disk {
			return resolvable(diskReason)
		}
	}
	if len(q.storage.once) > 0 && q.usedElsewhere(n, v) {
		return resolvable(onceReason)
	}
	return nil
}

// usedElsewhere tells whether another pod uses a claim that the preemptor needs
// for itself, if n holds just the pods of v.
func (q *question) usedElsewhere(n *node, v view) bool {
	rules := &q.rules.once
	if rules.anyNamespace || rules.countedOnce || rules.skips {
		return q.usersCounted(n, v) > 0
	}
	uses := func(p *pod) bool { return len(p.storage.once) > 0 }
	if slices.ContainsFunc(v.pods, func(p *pod) bool { return uses(p) && (rules.nominated || p.Spec.NodeName != "") }) {
		return true
	}
	return rules.everywhere && slices.ContainsFunc(q.nodes, func(other *node) bool { return other != n && slices.ContainsFunc(other.pods, uses) })
}

// usersCounted imitates upstream, which counts once and keeps the number up to
// date (volume_restrictions.go:72@v1.37.1, updateWithPod): the quirks are errors
// in that.
func (q *question) usersCounted(n *node, v view) int {
	rules := &q.rules.once
	references := func(p *pod) int {
		count := len(p.storage.once)
		if rules.anyNamespace {
			count += len(p.storage.elsewhere)
		}
		return count
	}
	count := 0
	for _, key := range q.storage.once {
		users := 0
		for _, other := range q.nodes {
			for _, p := range other.pods {
				for _, used := range p.storage.once {
					if used == key {
						users++
					}
				}
			}
		}
		if rules.countedOnce {
			users = min(users, 1)
		}
		count += users
	}
	if count == 0 && rules.skips && !q.wantsDisk() {
		return 0
	}
	for _, p := range n.pods {
		if !slices.Contains(v.pods, p) {
			count -= references(p)
		}
	}
	for _, p := range v.pods {
		if !slices.Contains(n.pods, p) {
			count += references(p)
		}
	}
	return count
}

func (q *question) wantsDisk() bool {
	return slices.ContainsFunc(q.preemptor.Spec.Volumes, func(v v1.Volume) bool {
		return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil
	})
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
