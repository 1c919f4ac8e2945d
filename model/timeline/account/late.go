package account

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// lateUnits are the units for a scheduler with LateStay. It finds on a node what goes together by what the pods there say of their
// groups, and which pods these have by its account of groups, in which those that were deleted late are not
// (framework/preemption/types.go:294@v1.37.1, searchCrossNodesVictimPods): what is preempted for one is the rest of its group,
// wherever that is. If there is no rest it is preempted by itself, but for those that are passed over.
func (c *Cycle) lateUnits(passed map[types.UID]bool) func(*filter.Snapshot, *unit.Groups) *unit.Units {
	return func(s *filter.Snapshot, groups *unit.Groups) *unit.Units {
		late := func(p *filter.Pod) *unit.Group {
			if as := c.late[p.UID]; as != nil {
				return groups.Whole(as)
			}
			return nil
		}
		others := *s
		others.Nodes = make([]*filter.Node, len(s.Nodes))
		for i, n := range s.Nodes {
			other := *n
			other.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p *filter.Pod) bool { return late(p) != nil })
			others.Nodes[i] = &other
		}
		rest, ofGroup, of := unit.Of(&others, groups), map[string]*unit.Unit{}, map[*filter.Pod]*unit.Unit{}
		for _, n := range others.Nodes {
			for _, u := range rest.On(n) {
				ofGroup[u.Kind.String()+u.Key] = u
				for _, p := range u.Pods {
					of[p] = u
				}
			}
		}
		on := make([][]*unit.Unit, len(s.Nodes))
		for i, n := range s.Nodes {
			on[i] = []*unit.Unit{}
			for _, p := range n.Pods {
				u := of[p]
				if g := late(p); g != nil {
					u = ofGroup[g.Kind.String()+g.Key]
					if u == nil && !passed[p.UID] {
						u = &unit.Unit{Key: p.Key, Kind: unit.Pod, Pods: []*filter.Pod{p}, Priority: p.Priority, Start: p.Start}
					}
				}
				if u != nil && !slices.Contains(on[i], u) {
					on[i] = append(on[i], u)
				}
			}
		}
		return unit.Listed(on)
	}
}

// passedOver are pods that a scheduler with LateStay does not come to: of several that were deleted in the cycle of one group, which
// goes whole and has no others on nodes, it comes to the first only (framework/preemption/types.go:254@v1.37.1,
// getCrossNodesVictims). It looks at each node by itself for a pod, and at all for a group. Which is the first is left open.
func (c *Cycle) passedOver() []map[types.UID]bool {
	type at struct {
		group *unit.Group
		node  string
	}
	groups := unit.Read(c.extra, c.settings.FeatureGates)
	var places []at
	alike := map[at][]types.UID{}
	for _, p := range slices.Concat(c.pods, c.unsure) {
		as := c.late[p.pod.UID]
		if as == nil {
			continue
		}
		if whole := groups.Whole(as); whole != nil {
			where := at{group: whole}
			if c.group == "" {
				where.node = p.pod.Spec.NodeName
			}
			if alike[where] == nil {
				places = append(places, where)
			}
			alike[where] = append(alike[where], p.pod.UID)
		}
	}
	all := []map[types.UID]bool{{}}
	for _, where := range places {
		var next []map[types.UID]bool
		for _, passed := range all {
			for _, first := range alike[where] {
				more := maps.Clone(passed)
				for _, uid := range alike[where] {
					more[uid] = uid != first
				}
				next = append(next, more)
			}
		}
		all = next
	}
	return all
}

// ranked is a pod as it ranks for a scheduler with LateStay: one that was deleted in the cycle of its group is in no group any more,
// and names it still (preemption/util.go:146@v1.37.1, GetPodPriority). When it is that group's cycle, it is none of its pods.
func (c *Cycle) ranked(p *v1.Pod) *v1.Pod {
	as := c.late[p.UID]
	if as == nil {
		return p
	}
	out := *p
	cluster := &model.Cluster{Extra: c.extra, Settings: c.settings}
	if c.group != "" && slices.Contains(cluster.GroupsOf(as), c.group) {
		out.Spec.Priority = new(unit.Read(c.extra, c.settings.FeatureGates).Priority(as, model.Priority(as)))
		return &out
	}
	out.Spec.SchedulingGroup = as.Spec.SchedulingGroup
	return &out
}
