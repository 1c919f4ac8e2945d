package relation

import (
	"cmp"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/preemptcheck/preemptcheck/model"
	"github.com/preemptcheck/preemptcheck/model/volume"
	"github.com/preemptcheck/preemptcheck/properties"
	"github.com/preemptcheck/preemptcheck/properties/invariant"
)

// What the documentation leaves open: which of several equally important pods is
// reprieved first, and which of several equally good candidates is picked.

// hasTies tells whether the outcome on a node depends on the order of equally
// important pods: it has two that cannot stand in for each other.
func hasTies(s *properties.Subject, node string) bool {
	return anyTie(s, node, func(*v1.Pod) bool { return true })
}

// isOpen tells whether that order is out of anybody's hands: it is, for a system
// that takes pods as they come; for one that keeps the cluster's order it is among
// pods without a start time.
func isOpen(s *properties.Subject, node string) bool {
	return anyTie(s, node, func(p *v1.Pod) bool { return p.Status.StartTime == nil || !s.Observation.PinnedBudgetOrder })
}

func anyTie(s *properties.Subject, node string, among func(*v1.Pod) bool) bool {
	pods := s.Preemptable(node)
	for i, a := range pods {
		for _, b := range pods[:i] {
			if s.CompareImportance(a, b) == 0 && among(a) && !alike(s, a, b) {
				return true
			}
		}
	}
	return false
}

// sameVictims compares victims on a node of the original cluster, up to equally
// important pods that can stand in for each other.
func sameVictims(s *properties.Subject, node string, a, b []string) bool {
	return slices.EqualFunc(a, b, func(a, b string) bool {
		if a == b {
			return true
		}
		p, q := s.Pod(a), s.Pod(b)
		return p != nil && q != nil && p.Spec.NodeName == node && q.Spec.NodeName == node && s.CompareImportance(p, q) == 0 && alike(s, p, q)
	})
}

// alike tells whether a scheduler has no reason to treat two pods differently, as
// long as they are equally important and on the same node.
func alike(s *properties.Subject, a, b *v1.Pod) bool {
	for _, budget := range s.Cluster.PodDisruptionBudgets {
		_, x := budget.Status.DisruptedPods[a.Name]
		_, y := budget.Status.DisruptedPods[b.Name]
		if x != y {
			return false
		}
	}
	return a.Namespace == b.Namespace && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		equality.Semantic.DeepEqual(a.Labels, b.Labels) && equality.Semantic.DeepEqual(a.Status.Conditions, b.Status.Conditions) &&
		sameNeeds(a, b) && (!volume.Mounts(s.Cluster.Preemptor) || sameVolumes(a, b))
}

// sameVolumes tells whether two pods plainly mount the same, or nothing that
// matters.
func sameVolumes(a, b *v1.Pod) bool {
	volumes := func(p *v1.Pod) []v1.Volume {
		out := slices.Clone(p.Spec.Volumes)
		for i := range out {
			if out[i].Ephemeral != nil { // a claim of its own
				out[i].Name = p.Name + "-" + out[i].Name
			} else {
				out[i].Name = ""
			}
		}
		return out
	}
	return !volume.Mounts(a) && !volume.Mounts(b) || equality.Semantic.DeepEqual(volumes(a), volumes(b))
}

// sameNeeds tells whether two pods plainly take the same of a node.
func sameNeeds(a, b *v1.Pod) bool { return equality.Semantic.DeepEqual(needs(a), needs(b)) }

// needs is a pod with nothing left but what it takes of a node.
func needs(p *v1.Pod) v1.Pod {
	containers := func(list []v1.Container) []v1.Container {
		var out []v1.Container
		for i := range list {
			out = append(out, v1.Container{Name: list[i].Name, Resources: list[i].Resources, Ports: list[i].Ports, RestartPolicy: list[i].RestartPolicy})
		}
		return out
	}
	statuses := func(list []v1.ContainerStatus) []v1.ContainerStatus {
		var out []v1.ContainerStatus
		for i := range list {
			out = append(out, v1.ContainerStatus{Name: list[i].Name, Resources: list[i].Resources, AllocatedResources: list[i].AllocatedResources})
		}
		return out
	}
	var out v1.Pod
	out.Spec.Containers, out.Spec.InitContainers = containers(p.Spec.Containers), containers(p.Spec.InitContainers)
	if properties.RequiresPods(p) {
		out.Labels, out.Spec.Affinity = p.Labels, p.Spec.Affinity
	}
	out.Spec.Overhead, out.Spec.Resources = p.Spec.Overhead, p.Spec.Resources
	out.Status.ContainerStatuses, out.Status.InitContainerStatuses = statuses(p.Status.ContainerStatuses), statuses(p.Status.InitContainerStatuses)
	out.Status.Resources, out.Status.AllocatedResources = p.Status.Resources, p.Status.AllocatedResources
	for i := range p.Status.Conditions {
		if c := &p.Status.Conditions[i]; c.Type == v1.PodResizePending {
			out.Status.Conditions = append(out.Status.Conditions, v1.PodCondition{Type: c.Type, Reason: c.Reason})
		}
	}
	return out
}

// outcome is what preempting on a node comes to, as far as candidates are
// compared by it.
type outcome struct {
	cost       []int64 // see invariant.Cost
	priorities []int32 // of the victims, highest first
}

// outcomeOf reads victims of the original cluster.
func outcomeOf(s *properties.Subject, violations int, victims []string) *outcome {
	o := &outcome{cost: invariant.Cost(s, victims, violations)}
	for _, p := range s.Pods(victims) {
		o.priorities = append(o.priorities, model.Priority(p))
	}
	slices.SortFunc(o.priorities, func(a, b int32) int { return cmp.Compare(b, a) })
	return o
}

// tiesOnHighest: the first two criteria, violations and the highest priority, see
// no difference.
func (o *outcome) tiesOnHighest(other *outcome) bool {
	return slices.Equal(o.cost[:2], other.cost[:2])
}

// ties: none of the criteria of pickOneNodeForPreemption sees a difference
// (its doc comment, preemption.go:324@v1.37.1).
func (o *outcome) ties(other *outcome) bool { return slices.Equal(o.cost, other.cost) }

// dominates: no more victims than other, and each of no higher priority than its
// counterpart there.
func (o *outcome) dominates(other *outcome) bool {
	if len(o.priorities) > len(other.priorities) {
		return false
	}
	for i := range o.priorities {
		if o.priorities[i] > other.priorities[i] {
			return false
		}
	}
	return true
}
