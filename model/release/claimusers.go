package release

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/variant"
	"github.com/preemptcheck/preemptcheck/model/volume"
)

// usersCounted is a State of VolumeRestrictions that counts the users of
// ReadWriteOncePod claims once and keeps the number up to date, as upstream does
// (volume_restrictions.go:72@v1.37.1, updateWithPod). Its switches are the errors in
// that.
type usersCounted struct {
	filter.State
	restrictions *volume.RestrictionsState
	namespace    string         // the preemptor's
	users        map[string]int // of each exclusive claim, once for each volume
	gone         []*filter.Pod  // pods of other nodes that were taken off
	wantsDisk    bool           // the preemptor has a disk of a kind that may be shared

	anyNamespace, countedOnce, skipsNominated bool
}

// countUsers makes a plugin that counts users, wrong in one more way, where that makes a difference.
func countUsers(matters func(*filter.Snapshot, *usersCounted) bool, wrong func(*usersCounted)) variant.OfPlugin {
	return variant.Around(func(s *filter.Snapshot, st filter.State, restrictions *volume.RestrictionsState) filter.State {
		if len(restrictions.Exclusive) == 0 {
			return st
		}
		counted, counts := filter.As[*usersCounted](st)
		if !counts {
			before, gone := s.Before()
			if len(gone) > 0 {
				whole, _ := (volume.VolumeRestrictions{}).PreFilter(before)
				restrictions = whole.(*volume.RestrictionsState)
			}
			counted = &usersCounted{State: st, restrictions: restrictions, namespace: s.Preemptor.Namespace, users: map[string]int{}, gone: gone}
			counted.wantsDisk = slices.ContainsFunc(s.Preemptor.Spec.Volumes, func(v v1.Volume) bool {
				return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil
			})
			for _, n := range before.Nodes {
				for _, p := range n.Pods {
					for _, key := range restrictions.Uses[p.Index] {
						counted.users[key]++
					}
				}
			}
		}
		if !matters(s, counted) {
			return st
		}
		wrong(counted)
		if counts {
			return st
		}
		return counted
	})
}

// othersOfThatName tells whether a pod of another namespace has a claim of the name of an exclusive one.
func othersOfThatName(s *filter.Snapshot, c *usersCounted) (any bool) {
	look := func(_ *filter.Node, p *filter.Pod) { any = any || len(c.elsewhere(p)) > 0 }
	s.Placed(look)
	for _, p := range slices.Concat(s.Homeless, c.gone) {
		look(nil, p)
	}
	for _, n := range s.Nodes {
		for _, m := range n.Moves {
			look(nil, m.Pod)
		}
	}
	return any
}

// usedTwice tells whether an exclusive claim has two users, of which a pod that mounts it twice counts as two.
func usedTwice(_ *filter.Snapshot, c *usersCounted) bool {
	for _, users := range c.users {
		if users > 1 {
			return true
		}
	}
	return false
}

// usedByNominated tells whether a pod that is nominated, or that has moved, counts as a user of an exclusive claim.
func usedByNominated(s *filter.Snapshot, c *usersCounted) bool {
	uses := func(p *filter.Pod) bool {
		return p.Index < len(c.restrictions.Uses) && len(c.restrictions.Uses[p.Index]) > 0 || c.anyNamespace && len(c.elsewhere(p)) > 0
	}
	return slices.ContainsFunc(s.Nodes, func(n *filter.Node) bool {
		return slices.ContainsFunc(n.Nominated, uses) || slices.ContainsFunc(n.Moves, func(m filter.Move) bool { return uses(m.Pod) })
	})
}

// elsewhere are the names of claims of a pod in another namespace that exclusive
// ones have, too: once for each volume.
func (c *usersCounted) elsewhere(p *filter.Pod) []string {
	var names []string
	for i := range p.Spec.Volumes {
		if named := p.Spec.Volumes[i].PersistentVolumeClaim; named != nil && p.Namespace != c.namespace &&
			slices.Contains(c.restrictions.Exclusive, c.namespace+"/"+named.ClaimName) {
			names = append(names, named.ClaimName)
		}
	}
	return names
}

func (c *usersCounted) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	if slices.ContainsFunc(v.Pods, func(p *filter.Pod) bool { return c.restrictions.Disk[p.Index] }) {
		return volume.DiskInUse()
	}
	count := 0
	for _, users := range c.users {
		if c.countedOnce {
			users = min(users, 1)
		}
		count += users
	}
	if count == 0 && c.skipsNominated && !c.wantsDisk {
		return nil
	}
	uses := func(p *filter.Pod) int {
		if c.anyNamespace {
			return len(c.restrictions.Uses[p.Index]) + len(c.elsewhere(p))
		}
		return len(c.restrictions.Uses[p.Index])
	}
	count += differ(n, v, uses)
	for _, p := range c.gone {
		count -= uses(p)
	}
	if count > 0 {
		return volume.ClaimInUse()
	}
	return nil
}

func (c *usersCounted) Alike(a, b *filter.Pod) bool {
	return c.State.Alike(a, b) && slices.Equal(c.elsewhere(a), c.elsewhere(b))
}

// Inner implements filter.Wrapper.
func (c *usersCounted) Inner() filter.State { return c.State }
