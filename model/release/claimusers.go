package release

import (
	"slices"
	"strings"

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
	// elsewhere is as Uses, for pods of other namespaces: their claims have the names
	// of exclusive ones.
	elsewhere [][]string
	users     map[string]int // of each exclusive claim, once for each volume
	wantsDisk bool           // the preemptor has a disk of a kind that may be shared

	anyNamespace, countedOnce, skipsNominated bool
}

// countUsers makes a plugin that counts users, wrong in one more way.
func countUsers(wrong func(*usersCounted)) variant.OfPlugin {
	return variant.Around(func(s *filter.Snapshot, st filter.State, restrictions *volume.RestrictionsState) filter.State {
		if len(restrictions.Exclusive) == 0 {
			return st
		}
		counted, counts := filter.As[*usersCounted](st)
		if !counts {
			counted = newUsersCounted(s, st, restrictions)
			st = counted
		}
		wrong(counted)
		return st
	})
}

func newUsersCounted(s *filter.Snapshot, st filter.State, restrictions *volume.RestrictionsState) *usersCounted {
	c := &usersCounted{State: st, restrictions: restrictions, elsewhere: make([][]string, s.Size()), users: map[string]int{}}
	c.wantsDisk = slices.ContainsFunc(s.Preemptor.Spec.Volumes, func(v v1.Volume) bool {
		return v.GCEPersistentDisk != nil || v.AWSElasticBlockStore != nil || v.ISCSI != nil || v.RBD != nil
	})
	s.Placed(func(n *filter.Node, p *filter.Pod) {
		if p.Spec.NodeName != "" {
			for _, key := range restrictions.Uses[p.Index] {
				c.users[key]++
			}
		}
		if p.Namespace == s.Preemptor.Namespace {
			return
		}
		for i := range p.Spec.Volumes {
			if named := p.Spec.Volumes[i].PersistentVolumeClaim; named != nil && slices.ContainsFunc(restrictions.Exclusive, func(key string) bool {
				_, name, _ := strings.Cut(key, "/")
				return name == named.ClaimName
			}) {
				c.elsewhere[p.Index] = append(c.elsewhere[p.Index], named.ClaimName)
			}
		}
	})
	return c
}

// Fits implements filter.State.
func (c *usersCounted) Fits(n *filter.Node, v filter.View) *filter.Verdict {
	for _, p := range v.Pods {
		if c.restrictions.Disk[p.Index] {
			return volume.DiskInUse()
		}
	}
	if c.count(n, v) > 0 {
		return volume.ClaimInUse()
	}
	return nil
}

func (c *usersCounted) count(n *filter.Node, v filter.View) int {
	count := 0
	for _, users := range c.users {
		if c.countedOnce {
			users = min(users, 1)
		}
		count += users
	}
	if count == 0 && c.skipsNominated && !c.wantsDisk {
		return 0
	}
	return count + differ(n, v, c.references)
}

func (c *usersCounted) references(p *filter.Pod) int {
	count := len(c.restrictions.Uses[p.Index])
	if c.anyNamespace {
		count += len(c.elsewhere[p.Index])
	}
	return count
}

// Alike implements filter.State.
func (c *usersCounted) Alike(a, b *filter.Pod) bool {
	return c.State.Alike(a, b) && slices.Equal(c.elsewhere[a.Index], c.elsewhere[b.Index])
}

// Inner implements filter.Wrapper.
func (c *usersCounted) Inner() filter.State { return c.State }
