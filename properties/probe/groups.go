package probe

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/filter"
	"github.com/preemptcheck/preemptcheck/model/unit"
)

// What the scheduler decides by pod groups: which pods are preempted together, and by
// which priority.
var groupProbes = []Probe{
	{"group goes as a whole", "pods of several nodes are preempted together", few,
		anyUnit(func(r *run, u *unitTried) bool { return u.goes && len(u.Elsewhere(r.at())) > 0 })},
	{"group stays as a whole", "several pods are reprieved together, and others go", few,
		anyUnit(func(_ *run, u *unitTried) bool { return !u.goes && len(u.Pods) > 1 })},
	{"group violates by one pod", "of pods that are preempted together some violate a budget, and some do not", few,
		anyUnit(func(_ *run, u *unitTried) bool { return u.violations > 0 && u.violations < len(u.Pods) })},
	{"group violates elsewhere", "of pods that are preempted together, one on another node may violate a budget", few,
		anyUnit(func(r *run, u *unitTried) bool {
			return u.violations > 0 && slices.ContainsFunc(u.Elsewhere(r.at()), func(p *filter.Pod) bool { return len(r.Decision.Cycle.ProtectedBy(p)) > 0 })
		})},
	{"group rather than pod", "a group stays, and a pod of its priority goes", few,
		inOrderOfRank(func(stays, goes *unitTried) bool { return stays.Kind > unit.Pod && goes.Kind == unit.Pod })},
	{"composite group rather than another", "a composite group stays, and a group, or a pod, of its priority goes", once,
		inOrderOfRank(func(stays, goes *unitTried) bool { return stays.Kind == unit.Composite && goes.Kind < unit.Composite })},
	{"larger group rather than smaller", "a group stays, and one of its priority with fewer pods goes", once,
		inOrderOfRank(func(stays, goes *unitTried) bool {
			return stays.Kind == goes.Kind && len(stays.Pods) > len(goes.Pods)
		})},
	{"older group rather than younger", "a group stays, and one of its priority and size that started later goes", once,
		inOrderOfRank(func(stays, goes *unitTried) bool {
			return stays.Kind > unit.Pod && stays.Kind == goes.Kind && len(stays.Pods) == len(goes.Pods) && stays.Start.Before(goes.Start)
		})},
	{"composite group goes", "the pods of a composite group are preempted together", rare,
		anyUnit(func(_ *run, u *unitTried) bool { return u.goes && u.Kind == unit.Composite })},
	{"pod of a group goes by itself", "a pod of a group that is disrupted pod by pod is preempted", few,
		anyUnit(func(r *run, u *unitTried) bool {
			return u.goes && u.Kind == unit.Pod && r.groups().Of(u.Pods[0].Pod) != nil
		})},
	{"pod of a missing group", "a pod whose group does not exist may be preempted", few,
		anyUnit(func(r *run, u *unitTried) bool {
			return u.Pods[0].Spec.SchedulingGroup != nil && r.groups().Of(u.Pods[0].Pod) == nil
		})},
	{"group priority protects", "a pod may not be preempted by its group's priority, but by its own", few,
		anyOnPotentialNode(func(c *cycle, u *unit.Unit) bool {
			return u.Priority >= c.priority && slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return model.Priority(p.Pod) < c.priority })
		})},
	{"group priority exposes", "a pod may be preempted by its group's priority, but not by its own", few,
		anyOnPotentialNode(func(c *cycle, u *unit.Unit) bool {
			return u.Priority < c.priority && slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return model.Priority(p.Pod) >= c.priority })
		})},
	{"some of a group terminate", "of pods that are preempted together, some are terminating already", rare,
		anyUnit(func(_ *run, u *unitTried) bool {
			gone := slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return terminating(p.Pod) })
			return u.goes && gone && slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return !terminating(p.Pod) })
		})},
	{"some of a group have not started", "of pods that may be preempted together, some have no start time", few,
		anyUnit(func(_ *run, u *unitTried) bool {
			return len(u.Pods) > 1 && slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return p.Status.StartTime == nil })
		})},
	{"pod of a group on a deleted node", "pods could be preempted together, one of which is on a node that does not exist", rare,
		anyOnPotentialNode(func(_ *cycle, u *unit.Unit) bool {
			return slices.ContainsFunc(u.Pods, func(p *filter.Pod) bool { return p.Node == nil })
		})},
	{"pod of a group nominated", "a pod of a group is nominated to a node that is filtered", few,
		func(c *cycle) bool {
			return len(c.Observation.Filters) > 0 && slices.ContainsFunc(c.Cluster.Pods, func(p *v1.Pod) bool {
				return p.Spec.NodeName == "" && c.Cluster.KnowsNomination(p) && c.node(p.Status.NominatedNodeName) != nil && c.groups().Of(p) != nil
			})
		}},
	{"pods gone elsewhere matter", "pods of other nodes go with those of a node that fails by what is on other nodes", once,
		anyUnit(func(r *run, u *unitTried) bool {
			looksElsewhere := []string{"InterPodAffinity", "PodTopologySpread", "VolumeRestrictions", "VolumeBinding", "DynamicResources"}
			return u.goes && len(u.Elsewhere(r.at())) > 0 && slices.Contains(looksElsewhere, r.Observation.Filters[r.node].Plugin)
		})},
}

// OfGroups tells whether the probe takes pod groups.
func (p Probe) OfGroups() bool {
	return slices.ContainsFunc(groupProbes, func(other Probe) bool { return other.Name == p.Name })
}

// unitTried is what may be preempted on a node, and what became of it.
type unitTried struct {
	*unit.Unit
	goes       bool
	violations int // how many of its pods may violate a budget
}

func (c *cycle) groups() *unit.Groups { return c.Cluster.Groups() }

// grouped tells whether the scheduler knows groups: most do not, and need not be asked more.
func (c *cycle) grouped() bool { return c.Cluster.Settings.FeatureGates[model.GateWorkload] }

// at is the node of the dry run.
func (r *run) at() *filter.Node { return r.Decision.Cycle.Node(r.node) }

// units are what may be preempted on the node, most important first; none if nobody goes.
func (r *run) units() (all []unitTried) {
	dry := r.Decision.Run(r.node)
	if len(r.Victims) == 0 || dry == nil {
		return nil
	}
	violations, _ := r.Decision.Cycle.Violations(dry.Possible, nil)
	for i, u := range dry.Possible {
		all = append(all, unitTried{u, slices.Contains(r.Victims, u.Pods[0].Key), violations[i]})
	}
	return all
}

// anyUnit: something is so of what may be preempted on a node where preemption helps.
func anyUnit(holds func(r *run, u *unitTried) bool) occurs {
	some := anyDryRun(func(r *run) bool {
		return slices.ContainsFunc(r.units(), func(u unitTried) bool { return holds(r, &u) })
	})
	return func(c *cycle) bool { return c.grouped() && some(c) }
}

// inOrderOfRank: something is so of what stays on a node, and of what goes though it has the same
// priority, and violates a budget just if the first does.
func inOrderOfRank(holds func(stays, goes *unitTried) bool) occurs {
	some := anyDryRun(func(r *run) bool {
		units := r.units()
		for i := range units {
			for j := i + 1; j < len(units); j++ {
				stays, goes := &units[i], &units[j]
				if !stays.goes && goes.goes && stays.Priority == goes.Priority && (stays.violations > 0) == (goes.violations > 0) && holds(stays, goes) {
					return true
				}
			}
		}
		return false
	})
	return func(c *cycle) bool { return c.grouped() && some(c) }
}

// anyOnPotentialNode: something is so of what is on a node where preemption could help.
func anyOnPotentialNode(holds func(c *cycle, u *unit.Unit) bool) occurs {
	return func(c *cycle) bool {
		return c.grouped() && slices.ContainsFunc(c.Observation.PotentialNodes, func(node string) bool {
			n := c.Decision.Cycle.Node(node)
			return n != nil && slices.ContainsFunc(c.Decision.Cycle.Units.On(n), func(u *unit.Unit) bool { return holds(c, u) })
		})
	}
}
